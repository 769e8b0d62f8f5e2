// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which traffic fills a queue. Of what finds it filled, only that is paused whose share is at least half of the
// largest: the others would be stopped without effect. A share is what traffic has sent into the queue while that was
// above half of its threshold, in this window and the one before. A window is longer than a pause: what is paused sends
// nothing, and must not seem small beside what goes on. Several CPUs may count at once and lose a packet's bytes at a
// window's beginning; a share is an estimate.
#ifndef CNPD_FLOW_CONTROL_CONTRIBUTION_H
#define CNPD_FLOW_CONTROL_CONTRIBUTION_H

#include "flow-control/maps.h"

// Of the interval, which is half of a pause.
#define SHARE_WINDOW 8

static __always_inline void *share_of_key(void *map, const void *key, const void *fresh)
{
	void *found = bpf_map_lookup_elem(map, key);
	if (found)
		return found;
	bpf_map_update_elem(map, key, fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(map, key);
}

// Counts a packet. Returns whether its traffic is among those that fill the queue; also if there is no memory to tell.
static __always_inline int contributes(const struct hold_key *key, __u32 egress,
				       const struct flow_control_config *config, __u32 length, __u64 now)
{
	struct flow_control_share fresh = {};
	struct flow_control_largest none = {};
	struct flow_control_share *share = share_of_key(&flow_control_shares, key, &fresh);
	struct flow_control_largest *largest = share_of_key(&flow_control_largest, &egress, &none);
	if (!share || !largest)
		return 1;
	__u64 window = now / (config->interval_ns * SHARE_WINDOW | 1);
	if (largest->window != window) {
		// Of the window before, the largest still counts: nothing is large beside it with one packet.
		largest->share = largest->window + 1 == window ? largest->now : 0;
		largest->now = 0;
		largest->window = window;
	}
	if (share->window != window) {
		share->before = share->window + 1 == window ? share->now : 0;
		share->now = 0;
		share->window = window;
	}
	__sync_fetch_and_add(&share->now, length);
	__u64 recent = share->now, total = recent + share->before;
	if (recent > largest->now)
		largest->now = recent;
	if (total > largest->share)
		largest->share = total;
	return total >= largest->share / 2;
}

#endif
