// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The congested node. `egress` runs at tc egress of a monitored port. It keeps the flow table (LHCNP §5.2), measures
// the port (LHCNP §5.3.1, detector/monitor.h), and marks CE above K_min (LHCNP-5.4-a, detector/mark-ce.h). When a
// condition of LHCNP §5.4 holds, it picks the flows that fill the queue (detector/contribution.h), a format that their
// sender understands (detector/policy.h), and the content (detector/severity.h). It then hands a clone of the packet to
// `notice` on the loopback interface (builder/notice.h), which turns it into the notification. The agent runs
// `egress_age` periodically to age the flow table, and `egress_resume` before it sends a Resume.
//
// It acts on RoCEv2 packets with data, so never on a notification; of other packets only the time and the queue depth
// count. It passes every packet on, whatever its content. It does not choose thresholds, shape, drop, or send to the
// sender itself.
#include "kernel.h"
#include "builder/notice.h"
#include "detector/contribution.h"
#include "detector/data-packet.h"
#include "detector/flows.h"
#include "detector/layout.h"
#include "detector/limits.h"
#include "detector/mark-ce.h"
#include "detector/monitor.h"
#include "detector/notify.h"
#include "detector/policy.h"
#include "detector/port-depth.h"
#include "detector/severity.h"

LICENSE;

static __always_inline struct flow *flow_of(const struct data_packet *packet, const struct egress_config *config,
					    __u64 now)
{
	__u64 hash = flow_hash(&packet->key, config->flow_seed);
	__u32 index = FLOW_SET(hash), tag = FLOW_TAG(hash);
	struct flow_set *set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return 0;
	struct flow *flow = flow_find(set, &packet->key, tag);
	if (likely(flow && (__s64)(now - flow->last_seen) <= (__s64)config->flow_ageing_ns))
		return flow;
	int made = flow_make(set, &packet->key, tag, now, config->flow_ageing_ns);
	int outcome = made >> 8;
	if (outcome != FLOW_FOUND)
		count(COUNT_EGRESS_FLOW_CREATED);
	if (outcome == FLOW_AGED)
		count(COUNT_EGRESS_FLOW_AGED);
	else if (outcome == FLOW_EVICTED)
		count(COUNT_EGRESS_FLOW_EVICTED);
	return &set->ways[made & (FLOW_WAYS - 1)];
}

static __always_inline void count_trigger(const struct congestion *c)
{
	count(COUNT_EGRESS_TRIGGERS);
	c->stats->triggers++;
	if (c->reason == REASON_ECN_MARKING_RATE)
		count(COUNT_EGRESS_TRIGGER_ECN);
	else if (c->reason == REASON_QUEUE_GROWTH)
		count(COUNT_EGRESS_TRIGGER_GROWTH);
}

// Whether a notification can be built from this packet (builder/notice.h). Otherwise the flow must not be recorded as
// notified, or it would not be marked either.
static __always_inline int is_buildable(struct __sk_buff *skb)
{
	if (likely(!checksum_is_partial(skb)))
		return 1;
	count(COUNT_NOTICE_CHECKSUM_PARTIAL);
	return 0;
}

