// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The base of the walk through a packet's headers (walk.h): numbers, results, access to bytes, and the IP headers.
#ifndef CNPD_WIRE_WALK_IP_H
#define CNPD_WIRE_WALK_IP_H

#include "kernel.h"
#include "wire/roce.h"

#define ETH_HLEN 14
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define ETH_P_8021Q 0x8100
#define ETH_P_8021AD 0x88a8
#define ETH_P_MPLS_UC 0x8847
#define ETH_P_MPLS_MC 0x8848
#define ETH_P_TEB 0x6558 // Ethernet in GRE

#define IPPROTO_HOPOPTS 0
#define IPPROTO_IPIP 4
#define IPPROTO_UDP 17
#define IPPROTO_IPV6 41
#define IPPROTO_ROUTING 43
#define IPPROTO_FRAGMENT 44
#define IPPROTO_GRE 47
#define IPPROTO_ESP 50
#define IPPROTO_AH 51
#define IPPROTO_ICMPV6 58
#define IPPROTO_DSTOPTS 60
#define IPPROTO_ETHERIP 97
#define IPPROTO_L2TP 115
#define IPPROTO_MOBILITY 135
#define IPPROTO_MPLS 137 // also for a label stack behind Ethernet, GRE and UDP
#define IPPROTO_HIP 139
#define IPPROTO_SHIM6 140
#define IPPROTO_ETHERNET 143 // also behind GRE and VXLAN

#define VXLAN_UDP_PORT 4789
#define MPLS_UDP_PORT 6635
#define GENEVE_UDP_PORT 6081
#define VXLAN_GPE_UDP_PORT 4790
#define VXLAN_OLD_UDP_PORT 8472 // Linux, before a port was assigned
#define L2TP_UDP_PORT 1701
#define GTP_UDP_PORT 2152
#define ESP_UDP_PORT 4500

#define VXLAN_HLEN 8
#define VXLAN_HAS_VNI 0x08
#define GRE_CHECKSUM 0x8000
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_UNKNOWN 0x4f07 // routing and reserved bits that a receiver must understand, and versions other than 0
#define MPLS_LABELS 16
#define MPLS_BOTTOM 0x100

#define IPV4_HLEN 20
#define IPV4_LENGTH 2
#define IPV4_FRAGMENT 6 // flags and offset
#define IPV4_TTL 8
#define IPV4_PROTOCOL 9
#define IPV4_CHECKSUM 10
#define IPV4_SOURCE 12
#define IPV4_DESTINATION 16
#define IPV6_HLEN 40
#define IPV6_PAYLOAD_LENGTH 4
#define IPV6_NEXT_HEADER 6
#define IPV6_HOP_LIMIT 7
#define IPV6_SOURCE 8
#define IPV6_DESTINATION 24
#define UDP_HLEN 8
#define UDP_DESTINATION 2
#define UDP_LENGTH 4
#define ROUTING_TYPE_SRH 4
#define WALK_BEHIND_UDP (BTH_SIZE + DETH_SIZE)

// Headers behind Ethernet, the outermost IP header being the first.
#define WALK_DEPTH 12
#define WALK_VLAN_TAGS 2

enum walk_result {
	WALK_TRANSPORT, // `transport` is the offset of the innermost transport header; `protocol` may be any
	WALK_NOT_IP,
	WALK_FRAGMENT, // a fragment other than the first: no transport header
	WALK_TRUNCATED,
	WALK_TOO_DEEP,
	WALK_MALFORMED,
	WALK_OPAQUE, // in a tunnel that the walk does not look into: `tunnel` has its kind
};

// Encapsulations other than IP in IP. The order is that of the counters.
enum tunnel_kind {
	TUNNEL_NONE,
	TUNNEL_MPLS,
	TUNNEL_GRE,
	TUNNEL_VXLAN,
	TUNNEL_ESP,
	TUNNEL_GENEVE,
	TUNNEL_OTHER,
	TUNNEL_KINDS
};
#define SHIM_PRESENT 1
#define SHIM_OUTER_MPLS 2 // a label stack in front of the outermost IP header

// Offsets are from the start of the frame. If the walk failed, `transport` and `protocol` are where it stopped.
struct headers {
	__u16 outer; // outermost IP header
	__u16 inner; // innermost IP header
	__u16 transport;
	__u16 destination; // 4 or 16 bytes: destination of the innermost flow; under an unfinished SRH its last segment
	__u16 outer_length; // of the outermost packet, by its own header
	__u32 end; // of the innermost packet, by its own length and those of the packets around it; may exceed the
		   // frame
	__be16 sport, dport;		 // UDP only
	__u8 outer_family, inner_family; // 4 or 6
	__u8 protocol;
	__u8 fragmented;  // the first fragment of several
	__u8 visited;	  // bits set by WALK_VISIT
	__u8 tunnel;	  // enum tunnel_kind: the innermost shim
	__u8 shims;	  // SHIM_…
	__u16 udp_length; // the length field of the UDP header
	__u32 context;	  // hash of the labels, GRE keys and VXLAN networks on the way: identifies the tenant
};

