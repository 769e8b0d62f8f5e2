// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How flows arrive, what has been reported, and the records.
#ifndef CNPD_FLOW_CONTROL_MAPS_H
#define CNPD_FLOW_CONTROL_MAPS_H

#include "counters.h"
#include "map-keys.h"
#include "flow-control/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_control_config);
} flow_control_config SEC(".maps");

// Token bucket of all records; token-bucket.h.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} flow_control_bucket SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct flow_control_flow);
	__type(value, struct flow_control_arrival);
} flow_control_arrivals SEC(".maps");

// When traffic has been reported last, CLOCK_MONOTONIC.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct flow_control_told_key);
	__type(value, __u64);
} flow_control_told SEC(".maps");

// By traffic as it arrived; `ifindex` of the key: where.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct hold_key);
	__type(value, struct flow_control_share);
} flow_control_shares SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct flow_control_way);
	__type(value, struct flow_control_share);
} flow_control_ways SEC(".maps");

// Of the traffic of a way; `ingress` 0: of the ways to a port.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct flow_control_way);
	__type(value, struct flow_control_largest);
} flow_control_largest SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} flow_control_records SEC(".maps");

static __always_inline const struct flow_control_config *flow_control_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&flow_control_config, &zero);
}

#endif
