// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the congested node's maps (maps.h, flows.h), and the requests and answers between the agent and its
// programs. src/kernel/dataplane has the same: egress.ts, sender-policies.ts, flows.ts, notifications.ts. No maps.
#ifndef CNPD_DETECTOR_LAYOUT_H
#define CNPD_DETECTOR_LAYOUT_H

#include "builder/order.h"
#include "wire/address.h"

// --- Configuration (egress.ts, sender-policies.ts) ---

#define CONGESTION_LEVELS 8
#define THRESHOLD_OFF 0xffffffffu

// A monitored port. The agent puts it into slot (ifindex + i) mod PORT_SLOTS, for an i below PORT_PROBES. It is an
// array, because array look-ups are inlined: a hash table costs every packet 25 ns more (51 against 26, measured with
// BPF_PROG_TEST_RUN).
#define PORT_SLOTS 256
#define PORT_PROBES 4

// The content of a Long-haul CNP at one severity (LHCNP §5.5.1). Rows ascend in strictness; the first is for triggers
// below K_max.
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
	__u16 contribution; // a sender is notified when its flow's share is at least this many 1/256 of the largest one
	__u16 deferral;	    // an arrival rate lower by this many 1/256 is a reduction
	__u32 level_bytes[CONGESTION_LEVELS]; // of PNC, ascending; level n from level_bytes[n] upwards
	__u16 instruction_count;	      // 1 to INSTRUCTIONS
	__u8 multiqueue; // whether the root is mq: the depth is the sum over the transmit queues (port-depth.h)
	__u8 reserved;
	__u32 tenant; // of packets that leave outside a tunnel (proxy/tenant.h); 0: the router's own address space
	struct instruction instructions[INSTRUCTIONS];
	__u64 interval_ns;	 // over which marking rate, growth and shares are measured
	__u64 rtt_ns;		 // observation window of deferral, least time between two Long-haul CNPs for one flow
	__u64 flow_interval_ns;	 // least time between two notices for one flow
	__u64 notice_spacing_ns; // 1/rate of the port's token bucket
	__u64 burst_ns;		 // (burst - 1) × spacing
};

// How notices are built; one entry.
struct egress_config {
	__u8 source4[4];
	__u8 source6[16];
	__u8 has_source4, has_source6;
	__be16 udp_port; // network order
	__u64 flow_ageing_ns;
	__u64 flow_seed; // keys the flow table's hash; random, kept for the life of the table
	__u8 disclose;	 // whether Long-haul CNPs disclose the metric (LHCNP §6.1: else type and value are 0)
	__u8 reserved[7];
};

// Sender prefix → proxy, over all known prefixes: a longest match without a proxy hides a shorter one with a proxy
// (decision D5).
struct sender_proxy {
	struct address proxy;
	__u8 proxy_family;  // 4, 6, or 0: no proxy
	__u8 prefix_family; // 4 or 6: an IPv6 default route covers ::ffff:0:0/96 as well, and must not match IPv4
	__u8 supports;	    // formats that its senders are advertised to understand: bit 1 << enum notification_format
	__u8 reserved[5];
};

// Which formats a sender understands, by longest match on its address. No entry: it is not notified.
struct sender_policy {
	__u8 order[4];		    // enum notification_format, tried in this order; FORMAT_NONE ends it
	__u8 prefix_family;	    // 4 or 6, as in struct sender_proxy
	__u8 mark_ce_with_fast_cnp; // FCNP-4-a; else a flow that gets Fast CNPs is not marked (FCNP-4-b)
	__u8 only_advertised;	    // but FORMAT_PROXY: try what the sender's prefix is advertised to understand
	__u8 reserved;
};

// Hosts known not to understand a format; the agent removes an entry when it expires.
struct sender_capability {
	__u8 lacks; // bit 1 << enum notification_format
	__u8 reserved[7];
};

// --- The flow table (flows.h; flows.ts) ---

#define FLOW_SETS 4096
#define FLOW_WAYS 4

struct flow_key {
	__u64 source[2], destination[2];
	__u64 tunnel[2];  // source of the outermost header around the flow: under SRv6 the END.CON SID of the sender's
			  // tenant. Zero: none
	__u32 qpn;	  // of the destination; with FLOW_DATAGRAM
	__u32 source_qpn; // of datagrams (DETH); else 0
	__u32 context;	  // hash of labels, GRE key, VXLAN network on the way; or the tenant of the port
};

