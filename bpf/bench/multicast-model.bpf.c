// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For tests and the bench only: thousands of events of simulated groups in one run, through the same functions as
// packets. A node of a simulated tree is a group of this object. Packets and their checks are not part of it.
// `multicast_race` is for answers at one node that two CPUs take at the same time.
#include "kernel.h"

// The simulation's clock.
__u64 model_now;
#define MULTICAST_NOW() (model_now)

#include "multicast/aggregate.h"

LICENSE;

#define EVENTS 4096
// EVENT_OWN: data that the branching role hands to the edge role. EVENT_TAKE: a NAK goes up from the edge role.
enum { EVENT_DATA = 1, EVENT_HOST = 2, EVENT_CHILD = 3, EVENT_OWN = 4, EVENT_TAKE = 5 };

// In the machine's byte order; 64 bytes.
struct event {
	__u32 kind;
	__u32 state; // MULTICAST_STATE
	__u32 list;  // of data
	__u32 epoch; // of data, and the label of a child's answer
	__u32 parent;
	__u32 psn;    // of data with MULTICAST_NOTE_BEGINS; of an answer as in its BTH
	__u32 sender; // of an answer: the last word of its address
	__u32 msn;
	__u32 syndrome;
	__u32 now_ms;
	// Results: whether data are copied, or something goes up, and what. Of data at an edge, up_psn and up_msn are
	// the receivers that get a copy, one bit each.
	__u32 passed;
	__u32 up_state;
	__u32 up_epoch;
	__u32 up_psn;
	__u32 up_msn;
	__u32 up_syndrome;
};

struct events {
	__u32 count;
	__u32 reserved[15];
	struct event of[EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct events);
} model_events SEC(".maps");

static long (*const loop)(__u32 count, void *callback, void *context, __u64 flags) = (void *)181; // bpf_loop

static __always_inline void answer(struct event *event)
{
	struct address sender = { .words = { 0, 0, 0, event->sender } };
	struct multicast_upward up = {};
	struct multicast_claim claim = { .state = event->state,
					 .next = (event->psn + !nak_rank(event->syndrome)) & PSN_MASK,
					 .msn = event->msn,
					 .syndrome = event->syndrome };
	if (!claim_of(&claim, &sender) || (event->kind == EVENT_CHILD && !claim_is_of(&claim, event->epoch)))
		return;
	if (!multicast_climb(&claim, &up))
		return;
	event->passed = 1;
	event->up_state = claim.state;
	event->up_epoch = CURRENT_EPOCH(up.current);
	event->up_psn = up.psn;
	event->up_msn = up.msn;
	event->up_syndrome = up.syndrome;
}

__noinline int model_has_joined(__u32 slot)
{
	const struct multicast_record *record = multicast_record_at(slot);
	return record && multicast_has_joined(record);
}

static __always_inline void data(struct event *event)
{
	const struct multicast_group *group = multicast_group_at(event->state >> 1);
	__u32 parent = event->kind == EVENT_OWN && group ? multicast_own_number(group) : event->parent;
	event->passed = multicast_note(event->state, event->list, event->epoch, parent, event->psn);
	const struct multicast_list *list = multicast_list_at(event->list);
	if (!list || list->role != MULTICAST_AS_EDGE)
		return;
	event->up_psn = event->up_msn = 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++) {
		__u32 joined = model_has_joined(list->first + i);
		if (i < 32)
			event->up_psn |= joined << i;
		else
			event->up_msn |= joined << (i & 31);
	}
}

// What is unsent and does not precede the NAK of `syndrome` goes up with it: `passed` NAKs.
static __always_inline void take(struct event *event)
{
	struct multicast_state *state = multicast_state_at(event->state);
	struct multicast_claim claim = { .state = event->state, .current = state ? word_read(&state->current) : 0 };
	event->passed = multicast_naks_take(&claim, nak_rank(event->syndrome));
}

static long run_event(__u32 index, void *unused)
{
	__u32 zero = 0;
	struct events *events = bpf_map_lookup_elem(&model_events, &zero);
	if (!events || index >= EVENTS)
		return 1;
	struct event *event = &events->of[index];
	event->passed = 0;
	model_now = (__u64)event->now_ms * 1000000;
	if (event->kind == EVENT_DATA || event->kind == EVENT_OWN)
		data(event);
	else if (event->kind == EVENT_TAKE)
		take(event);
	else
		answer(event);
	return 0;
}

SEC("tc")
int multicast_model(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct events *events = bpf_map_lookup_elem(&model_events, &zero);
	if (events)
		loop(events->count, run_event, 0, 0);
	return 0;
}

// --- Two CPUs ---

#define LANES 2
#define LANE_EVENTS 4096
#define STEP 64 // events between two meetings
// Looks for the other CPU, at the first meeting and at the others; then without it.
#define PATIENCE_FIRST 4000000
#define PATIENCE 30000

// An answer of a receiver to the edge role of group 0, in the machine's byte order; 40 bytes.
struct race_event {
	__u32 sender;
	__u32 psn;
	__u32 syndrome;
	// Results: when it came and when it was done, and what went up.
	__u32 passed;
	__u32 up_psn;
	__u32 up_syndrome;
	__u64 began;
	__u64 ended;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LANES *LANE_EVENTS);
	__type(key, __u32);
	__type(value, struct race_event);
} race_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LANE_EVENTS / STEP);
	__type(key, __u32);
	__type(value, __u64);
} race_meetings SEC(".maps");

static long look(__u32 index, __u64 **arrived)
{
	return *(volatile __u64 *)*arrived >= LANES;
}

static __always_inline void meet(__u32 meeting)
{
	__u64 *arrived = bpf_map_lookup_elem(&race_meetings, &meeting);
	if (!arrived)
		return;
	__sync_fetch_and_add(arrived, 1);
	loop(meeting == 0 ? PATIENCE_FIRST : PATIENCE, look, &arrived, 0);
}

static long race_event(__u32 index, __u32 *lane)
{
	__u32 at = *lane * LANE_EVENTS + index;
	struct race_event *event = bpf_map_lookup_elem(&race_events, &at);
	if (!event)
		return 1;
	if (index % STEP == 0)
		meet(index / STEP);
	struct address sender = { .words = { 0, 0, 0, event->sender } };
	struct multicast_upward up = {};
	struct multicast_claim claim = { .state = MULTICAST_STATE(0, MULTICAST_AS_EDGE),
					 .next = (event->psn + !nak_rank(event->syndrome)) & PSN_MASK,
					 .syndrome = event->syndrome };
	event->began = bpf_ktime_get_ns();
	event->passed = claim_of(&claim, &sender) && multicast_climb(&claim, &up);
	event->ended = bpf_ktime_get_ns();
	event->up_psn = up.psn;
	event->up_syndrome = up.syndrome;
	return 0;
}

// Runs the events of lane `mark`.
SEC("tc")
int multicast_race(struct __sk_buff *skb)
{
	__u32 lane = skb->mark & (LANES - 1);
	loop(LANE_EVENTS, race_event, &lane, 0);
	return 0;
}
