// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The maps of the congested node: what the agent configures, what the programs keep. src/kernel/dataplane/egress.ts
// mirrors the layouts. Nothing here is computed by a program that the agent can compute beforehand.
#ifndef CNPD_DETECTOR_MAPS_H
#define CNPD_DETECTOR_MAPS_H

#include "wire/address.h"
#include "counters.h"
#include "builder/order.h"

// --- Configuration ---

#define CONGESTION_LEVELS 8
#define THRESHOLD_OFF 0xffffffffu

// A monitored port. Slots are found by interface index: slot (ifindex + i) mod PORT_SLOTS for i below PORT_PROBES,
// chosen by the agent. An array, because its look-up is inlined: a hash table costs every packet 25 ns more (51 against
// 26, measured with BPF_PROG_TEST_RUN).
#define PORT_SLOTS 256
#define PORT_PROBES 4

// What a Long-haul CNP says at one severity (LHCNP §5.5.1). Rows ascend in strictness; the first is for triggers below
// K_max.
#define INSTRUCTIONS 8

struct instruction {
	__u32 from_bytes; // queue depth from which the row applies; THRESHOLD_OFF: only by escalation
	__u16 parameter;
	__u8 level;
	__u8 action; // enum action
};

struct egress_port {
	__u32 ifindex; // 0: free
	__u32 k_min;   // CE marking above this depth, bytes; THRESHOLD_OFF: none
	__u32 k_max;   // notification above this depth, bytes; THRESHOLD_OFF: none
	__u32 v_ecn;   // notification above this share of CE among the packets of an interval, ppm; THRESHOLD_OFF: none
	__u32 v_growth;	    // notification above this growth of the queue in an interval, bytes; THRESHOLD_OFF: none
	__u16 contribution; // a flow is told when its share is at least this many 1/256 of the largest one
	__u16 deferral;	    // an arrival rate lower by this many 1/256 is a reduction
	__u32 level_bytes[CONGESTION_LEVELS]; // of PNC, ascending; level n from level_bytes[n] upwards
	__u32 instruction_count;	      // 1 to INSTRUCTIONS
	__u32 tenant; // of what leaves here outside a tunnel (proxy/tenant.h); 0: the router's own address space
	struct instruction instructions[INSTRUCTIONS];
	__u64 interval_ns;	 // over which marking rate, growth and shares are measured
	__u64 rtt_ns;		 // observation window of deferral, least time between two Long-haul CNPs for one flow
	__u64 flow_interval_ns;	 // least time between two notices for one flow
	__u64 notice_spacing_ns; // 1/rate of the port's token bucket
	__u64 burst_ns;		 // (burst - 1) × spacing
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
	__u8 disclose;	 // whether Long-haul CNPs tell the metric (LHCNP §6.1: else type and value are 0)
	__u8 reserved[7];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct egress_config);
} egress_config SEC(".maps");

// Sender prefix → proxy, over all prefixes known, so that a longest match without a proxy hides a shorter one with
// (decision D5).
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

// Which formats a sender understands, by longest match on its address. No entry: it is not told.
struct sender_policy {
	__u8 order[4];		    // enum notification_format, tried in this order; FORMAT_NONE ends it
	__u8 prefix_family;	    // 4 or 6, as in struct sender_proxy
	__u8 mark_ce_with_fast_cnp; // FCNP-4-a; else a flow that is sent Fast CNPs is not marked (FCNP-4-b)
	__u8 reserved[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1 << 16);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct prefix_key);
	__type(value, struct sender_policy);
} sender_policies SEC(".maps");

// Hosts that have shown not to understand a format; the agent removes an entry when it expires.
struct sender_capability {
	__u8 lacks; // bit 1 << enum notification_format
	__u8 reserved[7];
};

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

// This router's own addresses. The routing answers alike for a destination of its own and for one that it has no route
// to.
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
	__u64 left_with_ce; // sent with CE while the queue was above K_min, whoever marked them
	__u64 not_contributing;
	__u64 deferred;
	__u64 no_format;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_stats);
} egress_stats SEC(".maps");

// Packets of a port in something that is not looked into, by enum tunnel_kind (wire/walk.h).
struct egress_opaque {
	__u64 packets[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_opaque);
} egress_opaque SEC(".maps");

// What is measured of a port (monitor.h, contribution.h). Times are monotonic ns.
struct egress_measure {
	__u64 interval_start;
	__u64 start_packets; // egress_stats at that time, all CPUs
	__u64 start_left_with_ce;
	__u32 start_depth;
	__u32 growth;	       // of the queue in the interval before, bytes; 0 when it shrank
	__u32 ecn_ppm;	       // packets that left with CE among all of the interval before
	__u32 tick;	       // of the kernel, at which other traffic last looked whether the interval is over
	__u64 last_congested;  // last time that a packet saw the queue above K_min
	__u64 congested_since; // since then it was never at or below K_min for a whole RTT
	__u64 share_window;    // number of the window of shares
	__u64 largest_share;   // of a flow, bytes: in this window and the one before
	__u64 largest_now;     // of a flow in this window alone
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SLOTS);
	__type(key, __u32);
	__type(value, struct egress_measure);
} egress_measures SEC(".maps");

// One record a notification handed to the builder, for the agent.
struct notification_record {
	__u64 time_ns;	       // CLOCK_MONOTONIC
	struct address source; // of the flow: innermost addresses
	struct address destination;
	struct address end_con; // through which it went; zero: straight
	__u32 ifindex;
	__u32 destination_qpn;
	__u32 source_qpn;  // 0: not known
	__u32 queue_bytes; // depth at that moment
	__u8 format;	   // enum notification_format
	__u8 reason;	   // enum reason
	__u8 action;	   // enum action; long-haul formats only
	__u8 level;	   // PNC: 0-7; long-haul formats: 0-255; Fast CNP: 0
	__u16 parameter;
	__be16 pkey; // of the invoking packet, as its UDP source port: a Resume has them too
	__be16 sport;
	__u16 datagram; // the Queue Pairs are of datagrams
	__u16 reserved[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} notifications SEC(".maps");

#endif
