// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the source's maps (source.bpf.c). src/kernel/dataplane/source.ts has the same. No maps.
#ifndef CNPD_SOURCE_LAYOUT_H
#define CNPD_SOURCE_LAYOUT_H

#include "wire/address.h"

// One entry. All zero: notifications pass unseen.
struct source_config {
	__u8 fast_cnp_option;	   // option type; 0: the program is off
	__u8 fast_cnp_ioam_option; // option type with IOAM trace data
	__u8 icrc_skips_options;   // decision B2, as in struct notice_config
	__u8 long_haul_type;	   // ICMPv6 type
	__u8 reserved[4];
	__u64 flow_interval_ns; // least time between two CNPs for one flow
	__u64 spacing_ns;	// 1/rate of each token bucket
	__u64 burst_ns;		// (burst - 1) × spacing
};

// Whose notifications share a token bucket: of routers on the allow-list; of flows' receivers that are not.
enum source_bucket { SOURCE_BUCKET_NODES, SOURCE_BUCKET_RECEIVERS, SOURCE_BUCKETS };

// What becomes of a notification for a sender of the prefix, once it is believed.
enum source_action {
	SOURCE_NONE,
	SOURCE_PASS,	// the host gets it as it is
	SOURCE_CONVERT, // the host gets a standard CNP
	SOURCE_ENFORCE, // the agent obeys in place of the host; as SOURCE_CONVERT while it cannot hold the flow
};

// One entry, written by the agent alone: what it can do in place of hosts. All zero: nothing.
struct source_holding {
	__u64 until_ns; // CLOCK_MONOTONIC: until then flows are held, so that no dead agent is relied on
	__u8 room;	// whether further flows can be
	__u8 reserved[7];
};

struct source_prefix {
	__u8 prefix_family; // 4 or 6, as in struct proxy_prefix
	__u8 action;	    // enum source_action; of nodes whose notifications are accepted: 0
	__u8 reserved[6];
};

// What the agent is told of each believed notification.
struct source_record {
	__u64 time_ns; // CLOCK_MONOTONIC
	struct address sender;
	struct address receiver;
	struct address node; // that has sent the notification
	__u32 receiver_qpn;
	__u32 sender_qpn;
	__u32 metric; // as on the wire (LHCNP §6.1); 0: Fast CNP
	__u32 ifindex;
	__u16 parameter;
	__u8 level;
	__u8 instruction; // enum action; Fast CNP: ACTION_NOTIFY
	__u8 format;	  // enum notification_format; FORMAT_NONE: the peer's standard CNP
	__u8 action;	  // enum source_action
	__u8 reserved[2];
};

// The same of a Fast CNP with option 2: with the IOAM trace that it carries.
#define SOURCE_TRACE_MAX 238

struct source_trace_record {
	struct source_record record;
	__u8 kind;   // IOAM type: 0 preallocated, 1 incremental
	__u8 length; // of the trace, bytes
	__u8 trace[SOURCE_TRACE_MAX];
};

#endif
