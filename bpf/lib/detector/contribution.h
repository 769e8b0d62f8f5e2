// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which flows fill the queue (LHCNP-5.5-a, LHCNP-5.5-b). A flow's share is the bytes that it sent into the congested
// queue in this window of the port's measurement interval and the previous one; the largest share of a port is kept as
// packets come. With the previous window, a flow is not large just because it is the first one of a new window. Several
// CPUs may count at once and lose a packet's bytes at a window's beginning; a share is an estimate.
#ifndef CNPD_DETECTOR_CONTRIBUTION_H
#define CNPD_DETECTOR_CONTRIBUTION_H

#include "detector/flows.h"

// Counts a packet that found the queue congested.
static __always_inline void share_count(struct egress_measure *measure, const struct egress_port *port,
					struct flow *flow, __u32 length, __u64 now)
{
	__u64 window = now / (port->interval_ns | 1);
	if (measure->share_window != window) {
		// Of the window before, the largest flow still counts: no flow is large beside it with one packet.
		measure->largest_share = measure->share_window + 1 == window ? measure->largest_now : 0;
		measure->largest_now = 0;
		measure->share_window = window;
	}
	if (flow->share_window != window) {
		flow->share_before = flow->share_window + 1 == window ? flow->share_now : 0;
		flow->share_now = 0;
		flow->share_window = window;
	}
	__sync_fetch_and_add(&flow->share_now, length);
	__u64 now_bytes = flow->share_now, share = now_bytes + flow->share_before;
	if (now_bytes > measure->largest_now)
		measure->largest_now = now_bytes;
	if (share > measure->largest_share)
		measure->largest_share = share;
}

static __always_inline int contributes(const struct egress_measure *measure, const struct egress_port *port,
				       const struct flow *flow)
{
	return (flow->share_now + flow->share_before) * 256 >= measure->largest_share * port->contribution;
}

#endif
