// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fields that the border guard inspects in each header of its walk (wire/walk.h): Fast CNP options (FCNP §4), and
// guarded addresses (SIDs of the domain, Proxy Addresses) among the destinations and segments.
#ifndef CNPD_GUARD_WALK_H
#define CNPD_GUARD_WALK_H

#include "guard/maps.h"

struct headers;
static __always_inline void guard_visit(struct __sk_buff *skb, struct headers *h, __u8 protocol, __u32 offset);
#define WALK_VISIT(skb, h, protocol, offset) guard_visit(skb, h, protocol, offset)
#include "wire/walk.h"

#define VISITED_FAST_CNP 1 // the innermost packet so far has a Fast CNP option
#define VISITED_GUARDED 2
#define VISITED_EVASIVE 4

#define OPTION_PAD1 0
// By RFC 8504 §5.3 hosts accept at most eight options besides padding. Linux has the same limit by default.
#define GUARD_OPTIONS 32
// No legitimate SRH from outside has more segments.
#define GUARD_SEGMENTS 16

// Global functions: the verifier checks each once, not once a round of the walk.

// The Destination Options header at `offset`.
__noinline int guard_options(struct __sk_buff *skb, __u32 offset)
{
	__u32 ifindex = skb->ifindex;
	struct guard_port *port = bpf_map_lookup_elem(&guard_ports, &ifindex);
	const __u8 *header = walk_at(skb, offset, 2);
	if (!port || !header)
		return 0;
	__u32 end = offset + (header[1] + 1) * 8;
	volatile __u32 at = offset + 2;
	for (int i = 0; i < GUARD_OPTIONS; i++) {
		if (at >= end)
			return 0;
		const __u8 *option = walk_at(skb, at, 1);
		if (!option)
			return 0;
		__u8 type = option[0];
		if (type != OPTION_PAD1 && (type == port->fast_cnp_option || type == port->fast_cnp_ioam_option))
			return VISITED_FAST_CNP;
		option = walk_at(skb, at, 2);
		if (type != OPTION_PAD1 && !option)
			return 0;
		at = (at + (type == OPTION_PAD1 ? 1 : 2 + option[1])) & WALK_OFFSET_MASK;
	}
	return at < end ? VISITED_EVASIVE : 0;
}

__noinline int guard_is_guarded(struct __sk_buff *skb, __u32 offset)
{
	const __u8 *address = walk_at(skb, offset, 16);
	return address && bpf_map_lookup_elem(&guard_end_con_sids, address) ? VISITED_GUARDED : 0;
}

// The segments of the SRH at `offset`, which are the next destinations of the packet.
__noinline int guard_segments(struct __sk_buff *skb, __u32 offset)
{
	const __u8 *srh = walk_at(skb, offset, 8);
	if (!srh || srh[2] != ROUTING_TYPE_SRH)
		return 0;
	__u32 segments = srh[1] / 2;
	for (__u32 i = 0; i < GUARD_SEGMENTS; i++) {
		if (i >= segments)
			return 0;
		if (guard_is_guarded(skb, offset + 8 + 16 * i))
			return VISITED_GUARDED;
	}
	return segments > GUARD_SEGMENTS ? VISITED_EVASIVE : 0;
}

static __always_inline void guard_visit(struct __sk_buff *skb, struct headers *h, __u8 protocol, __u32 offset)
{
	if (protocol == IPPROTO_IPV6)
		h->visited = (h->visited & ~VISITED_FAST_CNP) | guard_is_guarded(skb, offset + IPV6_DESTINATION);
	else if (protocol == IPPROTO_IPIP)
		h->visited &= ~VISITED_FAST_CNP;
	else if (protocol == IPPROTO_ROUTING)
		h->visited |= guard_segments(skb, offset);
	else if (protocol == IPPROTO_DSTOPTS)
		h->visited |= guard_options(skb, offset);
}

#endif