#define WALK_NO_END 0x7fffffff // `end` before the first IP header

// No port sends a longer packet. A constant bound also lets the verifier recognize equal states.
#define WALK_OFFSET_MASK 0x3fff

// `size` bytes of linear memory, or null.
static __always_inline const __u8 *walk_at(struct __sk_buff *skb, __u32 offset, __u32 size)
{
	const __u8 *end = (void *)(long)skb->data_end;
	const __u8 *at = (const __u8 *)(long)skb->data + (offset & WALK_OFFSET_MASK);
	if (at + size > end)
		at = 0;
	opaque(at); // newer clangs repeat the bounds check in place of the check for null, which the verifier cannot
		    // follow
	return at;
}

static __always_inline __be16 walk_be16(const __u8 *at)
{
	return *(const __be16 *)at;
}

// Offset of the source in an IP header of this family.
static __always_inline __u32 address_source_at(__u32 family)
{
	return family == 6 ? IPV6_SOURCE : IPV4_SOURCE;
}

// The packet at `offset` is `length` bytes long, headers included.
static __always_inline void walk_bound(struct headers *h, __u32 offset, __u32 length)
{
	if (offset + length < h->end)
		h->end = offset + length;
}

// Whether the `size` bytes at `offset`, which the frame has, belong to a later fragment.
static __always_inline int walk_is_cut(const struct headers *h, __u32 offset, __u32 size)
{
	return h->fragmented && offset + size > h->end;
}

static __always_inline void walk_outermost(struct headers *h, __u32 offset, __u32 family, __u32 length)
{
	if (h->outer)
		return;
	h->outer = offset;
	h->outer_family = family;
	h->outer_length = length;
}

static __always_inline enum walk_result walk_ipv4(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	const __u8 *ip = walk_at(skb, *offset, IPV4_HLEN);
	if (!ip || walk_is_cut(h, *offset, IPV4_HLEN))
		return WALK_TRUNCATED;
	__u32 size = (ip[0] & 15) * 4, length = bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
	if ((ip[0] >> 4) != 4 || size < IPV4_HLEN)
		return WALK_MALFORMED;
	walk_outermost(h, *offset, 4, length);
	walk_bound(h, *offset, length);
	h->inner = *offset;
	h->destination = *offset + IPV4_DESTINATION;
	h->inner_family = 4;
	*next = ip[IPV4_PROTOCOL];
	*offset += size;
	__be16 fragment = walk_be16(ip + IPV4_FRAGMENT);
	if (fragment & bpf_htons(0x1fff))
		return WALK_FRAGMENT;
	h->fragmented |= !!(fragment & bpf_htons(0x2000));
	return WALK_TRANSPORT;
}

static __always_inline enum walk_result walk_ipv6(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	const __u8 *ip = walk_at(skb, *offset, IPV6_HLEN);
	if (!ip || walk_is_cut(h, *offset, IPV6_HLEN))
		return WALK_TRUNCATED;
	if ((ip[0] >> 4) != 6)
		return WALK_MALFORMED;
	__u32 length = bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH)) + IPV6_HLEN;
	walk_outermost(h, *offset, 6, length > 0xffff ? 0xffff : length);
	walk_bound(h, *offset, length);
	h->inner = *offset;
	h->destination = *offset + IPV6_DESTINATION;
	h->inner_family = 6;
	*next = ip[IPV6_NEXT_HEADER];
	*offset += IPV6_HLEN;
	return WALK_TRANSPORT;
}

// Walks one header whose second byte is its length: extension headers, AH and the fragment header.
static __always_inline enum walk_result walk_extension(struct __sk_buff *skb, struct headers *h, __u32 *offset,
						       __u8 *next)
{
	const __u8 *extension = walk_at(skb, *offset, 8);
	if (!extension || walk_is_cut(h, *offset, 8))
		return WALK_TRUNCATED;
	__u32 size = (extension[1] + 1) * 8;
	if (*next == IPPROTO_FRAGMENT) {
		__be16 fragment = walk_be16(extension + 2);
		size = 8;
		h->fragmented |= !!(fragment & bpf_htons(1));
		if (fragment & bpf_htons(0xfff8))
			return WALK_FRAGMENT;
	} else if (*next == IPPROTO_AH) {
		size = (extension[1] + 2) * 4;
	} else if (*next == IPPROTO_ROUTING && extension[2] == ROUTING_TYPE_SRH && extension[3] != 0) {
		h->destination = *offset + 8; // Segment List[0]: the final destination
	}
	*next = extension[0];
	*offset += size;
	return WALK_TRANSPORT;
}

static __always_inline int is_extension(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_FRAGMENT ||
	       protocol == IPPROTO_AH || protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_MOBILITY ||
	       protocol == IPPROTO_HIP || protocol == IPPROTO_SHIM6;
}

static __always_inline int is_walked(__u8 protocol)
{
	return protocol == IPPROTO_IPV6 || protocol == IPPROTO_IPIP || is_extension(protocol) ||
	       protocol == IPPROTO_GRE || protocol == IPPROTO_MPLS || protocol == IPPROTO_ETHERNET;
}

#endif
