// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How often notifications are sent: the least interval between two for one flow, and the token bucket of the port.
// Right on any number of CPUs.
#ifndef CNPD_DETECTOR_LIMITS_H
#define CNPD_DETECTOR_LIMITS_H

#include "detector/flows.h"

// Whether the flow was notified less than `interval` ago.
static __always_inline int flow_waits(const struct flow *flow, __u64 interval, __u64 now)
{
	__u64 last = *(volatile __u64 *)&flow->last_notice;
	return last != 0 && (__s64)(now - last) < (__s64)interval;
}

// The flow's limit (PNC-6-b, LHCNP-5.5-g): of several CPUs one wins.
static __always_inline int flow_take(struct flow *flow, __u64 interval, __u64 now)
{
	__u64 last = *(volatile __u64 *)&flow->last_notice;
	if (last != 0 && (__s64)(now - last) < (__s64)interval)
		return 0;
	return __sync_val_compare_and_swap(&flow->last_notice, last, now) == last;
}

// Whether the port has no token now.
static __always_inline int bucket_empty(__u64 *bucket, const struct egress_port *port, __u64 now)
{
	__u64 arrival = *(volatile __u64 *)bucket;
	return arrival > now && arrival - now > port->burst_ns;
}

// The port's limit (PNC-6-b, LHCNP-9-f). Takes one token, or not. `now` may be older than what another CPU has written.
// A global function: the verifier checks its attempts once.
__noinline int bucket_take(__u64 *bucket, const struct egress_port *port, __u64 now)
{
	if (!bucket || !port)
		return 0;
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 arrival = *(volatile __u64 *)bucket;
		__u64 base = arrival > now ? arrival : now;
		if (base - now > port->burst_ns)
			return 0;
		if (__sync_val_compare_and_swap(bucket, arrival, base + port->notice_spacing_ns) == arrival)
			return 1;
	}
	return 0;
}

#endif
