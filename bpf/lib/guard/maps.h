// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The border guard's configuration.
#ifndef CNPD_GUARD_MAPS_H
#define CNPD_GUARD_MAPS_H

#include "counters.h"
#include "guard/layout.h"
#include "wire/address.h"

// Border ports by interface index.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct guard_port);
} guard_ports SEC(".maps");

// The allow-lists: notifications from outside by their source, those that leave by their destination. The value is the
// prefix's family: an IPv6 default route covers ::ffff:0:0/96 as well, and must not match IPv4.
#define GUARD_ALLOWED 4096

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, GUARD_ALLOWED);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, __u32);
} guard_allow_inbound SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, GUARD_ALLOWED);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, __u32);
} guard_allow_outbound SEC(".maps");

// SIDs of this domain (END.CON, End.MT, replication; decision E7) and Proxy Addresses of groups: no traffic from
// outside may be addressed to them. A pinned map keeps its name.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u8);
} guard_end_con_sids SEC(".maps");

#endif
