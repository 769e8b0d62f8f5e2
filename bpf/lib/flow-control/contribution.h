// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which traffic fills a queue. Of what finds it filled, only that is paused whose share is at least half of the
// largest: the others would be stopped without effect. A share is what came into the queue while that was above half of
// its threshold. A window is longer than a pause: what is paused sends nothing, and must not seem small beside what
// goes on.
//
// Interfaces come first, by all that they have brought, then the traffic of each among its own. A sender can divide its
// traffic into many small flows, but not the interface at which they arrive.
#ifndef CNPD_FLOW_CONTROL_CONTRIBUTION_H
#define CNPD_FLOW_CONTROL_CONTRIBUTION_H

#include "flow-control/maps.h"
#include "share.h"

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

// Counts a packet. Returns whether that has at least half of the largest share; also if there is no memory to tell.
static __always_inline int is_large(struct flow_control_share *share, struct flow_control_largest *largest,
				    __u64 window, __u32 length)
{
	if (!share || !largest)
		return 1;
	struct share_place share_at = { &share->window, &share->now, &share->before };
	struct largest_place largest_at = { &largest->window, &largest->now, &largest->share };
	return share_add(&share_at, &largest_at, window, length) >= largest->share / 2;
}

// Counts a packet. Returns whether its traffic is among those that fill the queue.
static __always_inline int contributes(const struct hold_key *key, __u32 egress,
				       const struct flow_control_config *config, __u32 length, __u64 now)
{
	struct flow_control_share fresh = {};
	struct flow_control_largest none = {};
	struct flow_control_way way = { .ingress = key->ifindex, .egress = egress };
	struct flow_control_way any = { .egress = egress };
	__u64 window = now / (config->interval_ns * SHARE_WINDOW | 1);
	int by_way = is_large(share_of_key(&flow_control_ways, &way, &fresh),
			      share_of_key(&flow_control_largest, &any, &none), window, length);
	int by_traffic = is_large(share_of_key(&flow_control_shares, key, &fresh),
				  share_of_key(&flow_control_largest, &way, &none), window, length);
	return by_way && by_traffic;
}

#endif
