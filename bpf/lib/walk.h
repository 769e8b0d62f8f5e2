// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Walks from the Ethernet header to the transport header of the innermost packet: VLAN tags, IPv4 with options, IPv6 with its extension headers
// (SRH of RFC 8754 among them), IPv4 and IPv6 inside either (protocols 4 and 41: RFC 2003, 2473, SRv6 encapsulation of RFC 8986).
// It reads with bpf_skb_load_bytes, so paged packets are read as well; programs keep a fast path of their own for the plain packet.
// It does not validate: a length field that lies is for whoever uses it. The walk ends after WALK_DEPTH headers.
#ifndef CNPD_WALK_H
#define CNPD_WALK_H

#include "kernel.h"

#define ETH_HLEN 14
#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define ETH_P_8021Q 0x8100
#define ETH_P_8021AD 0x88a8
#define VLAN_HLEN 4

#define IPPROTO_HOPOPTS 0
#define IPPROTO_IPIP 4
#define IPPROTO_UDP 17
#define IPPROTO_IPV6 41
#define IPPROTO_ROUTING 43
#define IPPROTO_FRAGMENT 44
#define IPPROTO_AH 51
#define IPPROTO_DSTOPTS 60
#define IPPROTO_MOBILITY 135
#define IPPROTO_HIP 139
#define IPPROTO_SHIM6 140

#define IPV4_HLEN 20
#define IPV6_HLEN 40
#define UDP_HLEN 8
#define ROUTING_TYPE_SRH 4

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
};

// Offsets are from the start of the frame.
struct headers {
	__u16 outer;	   // outermost IP header
	__u16 inner;	   // innermost IP header
	__u16 transport;
	__u16 destination; // 4 or 16 bytes: the innermost flow's destination, which under an unfinished SRH is its last segment
	__u16 outer_length; // of the outermost packet, by its own header
	__be16 sport, dport; // UDP only
	__u8 outer_family, inner_family; // 4 or 6
	__u8 protocol;
	__u8 fragmented; // the first fragment of several
};

struct walk_ipv4 {
	__u8 version_ihl, tos;
	__be16 length, id, fragment;
	__u8 ttl, protocol;
	__be16 check;
};

static __always_inline enum walk_result walk_ipv4(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	struct walk_ipv4 ip;
	if (bpf_skb_load_bytes(skb, *offset, &ip, sizeof(ip)) < 0)
		return WALK_TRUNCATED;
	__u32 size = (ip.version_ihl & 15) * 4;
	if ((ip.version_ihl >> 4) != 4 || size < IPV4_HLEN)
		return WALK_MALFORMED;
	if (*offset == h->outer)
		h->outer_length = bpf_ntohs(ip.length);
	h->inner = *offset;
	h->destination = *offset + 16;
	h->inner_family = 4;
	*next = ip.protocol;
	*offset += size;
	if (ip.fragment & bpf_htons(0x1fff))
		return WALK_FRAGMENT;
	h->fragmented |= !!(ip.fragment & bpf_htons(0x2000));
	return WALK_TRANSPORT;
}

static __always_inline enum walk_result walk_ipv6(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	__u8 ip[8];
	if (bpf_skb_load_bytes(skb, *offset, ip, sizeof(ip)) < 0)
		return WALK_TRUNCATED;
	if ((ip[0] >> 4) != 6)
		return WALK_MALFORMED;
	if (*offset == h->outer) {
		__u32 length = ((__u32)ip[4] << 8 | ip[5]) + IPV6_HLEN;
		h->outer_length = length > 0xffff ? 0xffff : length;
	}
	h->inner = *offset;
	h->destination = *offset + 24;
	h->inner_family = 6;
	*next = ip[6];
	*offset += IPV6_HLEN;
	return WALK_TRANSPORT;
}

// One header whose second byte is its length: extension headers, AH and the fragment header.
static __always_inline enum walk_result walk_extension(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	__u8 extension[8];
	if (bpf_skb_load_bytes(skb, *offset, extension, sizeof(extension)) < 0)
		return WALK_TRUNCATED;
	__u32 size = (extension[1] + 1) * 8;
	if (*next == IPPROTO_FRAGMENT) {
		__u16 field = (__u16)extension[2] << 8 | extension[3];
		size = 8;
		h->fragmented |= field & 1;
		if (field & 0xfff8)
			return WALK_FRAGMENT;
	} else if (*next == IPPROTO_AH) {
		size = (extension[1] + 2) * 4;
	} else if (*next == IPPROTO_ROUTING && extension[2] == ROUTING_TYPE_SRH && extension[3] != 0) {
		h->destination = *offset + 8; // Segment List[0]: where the packet ends up
	}
	*next = extension[0];
	*offset += size;
	return WALK_TRANSPORT;
}

static __always_inline int is_extension(__u8 protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING || protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_AH ||
	       protocol == IPPROTO_DSTOPTS || protocol == IPPROTO_MOBILITY || protocol == IPPROTO_HIP || protocol == IPPROTO_SHIM6;
}

// A function of its own, so that the verifier looks at it once a program. `h` is written whatever the result.
static __noinline int walk_headers(struct __sk_buff *skb, struct headers *h)
{
	__u32 offset = 12;
	__be16 type = 0;
	__builtin_memset(h, 0, sizeof(*h));
	for (int tags = 0; tags <= WALK_VLAN_TAGS; tags++) {
		if (bpf_skb_load_bytes(skb, offset, &type, sizeof(type)) < 0)
			return WALK_NOT_IP;
		offset += 2;
		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		offset += 2;
	}
	__u8 next;
	if (type == bpf_htons(ETH_P_IPV6))
		next = IPPROTO_IPV6;
	else if (type == bpf_htons(ETH_P_IP))
		next = IPPROTO_IPIP;
	else
		return WALK_NOT_IP;
	h->outer = offset;
	h->outer_family = next == IPPROTO_IPV6 ? 6 : 4;

	for (int depth = 0; depth < WALK_DEPTH; depth++) {
		enum walk_result result;
		opaque(offset);
		if (next == IPPROTO_IPV6)
			result = walk_ipv6(skb, h, &offset, &next);
		else if (next == IPPROTO_IPIP)
			result = walk_ipv4(skb, h, &offset, &next);
		else if (is_extension(next))
			result = walk_extension(skb, h, &offset, &next);
		else
			break;
		if (result != WALK_TRANSPORT)
			return result;
		// A packet is no longer than this, and a bound that stays the same lets the verifier recognise a state it has seen.
		offset &= 0x3fff;
	}
	if (next == IPPROTO_IPV6 || next == IPPROTO_IPIP || is_extension(next))
		return WALK_TOO_DEEP;
	h->transport = offset;
	h->protocol = next;
	if (next != IPPROTO_UDP)
		return WALK_TRANSPORT;
	__be16 ports[2];
	// All eight bytes must be there, not only the ports.
	__u32 last;
	if (bpf_skb_load_bytes(skb, offset, ports, sizeof(ports)) < 0 || bpf_skb_load_bytes(skb, offset + 4, &last, sizeof(last)) < 0)
		return WALK_TRUNCATED;
	h->sport = ports[0];
	h->dport = ports[1];
	return WALK_TRANSPORT;
}

#endif
