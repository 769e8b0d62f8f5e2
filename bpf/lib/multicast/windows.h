// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// CNPs are counted a branch in windows of T (RMC-5.3.3-a to -c, decision C13). The first CNP behind the end of a window
// closes it: one CNP goes up, for the branch with the highest count, and all counts are 0 again. A window that no CNP
// closes is closed by the agent (answer.h).
#ifndef CNPD_MULTICAST_WINDOWS_H
#define CNPD_MULTICAST_WINDOWS_H

#include "multicast/records.h"

// RMC-9-d. An adapter sends a CNP every few microseconds at most.
#define CNPS_OF_BRANCH 64

static __always_inline void window_count(__u32 slot)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record)
		return;
	if (word_read(&record->cnps) >= CNPS_OF_BRANCH) {
		count(COUNT_MC_CNPS_LIMITED);
		return;
	}
	__sync_fetch_and_add(&record->cnps, 1);
	count(COUNT_MC_CNPS);
}

// The highest count and its branch.
struct window_result {
	__u64 highest;
	__u32 slot;
	__u32 reserved;
};

// Takes the count of a branch. A global function: the verifier checks it once.
__noinline int multicast_window_take(__u32 slot, struct window_result *result)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record || !result || word_read(&record->cnps) == 0)
		return 0;
	__u64 cnps = word_exchange(&record->cnps, 0);
	if (cnps > result->highest) {
		result->highest = cnps;
		result->slot = slot;
	}
	return 0;
}

// Closes the window, if it is over, and opens the next one, or none for `next` 0. 1: a CNP goes up for result->slot.
// Only one CPU closes a window.
static __always_inline int window_close(struct multicast_state *state, __u64 current, __u64 now, __u64 next,
					struct window_result *result)
{
	const struct multicast_group *group;
	const struct multicast_list *list = multicast_list_at(CURRENT_LIST(current));
	__u64 begin = word_read(&state->window_ns);
	if (!list || !(group = multicast_group_at(list->group)))
		return 0;
	if (begin == 0) {
		word_replace(&state->window_ns, 0, next);
		return 0;
	}
	if (now - begin < group->cnp_window_ns || !word_replace(&state->window_ns, begin, next))
		return 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		multicast_window_take(list->first + i, result);
	return result->highest > 0;
}

// A CNP of a branch. 1: one goes up, for the branch in claim->slot. A global function.
__noinline int multicast_cnp(struct multicast_claim *claim, __u64 now)
{
	struct multicast_state *state = claim ? multicast_state_at(claim->state) : 0;
	struct window_result result = {};
	if (!state)
		return 0;
	int goes_up = window_close(state, claim->current, now, now, &result);
	window_count(claim->slot);
	if (goes_up)
		claim->slot = result.slot;
	return goes_up;
}

#endif
