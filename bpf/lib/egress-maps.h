// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The maps of the congested node: what the agent configures, what the programs keep. src/kernel/dataplane/egress.ts mirrors the layouts.
// Nothing here is computed by a program that the agent can compute beforehand.
#ifndef CNPD_EGRESS_MAPS_H
#define CNPD_EGRESS_MAPS_H

#include "address.h"
#include "counters.h"

// --- Configuration ------------------------------------------------------------------------------------------------------------------------

#define CONGESTION_LEVELS 8
#define THRESHOLD_OFF 0xffffffffu

// A monitored port. Slots are found by interface index: slot (ifindex + i) mod PORT_SLOTS for i below PORT_PROBES, chosen by the agent. An array,
// because its look-up is inlined: a hash table costs every packet 25 ns more (51 against 26, measured with BPF_PROG_TEST_RUN).
#define PORT_SLOTS 256
#define PORT_PROBES 4

struct egress_port {
	__u32 ifindex; // 0: free
	__u32 k_min;   // CE marking above this depth, bytes; THRESHOLD_OFF: none
	__u32 k_max;   // notification above this depth, bytes; THRESHOLD_OFF: none
	__u32 reserved;
	__u32 level_bytes[CONGESTION_LEVELS]; // ascending; level n from level_bytes[n] upwards
	__u64 flow_interval_ns;		      // least time between two notices for one flow
	__u64 notice_spacing_ns;	      // 1/rate of the port's token bucket
	__u64 burst_ns;			      // (burst - 1) × spacing
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_port);
} egress_ports SEC(".maps");

// How notices are built; one entry.
struct egress_config {
	__u8 source4[4];
	__u8 source6[16];
	__u8 has_source4, has_source6;
	__be16 udp_port; // network order
	__u64 flow_ageing_ns;
	__u64 flow_seed; // keys the flow table's hash; random, kept for the life of the table
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct egress_config);
} egress_config SEC(".maps");

// Sender prefix → proxy, over all prefixes known, so that a longest match without a proxy hides a shorter one with (decision D5).
struct sender_proxy {
	struct address proxy;
	__u8 proxy_family;  // 4, 6, or 0: no proxy
	__u8 prefix_family; // 4 or 6: an IPv6 default route covers ::ffff:0:0/96 as well, and must not answer for IPv4
	__u8 reserved[6];
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 20);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct sender_proxy);
} sender_proxies SEC(".maps");

// --- State --------------------------------------------------------------------------------------------------------------------------------

// Token bucket of a port as a theoretical arrival time (GCRA, ITU-T I.371): one word, changed by compare-and-swap, right on any number of CPUs.
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

// RoCEv2 data packets of a port, and what became of them.
struct egress_stats {
	__u64 packets;
	__u64 bytes;
	__u64 ce_marked;
	__u64 triggers;
	__u64 notifications;
	__u64 suppressed_flow;
	__u64 suppressed_port;
	__u64 no_proxy;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_stats);
} egress_stats SEC(".maps");

// From the detector to the builder: skb->mark and skb->cb of the clone. The tag in cb[0] tells our clones from packets of whoever else uses
// that mark. Programs on the loopback interface leave clones with MARK_TRIGGER alone: they are not traffic.
#define MARK_TRIGGER 0x434e5054u // "CNPT": a clone of the invoking packet
#define MARK_NOTICE 0x434e504eu	 // "CNPN": a finished notice on its way to routing
#define CB_TAG 0x9c6e7d31u
enum { CB_WORD_TAG, CB_WORD_LEVEL, CB_WORD_IFINDEX };

#endif
