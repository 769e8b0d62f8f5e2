// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Walks from the Ethernet header to the transport header of the innermost packet. It passes VLAN tags, IPv4 with
// options, IPv6 with its extension headers (SRH of RFC 8754 among them), and IPv4 and IPv6 inside either (protocols 4
// and 41: RFC 2003, 2473, SRv6 encapsulation of RFC 8986). It also passes the shims of other tunnels: MPLS label stacks
// (RFC 3032; in IP and UDP: RFC 4023, 7510), GRE (RFC 2784, 2890), VXLAN (RFC 7348), Ethernet. A label stack does not
// identify its payload: the walk takes it for IP if the lengths are right, and over IPv4 the checksum. For other
// tunnels (ESP, Geneve, a pseudowire …) the result is WALK_OPAQUE, and `tunnel` holds the kind. The walk reads paged
// packets as well; programs have their own fast path for the plain packet.
//
// A packet ends where its IP header says. Behind that the frame has Ethernet padding or a trailer, which receivers
// discard. `end` is the end of the innermost packet by all IP headers on the way. A first fragment continues in another
// frame, so bytes behind its end must not be read as its headers: a first fragment that ends within its headers is
// WALK_TRUNCATED (RFC 7112 §5). The walk ends after WALK_DEPTH headers.
#ifndef CNPD_WIRE_WALK_H
#define CNPD_WIRE_WALK_H

#include "wire/walk-shims.h"

// A program's inspection of each header that is walked: WALK_VISIT(skb, h, protocol, offset), defined before this file
// is included. It leaves its findings in h->visited.
#ifndef WALK_VISIT
#define WALK_VISIT(skb, h, protocol, offset)
#endif

// UDP that belongs to no tunnel.
static __always_inline enum walk_result walk_transport_udp(struct __sk_buff *skb, struct headers *h, __u32 offset)
{
	if (walk_is_cut(h, offset, UDP_HLEN))
		return WALK_TRUNCATED;
	// Callers read a BTH and a DETH after the UDP header, if the packet has them.
	if ((skb->len >= offset + UDP_HLEN + BTH_SIZE && !walk_at(skb, offset, UDP_HLEN + BTH_SIZE)) ||
	    (skb->len >= offset + UDP_HLEN + WALK_BEHIND_UDP && !walk_at(skb, offset, UDP_HLEN + WALK_BEHIND_UDP)))
		return WALK_TRUNCATED;
	const __u8 *udp = walk_at(skb, offset, UDP_HLEN);
	if (!udp)
		return WALK_TRUNCATED;
	h->sport = walk_be16(udp);
	h->dport = walk_be16(udp + UDP_DESTINATION);
	h->udp_length = bpf_ntohs(walk_be16(udp + UDP_LENGTH));
	return WALK_TRANSPORT;
}

// Whether the walk has ended at a RoCEv2 packet. A fragment is excluded: adapters do not reassemble.
static __always_inline int walk_is_roce(const struct headers *h)
{
	return h->protocol == IPPROTO_UDP && h->dport == bpf_htons(ROCE_UDP_PORT) && !h->fragmented &&
	       h->end > h->transport && roce_fits(h->udp_length, h->end - h->transport);
}

static __always_inline enum walk_result walk_header(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	if (*next == IPPROTO_IPV6)
		return walk_ipv6(skb, h, offset, next);
	if (*next == IPPROTO_IPIP)
		return walk_ipv4(skb, h, offset, next);
	if (*next == IPPROTO_UDP)
		return walk_udp(skb, h, offset, next);
	if (*next == IPPROTO_MPLS)
		return walk_mpls(skb, h, offset, next);
	if (*next == IPPROTO_GRE)
		return walk_gre(skb, h, offset, next);
	if (*next == IPPROTO_ETHERNET)
		return walk_inner_ethernet(skb, h, offset, next);
	return walk_extension(skb, h, offset, next);
}

// Walks the header of protocol h->protocol at h->transport: one that is_walked(), or the UDP header of a tunnel. Moves
// both to what follows it. A global function: the verifier checks it once, not once for each round and path.
__noinline int walk_step(struct __sk_buff *skb, struct headers *h)
{
	if (!h)
		return WALK_NOT_IP;
	__u32 offset = h->transport & WALK_OFFSET_MASK;
	__u8 next = h->protocol;
	WALK_VISIT(skb, h, next, offset);
	enum walk_result result = walk_header(skb, h, &offset, &next);
	h->transport = offset;
	h->protocol = next;
	return result;
}

// Global for the same reason.
__noinline int walk_linear(struct __sk_buff *skb, struct headers *h)
{
	if (!h)
		return WALK_NOT_IP;
	__u32 offset = 12;
	__builtin_memset(h, 0, sizeof(*h));
	h->end = WALK_NO_END;
	__u8 next = walk_ethertype(skb, &offset);
	if (next == 0)
		return WALK_NOT_IP;

	h->transport = offset;
	h->protocol = next;
	for (int depth = 0; depth < WALK_DEPTH; depth++) {
		reread();
		offset = h->transport & WALK_OFFSET_MASK;
		next = h->protocol;
		if (!is_walked(next) && !(next == IPPROTO_UDP && walk_is_tunnel(skb, offset)))
			break;
		int result = walk_step(skb, h);
		if (result != WALK_TRANSPORT)
			return result;
	}
	offset = h->transport & WALK_OFFSET_MASK;
	next = h->protocol;
	if (is_walked(next) || (next == IPPROTO_UDP && walk_is_tunnel(skb, offset)))
		return WALK_TOO_DEEP;
	if (is_opaque(next)) {
		h->tunnel = next == IPPROTO_ESP ? TUNNEL_ESP : TUNNEL_OTHER;
		return WALK_OPAQUE;
	}
	if (next == IPPROTO_UDP)
		return walk_transport_udp(skb, h, offset);
	return walk_is_cut(h, offset, 0) ? WALK_TRUNCATED : WALK_TRANSPORT;
}

// Walks the packet; `h` is written whatever the result. If the headers reach beyond linear memory, the whole packet is
// pulled in, and packet pointers become invalid. walk_at() can read offsets up to WALK_OFFSET_MASK.
static __always_inline enum walk_result walk_headers(struct __sk_buff *skb, struct headers *h)
{
	enum walk_result result = walk_linear(skb, h);
	if (result == WALK_TRUNCATED && skb->len > skb->data_end - skb->data && bpf_skb_pull_data(skb, skb->len) == 0)
		result = walk_linear(skb, h);
	return result;
}

#endif