// Whether this trigger may become a notification, and which. It checks the flow's interval, its share, the format, the
// instruction, then the port's bucket, so that no token is spent without a notification. A sender without a possible
// format is looked up once per interval.
static __noinline int admit(struct __sk_buff *skb, struct congestion *c)
{
	const struct egress_port *port = c->port;
	__u64 interval = port->flow_interval_ns;
	__u64 long_haul_interval = port->rtt_ns > interval ? port->rtt_ns : interval; // LHCNP-5.5-h
	if (flow_waits(c->flow, is_long_haul(c->flow->notified_format) ? long_haul_interval : interval, c->now))
		goto flow_limited;
	if (bucket_empty(c->bucket, port, c->now))
		goto port_limited;
	if (!contributes(c->measure, port, c->flow)) {
		count(COUNT_EGRESS_NOT_CONTRIBUTING);
		c->stats->not_contributing++;
		return 0;
	}
	choose_format(skb, c);
	if (is_long_haul(c->format)) {
		int row = choose_row(port, c->flow, c->measure, c->depth, c->now);
		if (row == NO_ROW) {
			count(COUNT_EGRESS_DEFERRED);
			c->stats->deferred++;
			return 0;
		}
		c->row = ROW_OF(row);
		if (row & ROW_ESCALATED)
			c->reason = REASON_ESCALATION;
		interval = long_haul_interval;
	}
	if (!flow_take(c->flow, interval, c->now))
		goto flow_limited;
	if (c->format == FORMAT_NONE) {
		c->stats->no_format++;
		return 0;
	}
	if (bucket_take(c->bucket, port, c->now))
		return 1;
port_limited:
	count(COUNT_EGRESS_SUPPRESSED_PORT);
	c->stats->suppressed_port++;
	return 0;
flow_limited:
	count(COUNT_EGRESS_SUPPRESSED_FLOW);
	c->stats->suppressed_flow++;
	return 0;
}

// Whether the port's measurement interval is over. The time is the tick's.
static __always_inline int interval_over(const struct egress_port *port, const struct egress_measure *measure,
					 __u64 now)
{
	return (__s64)(now - measure->interval_start) >= (__s64)port->interval_ns;
}

// Other traffic fills the queue as well, so it too ends the port's intervals (LHCNP-5.3.1-b, LHCNP-5.3.1-c). Nothing
// else is done with it.
static __always_inline int other_traffic(struct __sk_buff *skb)
{
	__u32 slot, depth = 0;
	struct egress_port *port = find_port(skb->ifindex, &slot);
	struct egress_measure *measure = bpf_map_lookup_elem(&egress_measures, &slot);
	if (unlikely(!port || !measure))
		return TC_NEXT;
	// The tick's time changes with the tick. Its number is a load, its time a call: 2 ns against 14.
	__u32 tick = bpf_jiffies64();
	if (likely(measure->tick == tick))
		return TC_NEXT;
	measure->tick = tick;
	__u64 now = bpf_ktime_get_coarse_ns();
	if (!interval_over(port, measure, now) || port_depth(skb, port, slot, &depth) < 0)
		return TC_NEXT;
	record_peak(slot, depth);
	measure_interval(measure, port, slot, depth, now);
	return TC_NEXT;
}

SEC("tc")
int egress(struct __sk_buff *skb)
{
	struct data_packet packet;
	enum parsed parsed = parse_plain(skb, &packet);
	if (unlikely(parsed == PARSED_UNKNOWN))
		parsed = parse_srv6(skb, &packet);
	if (unlikely(parsed == PARSED_UNKNOWN))
		parsed = parse_walk(skb, &packet);
	if (parsed != PARSED_DATA)
		return other_traffic(skb);

	__u32 slot, zero = 0, depth = 0;
	struct egress_port *port = find_port(skb->ifindex, &slot);
	struct egress_config *config = bpf_map_lookup_elem(&egress_config, &zero);
	struct egress_stats *stats = bpf_map_lookup_elem(&egress_stats, &slot);
	if (unlikely(!port || !config || !stats)) {
		count(COUNT_EGRESS_UNCONFIGURED);
		return TC_NEXT;
	}
	packet.key.context ^= port->tenant;
	__u64 now = bpf_ktime_get_coarse_ns();
	__u32 length = skb->len;
	stats->packets++;
	stats->bytes += length;
	struct flow *flow = flow_of(&packet, config, now);
	if (unlikely(!flow))
		return TC_NEXT;
	flow_count(flow, length, packet.psn, skb->ifindex, now);
	if (unlikely(port_depth(skb, port, slot, &depth) < 0)) {
		count(COUNT_EGRESS_NO_QUEUE);
		return TC_NEXT;
	}
	struct egress_measure *measure = bpf_map_lookup_elem(&egress_measures, &slot);
	if (unlikely(!measure))
		return TC_NEXT;
	if (interval_over(port, measure, now))
		measure_interval(measure, port, slot, depth, now);
	if (depth == 0)
		return TC_NEXT;
	record_peak(slot, depth);
	__u64 *bucket = bpf_map_lookup_elem(&egress_buckets, &slot);
	if (unlikely(!bucket))
		return TC_NEXT;
	enum reason reason = trigger_reason(port, measure, depth);
	if (likely(depth <= port->k_min && reason == REASON_NONE))
		return TC_NEXT;

	struct congestion c = {
		.packet = &packet,
		.config = config,
		.port = port,
		.stats = stats,
		.measure = measure,
		.flow = flow,
		.bucket = bucket,
		.now = bpf_ktime_get_ns(),
		.depth = depth,
		.reason = reason,
	};
	record_congestion(measure, port, c.now);
	__sync_fetch_and_add(&flow->congested_bytes, length);
	share_count(measure, port, flow, length, c.now);
	rate_observe(&c);
	if (reason != REASON_NONE) {
		count_trigger(&c);
		if (is_buildable(skb) && admit(skb, &c))
			notify(skb, &c); // before marking: the notice carries the packet as it arrived
	}
	if (depth > port->k_min)
		mark_ce(skb, &c);
	return TC_NEXT;
}

