// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Walks from the Ethernet header to the transport header of the innermost packet: VLAN tags, IPv4 with options, IPv6 with its extension headers
// (SRH of RFC 8754 among them), IPv4 and IPv6 inside either (protocols 4 and 41: RFC 2003, 2473, SRv6 encapsulation of RFC 8986).
// It reads paged packets as well; programs keep a fast path of their own for the plain packet.
// A packet ends where its IP header says; what the frame has behind it is Ethernet padding or a trailer, of which no receiver keeps anything. `end` is where the
// innermost packet ends by all the IP headers on the way. For a first fragment it is more: there the headers go on in another frame, and what stands
// behind this one's end would be read in their place; so a first fragment that ends within its headers is WALK_TRUNCATED (RFC 7112 §5).
// The walk ends after WALK_DEPTH headers.
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
#define WALK_BEHIND_UDP 12 // a BTH

// Headers behind Ethernet, the outermost IP header being the first.
#define WALK_DEPTH 12
#define WALK_VLAN_TAGS 2

// What a program wants to see of every header on the way: WALK_VISIT(skb, h, protocol, offset), defined before this file is included. It leaves what
// it found in h->visited.
#ifndef WALK_VISIT
#define WALK_VISIT(skb, h, protocol, offset)
#endif

enum walk_result {
	WALK_TRANSPORT, // `transport` is the offset of the innermost transport header; `protocol` may be any
	WALK_NOT_IP,
	WALK_FRAGMENT, // a fragment other than the first: no transport header
	WALK_TRUNCATED,
	WALK_TOO_DEEP,
	WALK_MALFORMED,
};

// Offsets are from the start of the frame. Where a walk that did not succeed stopped is in `transport` and `protocol`.
struct headers {
	__u16 outer;	   // outermost IP header
	__u16 inner;	   // innermost IP header
	__u16 transport;
	__u16 destination; // 4 or 16 bytes: the innermost flow's destination, which under an unfinished SRH is its last segment
	__u16 outer_length; // of the outermost packet, by its own header
	__u32 end;	   // of the innermost packet, by its own length and those of the packets around it; it may be beyond the frame's
	__be16 sport, dport; // UDP only
	__u8 outer_family, inner_family; // 4 or 6
	__u8 protocol;
	__u8 fragmented; // the first fragment of several
	__u8 visited;	 // of WALK_VISIT
};

#define WALK_NO_END 0x7fffffff // `end` before the first IP header

// No packet that a port sends is longer; a bound that stays the same also lets the verifier recognise a state it has seen.
#define WALK_OFFSET_MASK 0x3fff

// `size` bytes of linear memory, or null.
static __always_inline const __u8 *walk_at(struct __sk_buff *skb, __u32 offset, __u32 size)
{
	const __u8 *end = (void *)(long)skb->data_end;
	const __u8 *at = (const __u8 *)(long)skb->data + (offset & WALK_OFFSET_MASK);
	if (at + size > end)
		at = 0;
	opaque(at); // newer clangs repeat the comparison of bounds in place of one with null, which the verifier does not follow
	return at;
}

static __always_inline __be16 walk_be16(const __u8 *at)
{
	return *(const __be16 *)at;
}

// The packet at `offset` is `length` bytes long, headers included.
static __always_inline void walk_bound(struct headers *h, __u32 offset, __u32 length)
{
	if (offset + length < h->end)
		h->end = offset + length;
}

// Whether the `size` bytes at `offset`, which the frame has, are in a later fragment.
static __always_inline int walk_is_cut(const struct headers *h, __u32 offset, __u32 size)
{
	return h->fragmented && offset + size > h->end;
}

