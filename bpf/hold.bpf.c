// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds single flows in place of their senders, at tc egress of a port. The packets of a held flow go into an HTB class
// of their own, whose rate the agent sets over netlink; all others go straight, untouched. While nothing is held, the
// program returns at once.
//
// No packet overtakes another of its flow. When a flow enters its class, what went straight before is in the direct
// queue of the HTB, which precedes all classes. When it leaves, its packets follow the others into the class until that
// is empty: until the agent has seen as many leave it as have entered. An ended hold is remembered in its record, since
// what the agent has seen may be old by the next packet.
#include "kernel.h"
#include "hold/packet.h"

LICENSE;

// Whether the packet goes straight since its flow leaves the class and nothing of it is in there any more.
static __always_inline int has_left(const struct hold *hold, struct hold_record *record)
{
	if (hold->phase == HOLD_HELD) {
		record->released = 0;
		return 0;
	}
	if (record->released) {
		count(COUNT_HOLD_STRAIGHT);
		return 1;
	}
	if (record->entered != hold->drained) {
		count(COUNT_HOLD_LEAVING);
		return 0;
	}
	record->released = 1;
	count(COUNT_HOLD_RELEASED);
	return 1;
}

static __always_inline void enter(struct __sk_buff *skb, const struct hold *hold, struct hold_record *record, __u64 now,
				  const struct held_packet *packet)
{
	__u32 ifindex = skb->ifindex, segments = skb->gso_segs ? skb->gso_segs : 1;
	const struct hold_port *port = bpf_map_lookup_elem(&hold_ports, &ifindex);
	if (!port) {
		record->unheld = 1;
		count(COUNT_HOLD_UNCONFIGURED);
		return;
	}
	if (packet->share == SHARE_ANSWER && !record->responses) {
		count(COUNT_HOLD_ANSWERS_PASSED);
		return;
	}
	if (has_left(hold, record))
		return;
	if (packet->share == SHARE_RESPONSE)
		record->responses = 1;
	__sync_fetch_and_add(&record->entered, segments);
	record->last_seen = now;
	record->unheld = 0;
	if (skb->len > record->longest && segments == 1)
		record->longest = skb->len;
	skb->priority = (port->handle & 0xffff0000) | hold->minor;
	count(COUNT_HOLD_HELD);
}

SEC("tc")
int hold(struct __sk_buff *skb)
{
	__u32 zero = 0;
	const struct hold_state *state = bpf_map_lookup_elem(&hold_state, &zero);
	if (!state || likely(!state->holds[HOLD_FLOW]))
		return TC_NEXT;
	struct held_packet packet = { .key.kind = HOLD_FLOW };
	int parsed = parse_fast(skb, &packet);
	if (parsed == PARSED_UNKNOWN)
		parsed = parse_walk(skb, &packet);
	if (likely(parsed != PARSED_FOUND))
		return TC_NEXT;
	const struct hold *hold = bpf_map_lookup_elem(&holds, &packet.key);
	if (!hold)
		return TC_NEXT;
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	struct hold_record *record = bpf_map_lookup_elem(&hold_records, &slot);
	if (!record || (hold->phase != HOLD_HELD && hold->phase != HOLD_LEAVING)) {
		count(COUNT_HOLD_INVALID);
		return TC_NEXT;
	}
	__u64 now = bpf_ktime_get_ns();
	if (now >= hold->until_ns)
		count(COUNT_HOLD_EXPIRED);
	else
		enter(skb, hold, record, now, &packet);
	return TC_NEXT;
}
