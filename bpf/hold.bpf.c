// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Holds traffic at tc egress of a port: its packets go into an HTB class of their own, whose rate the agent sets over
// netlink, or get departure times that the port's fq keeps; all others go straight, untouched.
//
// - `hold`: single flows in place of their senders (LHCNP §5.6). While none is held, it returns at once.
// - `flow_control_egress`: what the downstream neighbor at the port has asked to pause (FCN §4.1.2). It also reports
//   packets that find the port's queue filled, so that the agent asks the upstream neighbor.
// - `flow_control_arrival`, at tc ingress: from which upstream neighbor a flow comes, and how it looks on that link.
#include "kernel.h"
#include "flow-control/arrival.h"
#include "flow-control/held-traffic.h"
#include "flow-control/report.h"
#include "hold/class.h"
#include "hold/edt.h"
#include "hold/packet.h"
#include "queue-depth.h"

LICENSE;

static __always_inline int enter(struct __sk_buff *skb, const struct hold *hold, struct hold_record *record, __u64 now,
				 const struct held_packet *packet)
{
	__u32 ifindex = skb->ifindex;
	const struct hold_port *port = bpf_map_lookup_elem(&hold_ports, &ifindex);
	if (!port || !port->handle) {
		record->unheld = 1;
		count(COUNT_HOLD_UNCONFIGURED);
		depart_behind(skb, packet->share, &record->responses, last_departure(record), now);
		return TC_NEXT;
	}
	if (packet->share == SHARE_ANSWER && !record->responses) {
		if (port->handle == HOLD_EDT)
			depart_beside(skb);
		count(COUNT_HOLD_ANSWERS_PASSED);
		return TC_NEXT;
	}
	if (has_left(hold, record, now))
		return TC_NEXT;
	if (packet->share == SHARE_RESPONSE)
		record->responses = 1;
	record->unheld = 0;
	if (port->handle == HOLD_EDT)
		return hold_until_due(skb, hold, record, now, packet->share);
	put_into_class(skb, port->handle, hold, record, now);
	return TC_NEXT;
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
	struct hold_record *record = 0;
	__u64 now = 0;
	struct hold *hold = bpf_map_lookup_elem(&holds, &packet.key);
	if (!hold)
		return TC_NEXT;
	if (hold->phase == HOLD_BEHIND)
		depart_behind(skb, packet.share, &hold->responses, hold->until_ns, bpf_ktime_get_ns());
	else if (is_in_force(hold, &record, &now))
		return enter(skb, hold, record, now, &packet);
	else if (record && now)
		depart_behind(skb, packet.share, &record->responses, last_departure(record), now);
	return TC_NEXT;
}

// Whether the port's queue is above half of its threshold without what is held: held packets must not make others be
// paused.
// What has entered classes since the agent looked counts as still there, so the depth is too low rather than too high.
static __always_inline int is_filled(struct __sk_buff *skb, const struct hold_port *port, __u32 *depth)
{
	__u32 total, ifindex = skb->ifindex;
	if (queue_depth(skb, &total) < 0) {
		count(COUNT_FLOW_CONTROL_NO_QUEUE);
		return 0;
	}
	if (likely(total <= port->above / 2))
		return 0;
	const __u64 *entered = bpf_map_lookup_elem(&hold_port_bytes, &ifindex);
	__u64 held = port->held + (entered ? *(volatile const __u64 *)entered - port->entered : 0);
	*depth = total > held ? total - held : 0;
	return *depth > port->above / 2;
}

SEC("tc")
int flow_control_egress(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex, depth = 0;
	const struct flow_control_config *config = flow_control_configuration();
	const struct hold_port *port = bpf_map_lookup_elem(&hold_ports, &ifindex);
	if (!config || !config->kind || !port)
		return TC_NEXT;
	struct traffic packet = {};
	__u32 reason = FLOW_CONTROL_HELD;
	enum held held = port->handle ? hold_traffic(skb, config, port->handle, &packet) : HELD_NOT;
	if (held == HELD_IN_CLASS)
		return TC_NEXT;
	if (held == HELD_NOT) {
		if (!port->above || likely(!is_filled(skb, port, &depth)))
			return TC_NEXT;
		reason = FLOW_CONTROL_QUEUE;
	}
	if (traffic_read(skb, config, &packet) && traffic_read_flow(skb, &packet))
		flow_control_report(skb, &packet.flow, reason, depth, port->above);
	return TC_NEXT;
}

SEC("tc")
int flow_control_arrival(struct __sk_buff *skb)
{
	const struct flow_control_config *config = flow_control_configuration();
	struct traffic packet = {};
	if (!config || !config->kind || is_of_vlan(skb))
		return TC_NEXT;
	if (traffic_read(skb, config, &packet) && traffic_read_flow(skb, &packet))
		flow_control_learn(skb, &packet);
	return TC_NEXT;
}
