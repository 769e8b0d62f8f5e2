// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which flows fill the queue (LHCNP-5.5-a, LHCNP-5.5-b). A flow's share is what it sent into the congested queue, in
// windows that are the port's measurement interval (share.h); the largest one of a port is kept as packets come.
#ifndef CNPD_DETECTOR_CONTRIBUTION_H
#define CNPD_DETECTOR_CONTRIBUTION_H

#include "detector/flows.h"
#include "share.h"

// Counts a packet that found the queue congested.
static __always_inline void share_count(struct egress_measure *measure, const struct egress_port *port,
					struct flow *flow, __u32 length, __u64 now)
{
	__u64 window = now / (port->interval_ns | 1);
	struct share_place share = { &flow->share_window, &flow->share_now, &flow->share_before };
	struct largest_place largest = { &measure->share_window, &measure->largest_now, &measure->largest_share };
	share_add(&share, &largest, window, length);
}

static __always_inline int contributes(const struct egress_measure *measure, const struct egress_port *port,
				       const struct flow *flow)
{
	return (flow->share_now + flow->share_before) * 256 >= measure->largest_share * port->contribution;
}

#endif
