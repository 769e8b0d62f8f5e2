// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The contents of the proxy's maps. src/kernel/dataplane has the same: proxy.ts, queue-pairs.ts, port-roles.ts,
// tenants.ts. No maps: the congested node's program shares some of them (queue-pair-lookup.h).
#ifndef CNPD_PROXY_LAYOUT_H
#define CNPD_PROXY_LAYOUT_H

#include "wire/address.h"

// --- Configuration (proxy.ts) ---

// One entry. All zero: no notices are accepted and nothing is learned. Address and port zero: Queue Pairs are learned,
// no notices are accepted.
struct proxy_config {
	struct address address;	 // where notices arrive
	__be16 udp_port;	 // to this port; network order
	__u8 hits;		 // answers that must agree before a connection is learned from traffic; 0: none is
	__u8 reverse_path_check; // 0: packets are believed at any port (port-roles.h)
	__u8 reserved[4];
	__u64 flow_interval_ns;	      // least time between two CNPs for one flow
	__u64 notice_spacing_ns;      // 1/rate of the node's token bucket
	__u64 burst_ns;		      // (burst - 1) × spacing
	__u64 ageing_ns;	      // a connection without packets is forgotten after this time
	__u64 recent_ns;	      // an answer counts only if the PSN that it names was sent no longer ago than this
	__u64 silence_ns;	      // a connection is dropped when its requests remain unanswered for this time
	__u64 doubt_ns;		      // and not used after this time, which exceeds any round-trip time
	__u64 handshake_ns;	      // a REP counts only if its REQ is no older than this
	struct address other_address; // a second address for notices, of the other family; or `address` again
};

// Declared sender prefixes (PNC-1-a, PNC-4-d) and sources from which notices are accepted (PNC-6-b).
struct proxy_prefix {
	__u8 prefix_family; // 4 or 6: an IPv6 default route covers ::ffff:0:0/96 as well, and must not match IPv4
	__u8 format; // for senders: FORMAT_PROXY is a standard CNP, else enum notification_format (builder/order.h)
	__u8 reserved[6];
};

#define PNC_LEVELS 8

// Content of a Long-haul CNP by the level of the notice (order-notification.h); one entry.
struct proxy_instructions {
	struct {
		__u16 parameter;
		__u8 level;
		__u8 action; // enum action
	} of[PNC_LEVELS];
};

// --- Ports (port-roles.ts), tenants (tenants.ts) ---

// Each port has a share of the unconfirmed connections (queue-pair-store.h).
#define PORT_SHARES 64

struct port_role {
	__u32 link; // the ports of a bridge or bond have its index in common; otherwise the port's own
	__u8 is_core;
	__u8 share; // below PORT_SHARES
	__u16 reserved;
};

// One entry. All zero: this router has one address space, to which all packets belong.
struct tenant_config {
	__u32 known;	// tenants besides the main table exist: an unknown tunnel then has no known tenant
	__u32 has_rows; // tenant_ports holds something
};

// --- Queue Pairs (queue-pairs.ts) ---

// A flow as its packets identify it: source, destination, destination Queue Pair, and the tenant of the addresses
// (tenant.h).
struct qp_flow {
	struct address sender;
	struct address receiver;
	__u32 receiver_qpn;
	__u32 tenant; // in which packets of this direction are seen; 0: the router's own address space
};

enum qp_source { QP_FROM_CM = 1, QP_FROM_TRAFFIC = 2, QP_CONFIGURED = 3 };

// A PSN has 24 bits.
#define PSN_UNKNOWN 0xffffffffu

struct queue_pair {
	__u32 sender_qpn;
	__u32 starting_psn; // of the sender; PSN_UNKNOWN when not learned from CM
	__u32 psn;	    // of the last request seen; PSN_UNKNOWN before
	__u8 source;	    // enum qp_source
	__u8 strikes;	    // answers in a row with a PSN out of sequence
	__u8 waiting;	    // a request has asked for an answer, at unanswered_since
	__u8 doubtful;	    // the answer is overdue
	__u64 learned_at;   // CLOCK_MONOTONIC, like the other times
	__u64 last_seen;    // last packet of this direction, requests and answers
	__u64 checked_at;
	__u64 unanswered_since;
	__u64 last_cnp; // 0: never
	__u64 cnps;
	__u64 packets;	       // requests of this direction, estimated from PSNs, since only some packets are looked at
	__u64 bytes;	       // bytes of their frames, estimated likewise
	__u32 peer_tenant;     // in which the other direction is seen: part of the other half's key
	__u32 answers;	       // of this direction that were looked at
	__u64 last_answer;     // of this direction
	__u64 believed_at;     // when the route back to the sender was last seen to lead out of `port`
	__u32 port;	       // at which the packets of this direction arrive; 0: none so far
	__u32 place;	       // in unconfirmed_places (queue-pair-store.h), from 1; 0: confirmed
	__u32 answers_then;    // of the other direction, when counting of `unanswered_cnps` began
	__u32 unanswered_cnps; // CNPs for this flow while a request waited for its answer
};

// Identifies one end of a connection: a host, its Queue Pair that sends, and the tenant in which its packets are seen.
struct qp_owner {
	struct address host;
	__u32 qpn;
	__u32 tenant;
};

struct qp_peer {
	struct address host;
	__u32 qpn;
	__u32 reserved;
};

#endif
