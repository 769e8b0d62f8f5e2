// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds a flow by departure times: each packet gets the time at which it may leave (skb->tstamp), and the fq at the
// port keeps it until then. Neither a class nor a request to the kernel is needed for a flow.
//
// No packet overtakes another of its flow. An fq sorts the packets of a flow by these times; the program's never
// decrease, and a packet without one counts as departing at once. So a flow whose last time has passed may go straight.
// Until then its packets follow those that wait, and cost no time of their own: those of a hold that nobody renews,
// that has ended (HOLD_BEHIND), or at a port that holds nothing any more.
//
// What has a time keeps it: a later instruction concerns the packets behind. So `ahead` bounds how long packets wait,
// and what comes beyond is dropped. An fq's own limit must not be reached (reconcile/hold-edt-ports.ts).
#ifndef CNPD_HOLD_EDT_H
#define CNPD_HOLD_EDT_H

#include "hold/class.h"
#include "hold/packet.h"
#include "hold/paces.h"

#define NS_A_SECOND 1000000000ULL
// Changes all bits of a hash evenly: which of them choose a queue is the fq's affair.
#define BESIDE 0x9e3779b9u
// Of skb->priority, TC_PRIO_CONTROL: an fq sends such packets at once, whatever their time.
#define PRIORITY_BITS 15
#define UNDELAYED 7

// The time that the packet takes from those behind it is taken at once: CPUs share a flow.
static __always_inline int take_departure(struct hold_record *record, const struct hold_pace *pace, __u64 now,
					  __u64 cost, __u64 *departure)
{
	// The agent may be writing, in the order of the fields: it makes `ahead` shorter behind a later `since`.
	__u64 ahead = *(volatile const __u64 *)&pace->ahead;
	__u64 since = *(volatile const __u64 *)&pace->since;
	__u64 base = now > pace->earliest ? now : pace->earliest;
	if (since < now)
		since = now;
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 next = *(volatile __u64 *)&record->next;
		*departure = next > base ? next : base;
		if (*departure > since + ahead)
			return 0;
		if (__sync_val_compare_and_swap(&record->next, next, *departure + cost) == next)
			return 1;
	}
	return 1; // others have taken as much meanwhile: in order, at hardly more than the rate
}

static __always_inline void depart_at(struct __sk_buff *skb, __u64 time)
{
	skb->tstamp = time;
	if ((skb->priority & PRIORITY_BITS) == UNDELAYED)
		skb->priority--;
}

// An fq has one queue for what looks alike on the wire, and answers may look like data of their flow: in a queue of
// their own they need not wait for it.
static __always_inline void depart_beside(struct __sk_buff *skb)
{
	bpf_set_hash(skb, bpf_get_hash_recalc(skb) ^ BESIDE);
}

// Of what is not held, or no longer. `responses`: READ responses wait, or may.
static __always_inline void depart_behind(struct __sk_buff *skb, enum share share, __u8 *responses, __u64 last,
					  __u64 now)
{
	if (last <= now)
		return;
	if (share == SHARE_ANSWER && !*responses) {
		depart_beside(skb);
		return;
	}
	if (share == SHARE_RESPONSE)
		*responses = 1;
	depart_at(skb, last < now + HOLD_LONGEST_DEPARTURE_NS ? last : now + HOLD_LONGEST_DEPARTURE_NS);
	count(COUNT_HOLD_BEHIND);
}

static __always_inline __u64 last_departure(const struct hold_record *record)
{
	return *(volatile const __u64 *)&record->next;
}

static __always_inline int hold_until_due(struct __sk_buff *skb, const struct hold *hold, struct hold_record *record,
					  __u64 now, enum share share)
{
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	const struct hold_pace *pace = bpf_map_lookup_elem(&hold_paces, &slot);
	if (!pace || !pace->rate) {
		count(COUNT_HOLD_INVALID);
		depart_behind(skb, share, &record->responses, last_departure(record), now);
		return TC_NEXT;
	}
	__u64 departure, cost = pace->frame + skb->wire_len * NS_A_SECOND / pace->rate;
	if (!take_departure(record, pace, now, cost, &departure)) {
		count(COUNT_HOLD_FULL);
		return TC_DROP;
	}
	depart_at(skb, departure);
	__sync_fetch_and_add(&record->stamped, has_entered(skb, record, now));
	return TC_NEXT;
}

#endif
