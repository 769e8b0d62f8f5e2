// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Into the class of a hold, and out of it.
//
// No packet overtakes another of what is held. When a hold begins, what went straight before is in the direct queue of
// the HTB, which precedes all classes. When it ends, packets follow the others into the class until that is empty:
// until the agent has seen as many leave it as have entered. An ended hold is remembered in its record, since what the
// agent has seen may be old by the next packet. What has departure times (hold/edt.h) says by itself when all of it has
// departed, also of an earlier hold.
#ifndef CNPD_HOLD_CLASS_H
#define CNPD_HOLD_CLASS_H

#include "hold/maps.h"

// Otherwise it is ignored, since it names no class or the agent has not renewed it in time.
static __always_inline int is_in_force(const struct hold *hold, struct hold_record **record, __u64 *now)
{
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	*record = bpf_map_lookup_elem(&hold_records, &slot);
	if (!*record || (hold->phase != HOLD_HELD && hold->phase != HOLD_LEAVING)) {
		count(COUNT_HOLD_INVALID);
		return 0;
	}
	*now = bpf_ktime_get_ns();
	if (*now >= hold->until_ns) {
		count(COUNT_HOLD_EXPIRED);
		return 0;
	}
	return 1;
}

// Whether the packet goes straight since the hold ends and nothing of it is in its class any more.
static __always_inline int has_left(const struct hold *hold, struct hold_record *record, __u64 now)
{
	if (hold->phase == HOLD_HELD) {
		record->released = 0;
		return 0;
	}
	if (record->released) {
		count(COUNT_HOLD_STRAIGHT);
		return 1;
	}
	if ((record->classed && record->entered != hold->drained) || record->next > now) {
		count(COUNT_HOLD_LEAVING);
		return 0;
	}
	record->released = 1;
	count(COUNT_HOLD_RELEASED);
	return 1;
}

static __always_inline __u32 has_entered(const struct __sk_buff *skb, struct hold_record *record, __u64 now)
{
	__u32 segments = skb->gso_segs ? skb->gso_segs : 1;
	__sync_fetch_and_add(&record->entered, segments);
	record->last_seen = now;
	if (skb->len > record->longest && segments == 1)
		record->longest = skb->len;
	count(COUNT_HOLD_HELD);
	return segments;
}

// `root`: handle of the port's HTB.
static __always_inline void put_into_class(struct __sk_buff *skb, __u32 root, const struct hold *hold,
					   struct hold_record *record, __u64 now)
{
	record->classed = 1;
	has_entered(skb, record, now);
	skb->priority = (root & 0xffff0000) | hold->minor;
}

#endif
