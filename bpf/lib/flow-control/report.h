// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reports a packet that found a queue filled, as it arrived: the neighbor from which it came knows it by that.
#ifndef CNPD_FLOW_CONTROL_REPORT_H
#define CNPD_FLOW_CONTROL_REPORT_H

#include "flow-control/arrival.h"
#include "flow-control/contribution.h"
#include "token-bucket.h"

static __always_inline int told_lately(const __u64 *told, const struct flow_control_config *config, __u64 now)
{
	return told && now - *(volatile const __u64 *)told < config->interval_ns;
}

// Whether this CPU is the one to report. The bucket comes first: what it refuses is not told, and comes again.
static __always_inline int report_claimed(const struct flow_control_told_key *key,
					  const struct flow_control_config *config, __u64 now)
{
	__u32 zero = 0;
	__u64 *told = bpf_map_lookup_elem(&flow_control_told, key);
	__u64 *bucket = bpf_map_lookup_elem(&flow_control_bucket, &zero);
	__u64 before = told ? *(volatile __u64 *)told : 0;
	if (told_lately(told, config, now)) {
		count(COUNT_FLOW_CONTROL_SUPPRESSED);
		return 0;
	}
	if (!bucket || bucket_full(bucket, config->spacing_ns, config->burst_ns, now)) {
		count(COUNT_FLOW_CONTROL_LIMITED);
		return 0;
	}
	int claimed = told ? __sync_val_compare_and_swap(told, before, now) == before
			   : bpf_map_update_elem(&flow_control_told, key, &now, BPF_NOEXIST) == 0;
	if (!claimed)
		count(COUNT_FLOW_CONTROL_SUPPRESSED);
	return claimed;
}

// Returns why the packet is not reported, or 0. Fills the key of its traffic.
static __always_inline enum counter report_refused(struct __sk_buff *skb, const struct flow_control_arrival *arrival,
						   const struct flow_control_config *config, __u64 now)
{
	if (!arrival || (__s64)(now - arrival->seen_ns) > (__s64)ARRIVAL_LIFE_NS)
		return COUNT_FLOW_CONTROL_NO_ARRIVAL;
	if (!came_by(skb, arrival))
		return COUNT_FLOW_CONTROL_OTHER_ARRIVAL;
	if (arrival->ifindex == skb->ifindex)
		return COUNT_FLOW_CONTROL_HAIRPIN;
	if (config->kind == HOLD_SERVICE && !arrival->outermost.is_tunnel)
		return COUNT_FLOW_CONTROL_NO_TUNNEL;
	return 0;
}

// A packet in a queue of `depth` bytes is only counted while that is not above `above`.
__noinline int flow_control_report(struct __sk_buff *skb, const struct flow_control_flow *flow, __u32 reason,
				   __u32 depth, __u32 above)
{
	const struct flow_control_config *config = flow_control_configuration();
	__u64 now = bpf_ktime_get_ns();
	struct flow_control_told_key key = { .egress = skb->ifindex, .reason = reason };
	if (!flow || !config)
		return 0;
	const struct flow_control_arrival *arrival = map_find(&flow_control_arrivals, flow);
	int is_filled = reason == FLOW_CONTROL_HELD || depth > above;
	enum counter why = report_refused(skb, arrival, config, now);
	if (why || !arrival) {
		if (is_filled)
			count(why);
		return 0;
	}
	traffic_key(&key.traffic, config->kind, &arrival->outermost, flow, arrival->ifindex);
	if (reason == FLOW_CONTROL_QUEUE && !contributes(&key.traffic, skb->ifindex, config, skb->wire_len, now))
		why = COUNT_FLOW_CONTROL_NOT_CONTRIBUTING;
	if (!is_filled)
		return 0;
	if (why) {
		count(why);
		return 0;
	}
	if (!report_claimed(&key, config, now))
		return 0;
	struct flow_control_record *record = bpf_ringbuf_reserve(&flow_control_records, sizeof(*record), 0);
	if (!record) {
		count(COUNT_FLOW_CONTROL_RECORD_LOST);
		return 0;
	}
	record->time_ns = now;
	record->traffic = key.traffic;
	record->came_from = arrival->outermost.source;
	record->egress = skb->ifindex;
	record->depth = depth;
	__builtin_memcpy(record->source_mac, arrival->source_mac, sizeof(record->source_mac));
	record->reason = reason;
	record->reserved = 0;
	bpf_ringbuf_submit(record, 0);
	count(COUNT_FLOW_CONTROL_RECORDED);
	return 1;
}

#endif