// Flag of a datagram's Queue Pair number. Connections may use the same numbers for other Queue Pairs.
#define FLOW_DATAGRAM 0x80000000u
#define FLOW_QPN(qpn) ((qpn) & 0xffffff)

struct flow {
	__u64 source[2], destination[2];
	__u64 tunnel[2];
	__u32 qpn;
	__u32 source_qpn;
	__u32 context;
	__u32 tag; // 0: free
	__u64 packets;
	__u64 bytes;
	__u64 congested_bytes; // bytes that arrived while the queue was above K_min or K_max
	__u64 first_seen;      // monotonic ns
	__u64 last_seen;
	__u64 last_notice; // 0: never; written before the notice is sent
	__u64 notices;
	__u32 last_psn;
	__u32 ifindex; // port that saw it last

	// The last instruction to its sender (severity.h). All zero: none.
	__u64 notified_at;
	__u32 notified_source_qpn;
	__u32 notified_depth; // of the queue then, bytes
	__u8 notified_format; // enum notification_format
	__u8 notified_row;    // of the instructions; long-haul formats
	__u8 notified_action;
	__u8 notified_level;
	__u16 notified_parameter;
	__be16 notified_pkey;  // of the invoking packet; 0 with notified_sport 0: written by a version that did not
			       // record them
	__u64 ce_exempt_until; // not marked while it gets Fast CNPs (FCNP-4-b)

	// Its share of the queue (contribution.h).
	__u64 share_window;
	__u64 share_now;    // bytes in this window
	__u64 share_before; // bytes in the window before

	// Its arrival rate, window by window (severity.h).
	__u64 rate_start;
	__u64 rate_start_bytes;
	__u64 rate_before;    // 0: not known
	__u64 deferred_until; // 0: not deferred
	__u32 deferred_depth; // of the queue when it was deferred, bytes
	__be16 notified_sport;
	__u16 reserved;
};

struct flow_set {
	struct bpf_spin_lock lock;
	__u32 reserved;
	__u64 evicted_notice; // latest notice of any evicted flow of this set
	struct flow ways[FLOW_WAYS];
};

// The agent's request to the program `egress_resume` before it sends a Resume, after an unused Ethernet header; and the
// program's answer.
struct resume_claim {
	struct flow_key key;
	__u32 ifindex;
};

enum resume_answer { RESUME_GRANTED, RESUME_FLOW_WAITS, RESUME_PORT_WAITS, RESUME_UNKNOWN_PORT };

// --- Measurements (egress.ts), notifications (notifications.ts) ---

// RoCEv2 data packets of a port, and their outcomes.
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

// Packets of a port in tunnels that the program does not look into, by enum tunnel_kind (wire/walk.h).
struct egress_opaque {
	__u64 packets[8];
};

// The measurements of a port (monitor.h, contribution.h). Times are monotonic ns.
struct egress_measure {
	__u64 interval_start;
	__u64 start_packets; // egress_stats at that time, all CPUs
	__u64 start_left_with_ce;
	__u32 start_depth;
	__u32 growth;	       // of the queue in the interval before, bytes; 0 when it shrank
	__u32 ecn_ppm;	       // packets that left with CE among all of the interval before
	__u32 tick;	       // kernel tick at which other traffic last checked whether the interval is over
	__u64 last_congested;  // last time that a packet saw the queue above K_min
	__u64 congested_since; // since then it was never at or below K_min for a whole RTT
	__u64 share_window;    // number of the window of shares
	__u64 largest_share;   // of a flow, bytes: in this window and the one before
	__u64 largest_now;     // of a flow in this window only
};

// The depth of a multiqueue port as this CPU has last summed it.
struct egress_queue_sum {
	__u32 depth;
	__u32 tick;	 // kernel tick of that sum
	__u32 remaining; // packets that may still use it
	__u32 reserved;
};

// One record a notification handed to the builder, for the agent.
struct notification_record {
	__u64 time_ns;	       // CLOCK_MONOTONIC
	struct address source; // of the flow: innermost addresses
	struct address destination;
	struct address end_con; // through which it was sent; zero: directly
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

#endif
