// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The maps of the congested node: the agent's configuration and the programs' state. The programs compute nothing that
// the agent can compute beforehand.
#ifndef CNPD_DETECTOR_MAPS_H
#define CNPD_DETECTOR_MAPS_H

#include "counters.h"
#include "detector/layout.h"
#include "map-keys.h"

// --- Configuration ---

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_port);
} egress_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct egress_config);
} egress_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 20);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct sender_proxy);
} sender_proxies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct sender_policy);
} sender_policies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct address);
	__type(value, struct sender_capability);
} sender_capabilities SEC(".maps");

// END.CON SIDs (FCN §4.2.2) of this domain: the only outer sources to which a notification is sent. The value is the
// tenant behind it (proxy/tenant.h).
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u32);
} end_con_sids SEC(".maps");

// RMC: the copies of a group's packets have the replication SID of the router that made them as their outer source. The
// value is the END.CON SID that the same router advertises.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, struct address);
} replication_end_cons SEC(".maps");

// Where a notification about a packet with this outer source goes; end_con_sids says whether it may (FCN-4.2.2-d).
static __always_inline const struct address *end_con_for(const __u64 *tunnel)
{
	const struct address *outer_source = (const struct address *)tunnel;
	const struct address *end_con = map_find(&replication_end_cons, outer_source);
	return end_con ? end_con : outer_source;
}

// This router's own addresses. The FIB gives the same answer for a local destination and for one without a route.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct address);
	__type(value, __u8);
} own_addresses SEC(".maps");

static __always_inline struct egress_port *find_port(__u32 ifindex, __u32 *slot)
{
	for (__u32 probe = 0; probe < PORT_PROBES; probe++) {
		*slot = (ifindex + probe) & (PORT_SLOTS - 1);
		struct egress_port *port = bpf_map_lookup_elem(&egress_ports, slot);
		if (port && port->ifindex == ifindex)
			return port;
	}
	return 0;
}

// --- State ---

// Token bucket of a port as a theoretical arrival time (GCRA, ITU-T I.371): one word, changed by compare-and-swap,
// right on any number of CPUs.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} egress_buckets SEC(".maps");

// Peak queue depth of a port since the agent last wrote 0, bytes.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} egress_peaks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_stats);
} egress_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_opaque);
} egress_opaque SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_measure);
} egress_measures SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_queue_sum);
} egress_queue_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} notifications SEC(".maps");

#endif