static __always_inline enum walk_result walk_ipv4(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	const __u8 *ip = walk_at(skb, *offset, IPV4_HLEN);
	if (!ip || walk_is_cut(h, *offset, IPV4_HLEN))
		return WALK_TRUNCATED;
	__u32 size = (ip[0] & 15) * 4, length = bpf_ntohs(walk_be16(ip + 2));
	if ((ip[0] >> 4) != 4 || size < IPV4_HLEN)
		return WALK_MALFORMED;
	if (*offset == h->outer)
		h->outer_length = length;
	walk_bound(h, *offset, length);
	h->inner = *offset;
	h->destination = *offset + 16;
	h->inner_family = 4;
	*next = ip[9];
	*offset += size;
	__be16 fragment = walk_be16(ip + 6);
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
	__u32 length = bpf_ntohs(walk_be16(ip + 4)) + IPV6_HLEN;
	if (*offset == h->outer)
		h->outer_length = length > 0xffff ? 0xffff : length;
	walk_bound(h, *offset, length);
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

static __always_inline int is_walked(__u8 protocol)
{
	return protocol == IPPROTO_IPV6 || protocol == IPPROTO_IPIP || is_extension(protocol);
}

// Across the header of protocol `*next`, which is_walked(), at `*offset`.
static __always_inline enum walk_result walk_step(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	if (*next == IPPROTO_IPV6)
		return walk_ipv6(skb, h, offset, next);
	if (*next == IPPROTO_IPIP)
		return walk_ipv4(skb, h, offset, next);
	return walk_extension(skb, h, offset, next);
}

// To the outermost IP header. Returns the protocol number of IPv4 or IPv6, as if from a header in front of it; 0 (hop-by-hop options, which cannot
// follow Ethernet): neither.
static __always_inline __u8 walk_ethernet(struct __sk_buff *skb, __u32 *offset)
{
	__be16 type = 0;
	*offset = 12;
	for (int tags = 0; tags <= WALK_VLAN_TAGS; tags++) {
		const __u8 *at = walk_at(skb, *offset, 2);
		if (!at)
			return 0;
		type = walk_be16(at);
		*offset += 2;
		if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD))
			break;
		*offset += 2;
	}
	return type == bpf_htons(ETH_P_IPV6) ? IPPROTO_IPV6 : type == bpf_htons(ETH_P_IP) ? IPPROTO_IPIP : 0;
}

// A global function: the verifier looks at it once, not once a caller and state.
__noinline int walk_linear(struct __sk_buff *skb, struct headers *h)
{
	if (!h)
		return WALK_NOT_IP;
	__u32 offset;
	__builtin_memset(h, 0, sizeof(*h));
	h->end = WALK_NO_END;
	__u8 next = walk_ethernet(skb, &offset);
	if (next == 0)
		return WALK_NOT_IP;
	h->outer = offset;
	h->outer_family = next == IPPROTO_IPV6 ? 6 : 4;

	// Offset and protocol go through memory, of which the verifier remembers no values: so it meets the same state at the head of every round and
	// looks at each kind of header once a round, not once a way to get there (for the guard 5,000 instructions instead of 79,000).
	volatile __u16 *at = &h->transport;
	volatile __u8 *protocol = &h->protocol;
	*at = offset;
	*protocol = next;
	for (int depth = 0; depth < WALK_DEPTH; depth++) {
		offset = *at & WALK_OFFSET_MASK;
		next = *protocol;
		WALK_VISIT(skb, h, next, offset);
		if (!is_walked(next))
			break;
		enum walk_result result = walk_step(skb, h, &offset, &next);
		*at = offset;
		*protocol = next;
		if (result != WALK_TRANSPORT)
			return result;
	}
	offset = *at & WALK_OFFSET_MASK;
	next = *protocol;
	if (is_walked(next))
		return WALK_TOO_DEEP;
	if (walk_is_cut(h, offset, next == IPPROTO_UDP ? UDP_HLEN : 0))
		return WALK_TRUNCATED;
	if (next != IPPROTO_UDP)
		return WALK_TRANSPORT;
	// With what follows the UDP header, if the packet has it: users read a BTH there.
	if (skb->len >= offset + UDP_HLEN + WALK_BEHIND_UDP && !walk_at(skb, offset, UDP_HLEN + WALK_BEHIND_UDP))
		return WALK_TRUNCATED;
	const __u8 *udp = walk_at(skb, offset, UDP_HLEN);
	if (!udp)
		return WALK_TRUNCATED;
	h->sport = walk_be16(udp);
	h->dport = walk_be16(udp + 2);
	return WALK_TRANSPORT;
}

// Walks the packet; `h` is written whatever the result. If its headers reach beyond linear memory, it is pulled in whole, so packet pointers
// are invalid afterwards. Offsets up to WALK_OFFSET_MASK can be read with walk_at().
static __always_inline enum walk_result walk_headers(struct __sk_buff *skb, struct headers *h)
{
	enum walk_result result = walk_linear(skb, h);
	if (result == WALK_TRUNCATED && skb->len > skb->data_end - skb->data && bpf_skb_pull_data(skb, skb->len) == 0)
		result = walk_linear(skb, h);
	return result;
}

#endif
