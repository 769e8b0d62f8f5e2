// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the maps of precise flow control; src/kernel/dataplane/flow-control.ts has the same. No maps. What is
// held is in hold/layout.h.
#ifndef CNPD_FLOW_CONTROL_LAYOUT_H
#define CNPD_FLOW_CONTROL_LAYOUT_H

#include "hold/layout.h"

// One entry.
struct flow_control_config {
	__u32 kind; // enum hold_kind: what neighbors are asked to pause, and pause here; 0: flow control is off
	__u32 reserved;
	__u64 interval_ns; // least time between two records with the same flow_control_told_key
	__u64 spacing_ns;  // of the token bucket of all records
	__u64 burst_ns;
	__u8 priorities[64]; // by DSCP, 0 to 7
};

// The innermost flow of a RoCEv2 packet, the same wherever it is looked at on the way through this router.
struct flow_control_flow {
	struct address source;
	struct address destination;
	__u32 ports; // source << 16 | destination, in the machine's order
	__u32 reserved;
};

// The outermost IP header of a packet.
struct outermost {
	struct address source;
	struct address destination;
	__u8 protocol; // that follows
	__u8 priority;
	__u8 is_tunnel; // RFC 8986 or IP in IP around the flow's packet
	__u8 reserved[5];
};

// How packets of a flow arrive.
struct flow_control_arrival {
	struct outermost outermost;
	__u64 seen_ns; // CLOCK_MONOTONIC: the latest of them, give or take ARRIVAL_REFRESH_NS
	__u32 ifindex;
	__u16 id; // of this way to arrive: what its packets have as tc_index, not 0
	__u8 source_mac[6];
	__u8 reserved[4];
};

// Bytes that traffic has sent into filled queues, in the window of this number, and in the one before it.
struct flow_control_share {
	__u64 window;
	__u64 now;
	__u64 before;
};

// From the interface at which packets arrive to a watched port.
struct flow_control_way {
	__u32 ingress;
	__u32 egress;
};

// The largest of several shares.
struct flow_control_largest {
	__u64 window;
	__u64 now;   // in this window alone
	__u64 share; // with the one before
};

enum flow_control_reason {
	FLOW_CONTROL_QUEUE = 1, // the port's queue is above its threshold
	FLOW_CONTROL_HELD = 2,	// the class is full in which the packet is held
};

// Traffic that has found a queue filled. Of several queues that it fills, each is reported.
struct flow_control_told_key {
	struct hold_key traffic; // as it arrived; `ifindex`: where
	__u32 egress;
	__u32 reason; // enum flow_control_reason
};

// One record of the ring.
struct flow_control_record {
	__u64 time_ns;		 // CLOCK_MONOTONIC
	struct hold_key traffic; // as it arrived; `ifindex`: where
	struct address came_from;
	__u32 egress;
	__u32 depth; // bytes in the queue, held ones not counted; 0 for FLOW_CONTROL_HELD
	__u8 source_mac[6];
	__u8 reason; // enum flow_control_reason
	__u8 reserved;
};

#endif
