// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The measurements of a monitored port (LHCNP §5.3.1). The depth of its queue is read on every RoCEv2 data packet. The
// growth of the queue, and the share of the RoCEv2 data packets that left with CE, are measured per interval. An
// interval ends with the first packet of any kind after its time, even over an empty queue. Only packets of the port
// make its queue grow, so nothing is missed without packets. Growth is measured since the interval began and scaled to
// one interval. A marking rate older than an interval is not used. Time is that of the kernel's timer tick: an interval
// shorter than a tick lasts a tick.
#ifndef CNPD_DETECTOR_MONITOR_H
#define CNPD_DETECTOR_MONITOR_H

#include "detector/maps.h"

#define PPM 1000000
// More than the CPUs of any kernel.
#define ALL_CPUS 8192
// Two timer ticks of the slowest kernel.
#define MEASURE_SLACK_NS 20000000ULL

static __always_inline void record_peak(__u32 slot, __u32 depth)
{
	__u64 *peak = bpf_map_lookup_elem(&egress_peaks, &slot);
	if (!peak)
		return;
	for (int attempt = 0; attempt < 4; attempt++) {
		__u64 seen = *(volatile __u64 *)peak;
		if (depth <= seen || __sync_val_compare_and_swap(peak, seen, depth) == seen)
			return;
	}
}

struct packet_totals {
	__u64 packets, left_with_ce;
	__u32 slot;
};

static long add_cpu(__u32 cpu, struct packet_totals *totals)
{
	struct egress_stats *stats = bpf_map_lookup_percpu_elem(&egress_stats, &totals->slot, cpu);
	if (!stats)
		return 1;
	totals->packets += stats->packets;
	totals->left_with_ce += stats->left_with_ce;
	return 0;
}

// Ends the interval that began at `start` (only one CPU does) and begins the next.
static __noinline int measure_interval(struct egress_measure *measure, const struct egress_port *port, __u32 slot,
				       __u32 depth, __u64 now)
{
	struct packet_totals totals = { .slot = slot };
	__u64 start = *(volatile __u64 *)&measure->interval_start;
	__u64 elapsed = now - start, interval = port->interval_ns;
	if ((__s64)elapsed < (__s64)interval ||
	    __sync_val_compare_and_swap(&measure->interval_start, start, now) != start)
		return 0;
	bpf_loop(ALL_CPUS, add_cpu, &totals, 0);
	__u64 packets = totals.packets - measure->start_packets,
	      marked = totals.left_with_ce - measure->start_left_with_ce;
	__u32 before = measure->start_depth;
	int stale = start == 0 || elapsed > 2 * interval + MEASURE_SLACK_NS;
	measure->start_packets = totals.packets;
	measure->start_left_with_ce = totals.left_with_ce;
	measure->start_depth = depth;
	measure->growth = start == 0 || depth <= before
				  ? 0
				  : (__u64)(depth - before) * ((interval >> 10) | 1) / ((elapsed >> 10) | 1);
	measure->ecn_ppm = stale || packets == 0 ? 0 : marked * PPM / packets;
	return 0;
}

// Which condition of LHCNP §5.4 holds, if any.
static __always_inline enum reason trigger_reason(const struct egress_port *port, const struct egress_measure *measure,
						  __u32 depth)
{
	if (depth > port->k_max)
		return REASON_QUEUE_DEPTH;
	if (measure->ecn_ppm > port->v_ecn)
		return REASON_ECN_MARKING_RATE;
	if (measure->growth > port->v_growth)
		return REASON_QUEUE_GROWTH;
	return REASON_NONE;
}

// Returns the metric of a Long-haul CNP: the value that caused the trigger (LHCNP §6.1).
static __always_inline __u32 metric_of(enum reason reason, const struct egress_port *port,
				       const struct egress_measure *measure, __u32 depth)
{
	if (reason == REASON_ECN_MARKING_RATE)
		return METRIC(METRIC_ECN_PERCENT, measure->ecn_ppm / (PPM / 100));
	if (reason == REASON_QUEUE_GROWTH)
		return METRIC(METRIC_GROWTH_KB_PER_MS,
			      (__u64)measure->growth * 1000 / (port->interval_ns | 1)); // bytes/ns = 1000 kB/ms
	return METRIC(METRIC_QUEUE_DEPTH_KB, depth / 1000);
}

// A packet has seen congestion. Updates the time since which no RTT has passed without congestion.
static __always_inline void record_congestion(struct egress_measure *measure, const struct egress_port *port, __u64 now)
{
	if ((__s64)(now - measure->last_congested) > (__s64)port->rtt_ns)
		measure->congested_since = now;
	measure->last_congested = now;
}

#endif
