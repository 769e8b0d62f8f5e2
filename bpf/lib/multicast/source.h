// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Who may send into a tree at its root: the declared source, from where it is routed. Its address alone proves nothing.
#ifndef CNPD_MULTICAST_SOURCE_H
#define CNPD_MULTICAST_SOURCE_H

#include "belief.h"
#include "multicast/answer.h"

// By the low bits of the group's index.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BELIEFS);
	__type(key, __u32);
	__type(value, struct belief);
} multicast_beliefs SEC(".maps");

// Whether a packet with the address of the group's source came by this port, from where it is routed: as answers of
// receivers do. A global function: the verifier checks it once, and its stack is not that of answers.
__noinline int multicast_source_came_from(struct __sk_buff *skb, __u32 index, __u32 port)
{
	__u32 place = index & (BELIEFS - 1);
	__u64 now = bpf_ktime_get_coarse_ns();
	const struct multicast_group *group = multicast_group_at(index);
	struct belief *belief = bpf_map_lookup_elem(&multicast_beliefs, &place);
	if (!group || !belief)
		return 0;
	if (likely(belief_holds(belief, &group->source, port, now)))
		return 1;
	if (!came_from(skb, &group->source, &group->proxy, port))
		return 0;
	belief_note(belief, &group->source, port, now);
	return 1;
}

#endif
