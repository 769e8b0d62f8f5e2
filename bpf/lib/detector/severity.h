// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The content of a Long-haul CNP (LHCNP §5.5.1) and its deferral (LHCNP §5.7). The depth of the queue selects a row of
// the port's instructions. If the flow's arrival rate has just fallen, a node (another one upstream, or this one) has
// already notified its sender. The flow is then deferred for a round-trip time (LHCNP-5.7-b, LHCNP-5.7-c, LHCNP-5.7-d).
// A stricter row than that of the depth is used if the queue is deeper after that, or deeper than at this router's last
// notification, or still at its limit (LHCNP-5.7-e). All this is forgotten once the queue has been at or below K_min
// for a round-trip time.
#ifndef CNPD_DETECTOR_SEVERITY_H
#define CNPD_DETECTOR_SEVERITY_H

#include "detector/congestion.h"

#define NO_ROW (-1)
// Added to a row that is stricter than that of the depth.
#define ROW_ESCALATED 0x100
#define ROW_OF(chosen) ((chosen) & (INSTRUCTIONS - 1))

// PNC-4-f: level n from level_bytes[n] upwards.
static __always_inline __u32 congestion_level(const struct egress_port *port, __u32 depth)
{
	__u32 level = 0;
#pragma clang loop unroll(full)
	for (__u32 n = 1; n < CONGESTION_LEVELS; n++)
		if (depth >= port->level_bytes[n])
			level = n;
	return level;
}

// By the depth of the queue alone. The first row is for triggers below K_max.
static __always_inline int row_of_depth(const struct egress_port *port, __u32 depth)
{
	int row = 0;
	if (depth <= port->k_max)
		return row;
#pragma clang loop unroll(full)
	for (__u32 n = 1; n < INSTRUCTIONS; n++)
		if (n < port->instruction_count && depth >= port->instructions[n].from_bytes)
			row = n;
	return row;
}

// Arrival rate for comparisons only: bytes × 2²⁰ per 64 ns. Precise enough for one packet in ten seconds, without
// overflow for 100 s at 800 Gb/s.
static __always_inline __u64 rate_over(__u64 bytes, __u64 elapsed)
{
	return (bytes << 20) / (elapsed >> 6 | 1);
}

// Ends the flow's window when its time is over. If its rate is markedly lower than in the window before, the flow is
// deferred for another window. Exception: it has just been deferred, and the queue is deeper nevertheless.
static __noinline int rate_observe(struct congestion *c)
{
	struct flow *flow = c->flow;
	__u64 window = c->port->rtt_ns, start = *(volatile __u64 *)&flow->rate_start, bytes = flow->bytes;
	if (c->port->deferral == 0 || window == 0)
		return 0;
	int fresh = start == 0 || (__s64)(c->measure->congested_since - start) > 0;
	if (!fresh && (__s64)(c->now - start) < (__s64)window)
		return 0;
	if (__sync_val_compare_and_swap(&flow->rate_start, start, c->now) != start)
		return 0;
	__u64 rate = rate_over(bytes - flow->rate_start_bytes, c->now - start), before = flow->rate_before;
	flow->rate_start_bytes = bytes;
	if (fresh) {
		flow->rate_before = 0;
		flow->deferred_until = 0;
		return 0;
	}
	flow->rate_before = rate;
	int fell = before != 0 && rate * 256 <= before * (256 - c->port->deferral);
	int worse = flow->deferred_until != 0 && c->depth > flow->deferred_depth;
	if (fell && !worse) {
		flow->deferred_depth = c->depth;
		flow->deferred_until = c->now + window;
	}
	return 0;
}

// Returns the row of a Long-haul CNP about a packet of this flow, or NO_ROW: not now. A global function: the verifier
// follows what comes after it once, not once for each row.
__noinline int choose_row(const struct egress_port *port, const struct flow *flow, const struct egress_measure *measure,
			  __u32 depth, __u64 now)
{
	if (!port || !flow || !measure)
		return NO_ROW;
	if (flow->deferred_until != 0 && (__s64)(now - flow->deferred_until) < 0)
		return NO_ROW;
	int row = row_of_depth(port, depth);
	int notified =
		is_long_haul(flow->notified_format) && (__s64)(flow->notified_at - measure->congested_since) >= 0;
	// A queue at its limit drops packets and cannot become deeper. It is enough that it has stayed at or above the
	// highest congestion level.
	__u32 limit = port->level_bytes[CONGESTION_LEVELS - 1];
	int worse = depth > flow->notified_depth || (depth >= limit && flow->notified_depth >= limit);
	int ineffective = (flow->deferred_until != 0 && depth > flow->deferred_depth) || (notified && worse);
	if (!ineffective)
		return row;
	int reached = notified && flow->notified_row > row ? flow->notified_row : row,
	    strictest = port->instruction_count - 1;
	if (reached >= strictest)
		return strictest; // nothing stricter is declared; a reload may have removed the row of the last
				  // notification
	return (reached + 1) | ROW_ESCALATED;
}

#endif
