// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy's configuration and scratch memory. src/kernel/dataplane/proxy.ts mirrors the layouts. What is learned is in queue-pairs.h.
#ifndef CNPD_PROXY_MAPS_H
#define CNPD_PROXY_MAPS_H

#include "address.h"
#include "counters.h"
#include "walk.h"

// --- Configuration ------------------------------------------------------------------------------------------------------------------------

// One entry. All zero: no notice is for us and nothing is learned.
struct proxy_config {
	struct address address; // where notices arrive
	__be16 udp_port;	// to this port; network order
	__u8 hits;		// answers that must agree before a connection is learned from traffic; 0: nothing is learned from traffic
	__u8 reserved[5];
	__u64 flow_interval_ns;	 // least time between two CNPs for one flow
	__u64 notice_spacing_ns; // 1/rate of the node's token bucket
	__u64 burst_ns;		 // (burst - 1) × spacing
	__u64 ageing_ns;	 // a connection without packets is forgotten after this time
	__u64 recent_ns;	 // an answer counts when the PSN that it names was sent no longer ago than this
	__u64 silence_ns;	 // a connection learned from traffic is dropped when its requests remain unanswered for this time
	__u64 handshake_ns;	 // a REP counts when its REQ is no older than this
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proxy_config);
} proxy_config SEC(".maps");

// Declared sender prefixes (PNC-1-a, PNC-4-d) and sources from which notices are accepted (PNC-6-b).
struct proxy_prefix {
	__u8 prefix_family; // 4 or 6: an IPv6 default route covers ::ffff:0:0/96 as well, and must not answer for IPv4
	__u8 format;	    // of senders: 1 standard CNP
	__u8 reserved[6];
};

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

// --- State --------------------------------------------------------------------------------------------------------------------------------

// The node's token bucket as a theoretical arrival time (GCRA, ITU-T I.371): one word, changed by compare-and-swap.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} proxy_bucket SEC(".maps");

// How long it took from a notice's entry into the program to its CNP, by time: four buckets an octave of nanoseconds, bucket 4·log2(t) + the next two bits.
#define LATENCY_BUCKETS 128

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LATENCY_BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} proxy_latency SEC(".maps");

// --- Scratch ------------------------------------------------------------------------------------------------------------------------------

// Largest UDP datagram of a notice, rounded up to the chunks in which it is summed.
#define NOTICE_ROOM 1536
// A CM packet over IPv6: 40 + 8 + 12 + 8 + 256 + 4 bytes.
#define CM_ROOM 328

struct proxy_scratch {
	union {
		__u8 datagram[NOTICE_ROOM];
		__u32 words[CM_ROOM / 4];
		__u8 bytes[CM_ROOM];
	};
	__u32 cnp[20];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proxy_scratch);
} proxy_scratch SEC(".maps");

// --- Access -------------------------------------------------------------------------------------------------------------------------------

static __always_inline struct proxy_config *proxy_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&proxy_config, &zero);
}

static __always_inline struct proxy_scratch *proxy_memory(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&proxy_scratch, &zero);
}

static __always_inline int is_mapped(const struct address *a)
{
	return a->words[0] == 0 && a->words[1] == 0 && a->words[2] == bpf_htonl(0xffff);
}

// The longest prefix of the address's own family that contains it, or NULL.
static __always_inline struct proxy_prefix *proxy_match(void *trie, const struct address *a)
{
	struct prefix_key key = { .length = 128, .address = *a };
	struct proxy_prefix *found = bpf_map_lookup_elem(trie, &key);
	return found && found->prefix_family == (is_mapped(a) ? 4 : 6) ? found : 0;
}

#endif
