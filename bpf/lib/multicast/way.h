// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How a copy leaves: the look-up of its next hop, what is noted if it is too big for it, and the limit of copies.
#ifndef CNPD_MULTICAST_WAY_H
#define CNPD_MULTICAST_WAY_H

#include "multicast/packet.h"

#define NO_WAY 0
#define IPV6_LEAST_MTU 1280

// Notes for the agent that a packet was too big for a path from this role. If the map is full, the next packet that is
// too big notes it.
static __always_inline void multicast_note_too_big(__u32 at, const struct multicast_too_big *noted)
{
	const struct multicast_too_big *known = bpf_map_lookup_elem(&multicast_too_big, &at);
	if (!known || noted->mtu < known->mtu)
		bpf_map_update_elem(&multicast_too_big, &at, noted, BPF_ANY);
}

// The packet in work does not fit into `mtu` octets on the way of a copy. Every router on its path from the root to
// here has had it with `more` octets around it.
static __always_inline void multicast_copy_too_big(__u32 role, __u32 mtu)
{
	const struct multicast_packet *packet = multicast_packet_in_work();
	count(COUNT_MC_COPY_TOO_BIG);
	if (!packet)
		return;
	__u32 more = role == MULTICAST_AS_EDGE ? packet->inner - ETH_HLEN : 0;
	struct multicast_too_big noted = { packet->members, packet->tree, packet->epoch, mtu + more };
	if (mtu >= IPV6_LEAST_MTU)
		multicast_note_too_big(MULTICAST_STATE(packet->group, role), &noted);
}

// Looks up the next hop of a copy that this role makes. Returns the port, with the MAC addresses in `fib`;
// LOOPBACK_IFINDEX: the kernel is to route the copy, because it must resolve the neighbor first, or knows a tunnel
// (both MAC addresses are then 0, as a frame to the loopback device needs them); NO_WAY: counted.
static __always_inline __u32 multicast_way(struct __sk_buff *skb, struct bpf_fib_lookup *fib, __u32 role)
{
	long result = bpf_fib_lookup(skb, fib, sizeof(*fib), 0);
	if (likely(result == BPF_FIB_LKUP_RET_SUCCESS))
		return fib->ifindex;
	if (result == BPF_FIB_LKUP_RET_NO_NEIGH || result == BPF_FIB_LKUP_RET_UNSUPP_LWT) {
		count(COUNT_MC_COPY_RESOLVE);
		__builtin_memset(fib->smac, 0, 6);
		__builtin_memset(fib->dmac, 0, 6);
		return LOOPBACK_IFINDEX;
	}
	if (result == BPF_FIB_LKUP_RET_FRAG_NEEDED)
		multicast_copy_too_big(role, fib->mtu_result);
	else
		count(COUNT_MC_COPY_NO_ROUTE);
	return NO_WAY;
}

// Sends the packet, or a clone of it. Returns a verdict, which counts for the packet itself only.
static __always_inline int multicast_send(struct __sk_buff *skb, __u32 way, int is_last)
{
	__u64 flags = way == LOOPBACK_IFINDEX ? BPF_F_INGRESS : 0;
	if (way == NO_WAY)
		return TC_DROP;
	if (is_last)
		return bpf_redirect(way, flags);
	if (bpf_clone_redirect(skb, way, flags) != 0)
		count(COUNT_MC_COPY_LOST);
	return TC_DROP;
}

// The kernel takes one off the hop limit of what it routes.
static __always_inline __u8 multicast_hop_limit(__u8 limit, __u32 way)
{
	return way == LOOPBACK_IFINDEX && limit < 255 ? limit + 1 : limit;
}

static __always_inline void multicast_set_macs(__u8 *frame, const struct bpf_fib_lookup *fib)
{
	*(__u32 *)frame = *(const __u32 *)fib->dmac;
	*(__u16 *)(frame + 4) = *(const __u16 *)(fib->dmac + 4);
	*(__u32 *)(frame + 6) = *(const __u32 *)fib->smac;
	*(__u16 *)(frame + 10) = *(const __u16 *)(fib->smac + 4);
}

#define SECOND_NS 1000000000ULL
#define TOKENS_ATTEMPTS 4

// The limit of a group's copies: `tokens` is the time at which the bucket is full. A packet with more copies than the
// bucket holds passes when it is full. 0: dropped and counted.
static __always_inline int multicast_admit(struct multicast_state *state, const struct multicast_group *group,
					   __u32 copies, __u64 now)
{
	if (group->copies_per_second == 0)
		return 1;
	__u64 copy_ns = SECOND_NS / group->copies_per_second, burst_ns = copy_ns * group->copies_burst;
	for (int i = 0; i < TOKENS_ATTEMPTS; i++) {
		__u64 full = state->tokens, from = full > now ? full : now, to = from + copies * copy_ns;
		if (full > now && to > now + burst_ns)
			return multicast_refuse(COUNT_MC_COPY_LIMIT);
		if (__sync_val_compare_and_swap(&state->tokens, full, to) == full)
			return 1;
	}
	return 1; // other CPUs have it: rather a copy too many than a packet lost
}

#endif
