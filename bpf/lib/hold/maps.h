// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is held, and in which class.
#ifndef CNPD_HOLD_MAPS_H
#define CNPD_HOLD_MAPS_H

#include "counters.h"
#include "hold/held.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hold_state);
} hold_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOLD_FILTER_WORDS);
	__type(key, __u32);
	__type(value, __u64);
} hold_filter SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct hold_port);
} hold_ports SEC(".maps");

// Bytes that have entered classes of traffic, by port. The agent makes the entries.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} hold_port_bytes SEC(".maps");

#endif
