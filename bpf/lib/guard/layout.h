// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the border guard's maps; src/kernel/dataplane/guard.ts has the same. No maps.
#ifndef CNPD_GUARD_LAYOUT_H
#define CNPD_GUARD_LAYOUT_H

#include "kernel.h"

// What counts as a notification at a border port. 0 disables that kind.
struct guard_port {
	__be16 udp_port;      // of Congestion Notifications to Proxy, network order
	__u8 fast_cnp_option; // IPv6 destination option types of Fast CNP (FCNP §6)
	__u8 fast_cnp_ioam_option;
	__u8 long_haul_icmpv6_type; // LHCNP §6.1
	__u8 long_haul_roce;	    // whether the form of LHCNP §6.2 is a notification
	__be16 arn_udp_port;	    // of Adaptive Routing Notifications, network order
};

#endif
