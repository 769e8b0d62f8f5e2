// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The border guard's configuration. src/kernel/dataplane/guard.ts mirrors the layout.
#ifndef CNPD_GUARD_MAPS_H
#define CNPD_GUARD_MAPS_H

#include "counters.h"

struct guard_port {
	__be16 udp_port; // of notices, network order
	__u16 reserved;
};

// Border ports by interface index.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct guard_port);
} guard_ports SEC(".maps");

#endif