static long age_set(__u32 index, __u64 *ageing)
{
	struct flow_set *set = bpf_map_lookup_elem(&flows, &index);
	if (!set)
		return 1;
	int freed = flow_age_set(set, bpf_ktime_get_coarse_ns(), *ageing);
	for (int i = 0; i < FLOW_WAYS; i++)
		if (i < freed)
			count(COUNT_EGRESS_FLOW_AGED);
	return 0;
}

// Frees aged entries of the whole flow table. Run by the agent with BPF_PROG_TEST_RUN; never attached.
SEC("tc")
int egress_age(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct egress_config *config = bpf_map_lookup_elem(&egress_config, &zero);
	if (!config)
		return 0;
	__u64 ageing = config->flow_ageing_ns;
	bpf_loop(FLOW_SETS, age_set, &ageing, 0);
	return 0;
}

// The agent runs it with BPF_PROG_TEST_RUN before it sends a Resume; it is never attached. A Resume counts like every
// Long-haul CNP of the port (LHCNP-9-f) and of the flow (LHCNP-5.5-h). The flow remembers it, so that a restarted agent
// does not send it again.
SEC("tc")
int egress_resume(struct __sk_buff *skb)
{
	struct resume_claim claim = {};
	__u32 slot, zero = 0;
	if (bpf_skb_load_bytes(skb, ETH_HLEN, &claim, sizeof(claim)) < 0)
		return RESUME_UNKNOWN_PORT;
	struct egress_port *port = find_port(claim.ifindex, &slot);
	struct egress_config *config = bpf_map_lookup_elem(&egress_config, &zero);
	if (!port || !config)
		return RESUME_UNKNOWN_PORT;
	// As for the flow's packets: flows in labels, GRE or VXLAN are not notified directly.
	claim.key.context ^= port->tenant;
	__u64 *bucket = bpf_map_lookup_elem(&egress_buckets, &slot);
	__u64 hash = flow_hash(&claim.key, config->flow_seed), now = bpf_ktime_get_ns();
	__u32 index = FLOW_SET(hash);
	struct flow_set *set = bpf_map_lookup_elem(&flows, &index);
	if (!bucket || !set)
		return RESUME_UNKNOWN_PORT;
	struct flow *flow = flow_find(set, &claim.key, FLOW_TAG(hash));
	__u64 interval = port->rtt_ns > port->flow_interval_ns ? port->rtt_ns : port->flow_interval_ns;
	if (flow && flow_waits(flow, interval, now))
		return RESUME_FLOW_WAITS;
	if (!bucket_take(bucket, port, now))
		return RESUME_PORT_WAITS;
	if (flow) {
		flow_take(flow, interval, now);
		flow->notified_action = ACTION_RESUME;
	}
	return RESUME_GRANTED;
}

SEC("tc")
int notice(struct __sk_buff *skb)
{
	return notice_on_loopback(skb);
}
