// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Who may send into a tree at its root: the declared source, from where it is routed. Its address alone proves nothing.
#ifndef CNPD_MULTICAST_SOURCE_H
#define CNPD_MULTICAST_SOURCE_H

#include "multicast/answer.h"

// A believed port is checked again after this time.
#define MULTICAST_BELIEF_NS 1000000000ULL
#define MULTICAST_BELIEFS 64

struct multicast_belief {
	struct address source;
	__u64 at; // 0: never
	__u32 port;
	__u32 reserved;
};

// Ports at which sources were believed lately, by the low bits of the group's index; a CPU's own. A look-up in the FIB
// for each packet of a source would cost more than all else here.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MULTICAST_BELIEFS);
	__type(key, __u32);
	__type(value, struct multicast_belief);
} multicast_beliefs SEC(".maps");

// Whether a packet with the address of the group's source came from where it is routed: as answers of receivers do. A
// global function: the verifier checks it once, and its stack is not that of answers.
__noinline int multicast_source_came_from(struct __sk_buff *skb, __u32 index)
{
	__u32 place = index & (MULTICAST_BELIEFS - 1), port = skb->ifindex;
	__u64 now = bpf_ktime_get_coarse_ns();
	const struct multicast_group *group = multicast_group_at(index);
	struct multicast_belief *belief = bpf_map_lookup_elem(&multicast_beliefs, &place);
	if (!group || !belief)
		return 0;
	if (likely(belief->at != 0 && now - belief->at < MULTICAST_BELIEF_NS && belief->port == port &&
		   same_address(&belief->source, &group->source)))
		return 1;
	if (!answer_came_from(skb, &group->source, &group->proxy))
		return 0;
	belief->source = group->source;
	belief->port = port;
	belief->at = now;
	return 1;
}

#endif
