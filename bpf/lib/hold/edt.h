// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds a flow by departure times: each packet gets the time at which it may leave (skb->tstamp), and the fq at the
// port keeps it until then. Neither a class nor a request to the kernel is needed for a flow.
//
// No packet overtakes another of its flow. An fq sorts the packets of a flow by these times; the program's never
// decrease, and a packet without one counts as departing at once. So a flow whose last time has passed may go straight.
// That also ends a hold which nobody renews: packets then follow those that wait, and cost no time of their own.
//
// What has a time keeps it: a later instruction concerns the packets behind. So `ahead` bounds how long packets wait,
// and what comes beyond is dropped. An fq's own limit must not be reached (reconcile/hold-edt-ports.ts).
#ifndef CNPD_HOLD_EDT_H
#define CNPD_HOLD_EDT_H

#include "hold/class.h"
#include "hold/paces.h"

#define NS_A_SECOND 1000000000ULL
// Changes all bits of a hash evenly: which of them choose a queue is the fq's affair.
#define BESIDE 0x9e3779b9u

// The time that the packet takes from those behind it is taken at once: CPUs share a flow.
static __always_inline int take_departure(struct hold_record *record, const struct hold_pace *pace, __u64 now,
					  __u64 cost, __u64 *departure)
{
	__u64 base = now > pace->earliest ? now : pace->earliest;
	__u64 since = now > pace->since ? now : pace->since;
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 next = *(volatile __u64 *)&record->next;
		*departure = next > base ? next : base;
		if (*departure > since + pace->ahead)
			return 0;
		if (__sync_val_compare_and_swap(&record->next, next, *departure + cost) == next)
			return 1;
	}
	return 1; // others have taken as much meanwhile: in order, at hardly more than the rate
}

static __always_inline int hold_until_due(struct __sk_buff *skb, const struct hold *hold, struct hold_record *record,
					  __u64 now)
{
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	const struct hold_pace *pace = bpf_map_lookup_elem(&hold_paces, &slot);
	if (!pace || !pace->rate) {
		count(COUNT_HOLD_INVALID);
		return TC_NEXT;
	}
	__u64 departure, cost = pace->frame + skb->wire_len * NS_A_SECOND / pace->rate;
	if (!take_departure(record, pace, now, cost, &departure)) {
		count(COUNT_HOLD_FULL);
		return TC_DROP;
	}
	skb->tstamp = departure;
	__sync_fetch_and_add(&record->stamped, has_entered(skb, record, now));
	return TC_NEXT;
}

// Of a hold that nobody has renewed.
static __always_inline void depart_behind(struct __sk_buff *skb, const struct hold_record *record, __u64 now)
{
	__u64 next = *(volatile const __u64 *)&record->next;
	if (next <= now)
		return;
	skb->tstamp = next;
	count(COUNT_HOLD_BEHIND);
}

// An fq has one queue for what looks alike on the wire, and answers may look like data of their flow: in a queue of
// their own they need not wait for it.
static __always_inline void depart_beside(struct __sk_buff *skb)
{
	bpf_set_hash(skb, bpf_get_hash_recalc(skb) ^ BESIDE);
}

#endif
