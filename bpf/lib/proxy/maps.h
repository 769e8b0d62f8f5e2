// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy's prefixes, token bucket, latencies and scratch memory. Its configuration is in config.h, its learned
// tables in queue-pair-lookup.h.
#ifndef CNPD_PROXY_MAPS_H
#define CNPD_PROXY_MAPS_H

#include "counters.h"
#include "proxy/config.h"
#include "proxy/layout.h"
#include "proxy/queue-pair-lookup.h"
#include "wire/walk.h"

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct proxy_prefix);
} proxy_senders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 12);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct proxy_prefix);
} proxy_sources SEC(".maps");

// Senders whose connections are learned although no proxy serves them: a Long-haul CNP names their Queue Pair
// (LHCNP-5.5-c).
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct proxy_prefix);
} learned_senders SEC(".maps");

// --- State ---

// The node's token bucket as a theoretical arrival time (GCRA, ITU-T I.371): one word, changed by compare-and-swap.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} proxy_bucket SEC(".maps");

// When a sender last got a CNP about datagrams to this Queue Pair. For connections the entry of the Queue Pair has
// this; of datagrams nothing is learned. The source Queue Pair is not part of the key. Its sender chooses the number
// freely, and would have an interval for each of 16 million numbers.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct qp_flow);
	__type(value, __u64);
} proxy_datagrams SEC(".maps");

// Histogram of the time from a notice's entry into the program to its CNP: four buckets an octave of nanoseconds,
// bucket 4·log2(t) + the next two bits.
#define LATENCY_BUCKETS 128

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LATENCY_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} proxy_latency SEC(".maps");

// --- Scratch ---

// Largest UDP datagram of a notice, rounded up to the chunks in which it is summed.
#define NOTICE_BUFFER_SIZE 1536
// A CM packet over IPv6: 40 + 8 + 12 + 8 + 256 + 4 bytes.
#define CM_BUFFER_SIZE 328

struct proxy_scratch {
	union {
		__u8 datagram[NOTICE_BUFFER_SIZE];
		__u32 words[CM_BUFFER_SIZE / 4];
		__u8 bytes[CM_BUFFER_SIZE];
	};
	__u32 cnp[32]; // after the header of a tunnel, which few have
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proxy_scratch);
} proxy_scratch SEC(".maps");

// --- Access ---

static __always_inline struct proxy_scratch *proxy_memory(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&proxy_scratch, &zero);
}

static __always_inline int is_mapped(const struct address *a)
{
	return a->words[0] == 0 && a->words[1] == 0 && a->words[2] == bpf_htonl(0xffff);
}

// Returns the longest prefix of the address's own family that contains it, or NULL.
static __always_inline struct proxy_prefix *proxy_match(void *trie, const struct address *a)
{
	struct prefix_key key = { .length = 128, .address = *a };
	struct proxy_prefix *found = bpf_map_lookup_elem(trie, &key);
	return found && found->prefix_family == (is_mapped(a) ? 4 : 6) ? found : 0;
}

// Whether connections between these two addresses are learned: one of them is a sender that is served.
static __always_inline int are_learned(const struct address *a, const struct address *b)
{
	return proxy_match(&proxy_senders, a) || proxy_match(&proxy_senders, b) || proxy_match(&learned_senders, a) ||
	       proxy_match(&learned_senders, b);
}

#endif
