// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The configuration of the SRv6 programs (srv6.bpf.c), which the agent writes.
#ifndef CNPD_SRV6_MAPS_H
#define CNPD_SRV6_MAPS_H

#include "counters.h"
#include "srv6/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srv6_config);
} srv6_config SEC(".maps");

// This router's IPv6 addresses and END.CON SIDs: a tunnel whose outer source is one of them begins here.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u8);
} srv6_local_sources SEC(".maps");

// Tunnel → END.CON SID, by the innermost source.
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct port_source_key);
	__type(value, struct address);
} srv6_tunnel_sources SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, struct srv6_sid);
} srv6_sids SEC(".maps");

#endif
