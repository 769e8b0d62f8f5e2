// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Obeys a Long-haul CNP at once, for a flow that is held by departure times (hold/edt.h): the next packet departs as
// the instruction says. The agent reads the same instruction a moment later, and what it makes of it counts: what other
// nodes have said, and whether the network has doubled this one.
//
// So the program only slows down: a Pause, and a Rate Reduce that leaves something. A Rate Reduce is one of the rate
// that the agent has set, so that two that it has not read yet do not multiply.
#ifndef CNPD_SOURCE_OBEY_H
#define CNPD_SOURCE_OBEY_H

#include "hold/held.h"
#include "hold/paces.h"
#include "source/maps.h"

static __always_inline void obey_pause(struct hold_pace *pace, __u16 microseconds, __u64 now)
{
	__u64 end = now + microseconds * 1000ULL;
	if (end <= pace->earliest)
		return;
	if (pace->since < end) // later: behind what waits
		pace->since = end;
	pace->earliest = end;
}

static __always_inline void obey_reduction(struct hold_pace *pace, __u32 percent)
{
	__u64 rate = pace->told * (100 - percent) / 100;
	if (rate < pace->least)
		rate = pace->least;
	if (!rate || rate >= pace->rate)
		return;
	// As many bytes as before may wait.
	__u64 ahead = pace->ahead * pace->rate / rate;
	pace->ahead = ahead < HOLD_LONGEST_WAIT_NS ? ahead : HOLD_LONGEST_WAIT_NS;
	pace->rate = rate;
}

static __noinline int source_obey(const struct told *told)
{
	struct hold_key key = { .kind = HOLD_FLOW };
	__u64 now = bpf_ktime_get_ns();
	if (!told || (told->instruction != ACTION_PAUSE && told->instruction != ACTION_RATE_REDUCE))
		return 0;
	key.source = told->sender;
	key.destination = told->receiver;
	key.id = told->receiver_qpn;
	const struct hold *hold = bpf_map_lookup_elem(&holds, &key);
	if (!hold || hold->phase != HOLD_HELD || now >= hold->until_ns)
		return 0;
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	const struct hold_record *record = bpf_map_lookup_elem(&hold_records, &slot);
	struct hold_pace *pace = bpf_map_lookup_elem(&hold_paces, &slot);
	// Without a departure time so far, its port has classes.
	if (!record || !record->stamped || !pace || !pace->rate)
		return 0;
	if (told->instruction == ACTION_PAUSE)
		obey_pause(pace, told->parameter, now);
	else if (told->parameter < 100)
		obey_reduction(pace, told->parameter);
	else
		return 0;
	count(COUNT_SOURCE_OBEYED);
	return 1;
}

#endif
