// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One packet that found the queue congested, with all that is known of it: the steps from trigger to notification
// (policy.h, severity.h, egress.bpf.c) pass it on.
#ifndef CNPD_DETECTOR_CONGESTION_H
#define CNPD_DETECTOR_CONGESTION_H

#include "detector/data-packet.h"
#include "detector/flows.h"

struct congestion {
	const struct data_packet *packet;
	const struct egress_config *config;
	const struct egress_port *port;
	struct egress_stats *stats;
	struct egress_measure *measure;
	struct flow *flow;
	__u64 *bucket;
	__u64 now; // monotonic ns, exact
	__u32 depth;
	enum reason reason;

	// The notification, as far as it has been decided.
	enum notification_format format;
	__u32 source_qpn; // long-haul formats
	__u32 row;	  // of the instructions; long-haul formats
	__u8 mark_ce;	  // although a Fast CNP is sent
};

static __always_inline int is_long_haul(__u32 format)
{
	return format == FORMAT_LONG_HAUL_ICMPV6 || format == FORMAT_LONG_HAUL_ROCE;
}

#endif
