// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The source's maps. Queue Pairs are those that the proxy's program learns (proxy/queue-pair-lookup.h), and port roles
// are its too (proxy/port-roles.h): the objects share them by their pins.
#ifndef CNPD_SOURCE_MAPS_H
#define CNPD_SOURCE_MAPS_H

#include "counters.h"
#include "source/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct source_config);
} source_config SEC(".maps");

// Declared senders.
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 14);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct source_prefix);
} source_senders SEC(".maps");

// Nodes whose notifications are accepted (LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c).
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 12);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct source_prefix);
} source_nodes SEC(".maps");

// Token buckets (token-bucket.h), by enum source_bucket.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SOURCE_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} source_bucket SEC(".maps");

// What the agent can do in place of hosts.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct source_holding);
} source_holding SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} source_records SEC(".maps");

// --- Scratch ---

// The longest notification that is read, from its IP header on: option 2 needs 344 bytes, cnpd's own objects 172.
#define SOURCE_PACKET_MAX 512

struct source_scratch {
	// More than a packet, so that the verifier can add two bounds.
	union {
		__u8 bytes[2048];
		__u32 words[512];
	};
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct source_scratch);
} source_scratch SEC(".maps");

static __always_inline struct source_scratch *source_memory(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&source_scratch, &zero);
}

static __always_inline struct source_config *source_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&source_config, &zero);
}

// Returns the longest prefix of the address's own family that contains it, or NULL.
static __always_inline struct source_prefix *source_match(void *trie, const struct address *a)
{
	struct prefix_key key = { .length = 128, .address = *a };
	struct source_prefix *found = bpf_map_lookup_elem(trie, &key);
	return found && found->prefix_family == address_family(a->halves) ? found : 0;
}

#endif
