// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of all programs (counter-table.h) as per-CPU values in one pinned map.
#ifndef CNPD_COUNTERS_H
#define CNPD_COUNTERS_H

#include "counter-table.h"
#include "kernel.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

// tc programs run with bottom halves off, so a per-CPU value has one writer at a time.
static __always_inline void count(enum counter counter)
{
	__u32 index = counter;
	__u64 *value = bpf_map_lookup_elem(&counters, &index);
	if (value)
		(*value)++;
}

#endif
