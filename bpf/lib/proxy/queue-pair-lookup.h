// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tables of known Queue Pairs, and the look-up. Two objects declare them and share them by their pins: the proxy's
// program, which writes what it learns (queue-pair-store.h), and the congested node's, which asks for the sender's
// Queue Pair of a flow (LHCNP-5.2-f: a BTH does not name it). src/kernel/dataplane/queue-pairs.ts mirrors the layouts.
#ifndef CNPD_PROXY_QUEUE_PAIR_LOOKUP_H
#define CNPD_PROXY_QUEUE_PAIR_LOOKUP_H

#include "proxy/config.h"
#include "proxy/tenant.h"

// A flow as its packets name it: from, to, the Queue Pair they are for, and whose address space the addresses are of
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
	__u8 strikes;	    // answers in a row whose PSN did not fit
	__u8 waiting;	    // a request has asked for an answer, at unanswered_since
	__u8 doubtful;	    // and has waited for it for too long
	__u64 learned_at;   // CLOCK_MONOTONIC, like the other times
	__u64 last_seen;    // last packet of this direction, requests and answers
	__u64 checked_at;
	__u64 unanswered_since;
	__u64 last_cnp; // 0: never
	__u64 cnps;
	__u64 packets;	       // requests of this direction, estimated from PSNs, since only some packets are looked at
	__u64 bytes;	       // of their frames, estimated likewise
	__u32 peer_tenant;     // in which the other direction is seen: the other half's key has it
	__u32 answers;	       // of this direction that were looked at
	__u64 last_answer;     // of this direction
	__u64 believed_at;     // when the route back to the sender was last seen to lead out of `port`
	__u32 port;	       // by which the packets of this direction come; 0: none has come yet
	__u32 place;	       // in unconfirmed_places (queue-pair-store.h), from 1; 0: confirmed
	__u32 answers_then;    // of the other direction, when `unanswered_cnps` were begun to be counted
	__u32 unanswered_cnps; // CNPs for this flow while a request waited for its answer
};

// After so many the peer must have answered something since they were begun to be counted. That is asked for only then,
// so up to twice as many, and one, follow its last answer.
#define UNANSWERED_CNPS 12

// Confirmed: requests were seen, and answers that fit them. Nothing evicts a connection here: it leaves by age, by
// contradiction or when it is disconnected.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} queue_pairs SEC(".maps");

// What a CM exchange said and no traffic has confirmed yet. Each port of the router has a share of it, whose oldest
// makes room (queue-pair-store.h).
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 15);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} unconfirmed_queue_pairs SEC(".maps");

// Written by the agent only; they outrank what is learned.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 12);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} static_queue_pairs SEC(".maps");

// Whose a Queue Pair is: a host, one of its Queue Pairs that sends in a connection, and in which tenant its packets are
// seen.
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

// The other end of each learned connection by the Queue Pair of this one: it tells a datagram's sender from a
// connection's. One for each entry of the tables above.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 17);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct qp_owner);
	__type(value, struct qp_peer);
} connected_queue_pairs SEC(".maps");

static __always_inline int is_later(__u64 now, __u64 then, __u64 by)
{
	return (__s64)(now - then) > (__s64)by;
}

// What was learned of a flow, be it too old or doubtful. Null: nothing.
static __always_inline struct queue_pair *queue_pair_learned(const struct qp_flow *flow)
{
	struct queue_pair *pair = bpf_map_lookup_elem(&queue_pairs, flow);
	return pair ? pair : bpf_map_lookup_elem(&unconfirmed_queue_pairs, flow);
}

// Whether the flow's sender is still known to send from `sender_qpn` to this peer of its.
static __always_inline int queue_pair_has(const struct qp_flow *flow, __u32 sender_qpn, const struct qp_peer *peer)
{
	struct qp_flow known = {
		.sender = flow->sender, .receiver = peer->host, .receiver_qpn = peer->qpn, .tenant = flow->tenant
	};
	struct queue_pair *pair = queue_pair_learned(&known);
	return pair && pair->sender_qpn == sender_qpn;
}

// Whether `qpn` of the flow's sender is known to be that of a connection, with whomever, be it too old or doubtful: a
// datagram cannot come from there.
__noinline int queue_pair_is_connected(const struct qp_flow *flow, __u32 qpn)
{
	if (!flow)
		return 0;
	struct queue_pair *pair = bpf_map_lookup_elem(&static_queue_pairs, flow);
	if (pair && pair->sender_qpn == qpn)
		return 1;
	struct qp_owner owner = { .host = flow->sender, .qpn = qpn, .tenant = flow->tenant };
	struct qp_peer *peer = bpf_map_lookup_elem(&connected_queue_pairs, &owner);
	return peer && queue_pair_has(flow, qpn, peer);
}

// Whether a flow of which this is known has had its share of CNPs (UNANSWERED_CNPS) without an answer. If its peer has
// answered meanwhile, the count begins again.
static __always_inline int queue_pair_is_spent(const struct qp_flow *flow, struct queue_pair *pair)
{
	if (pair->unanswered_cnps < UNANSWERED_CNPS)
		return 0;
	struct qp_flow reverse = { .sender = flow->receiver,
				   .receiver = flow->sender,
				   .receiver_qpn = pair->sender_qpn,
				   .tenant = pair->peer_tenant };
	struct queue_pair *other = queue_pair_learned(&reverse);
	if (!other || other->answers == pair->answers_then)
		return 1;
	pair->answers_then = other->answers;
	pair->unanswered_cnps = 0;
	pair->waiting = 0; // until the next request that asks
	pair->doubtful = 0;
	return 0;
}

static __always_inline int queue_pair_holds(const struct queue_pair *pair, const struct proxy_config *config, __u64 now)
{
	return pair && !pair->doubtful && !is_later(now, pair->last_seen, config->ageing_ns);
}

// What may be used of a flow: the operator's entry, else what was learned unless it has aged or its requests remain
// unanswered. Null: nothing.
static __always_inline struct queue_pair *queue_pair_of(const struct qp_flow *flow, const struct proxy_config *config,
							__u64 now)
{
	struct queue_pair *pair = bpf_map_lookup_elem(&static_queue_pairs, flow);
	if (pair)
		return pair;
	pair = queue_pair_learned(flow);
	return queue_pair_holds(pair, config, now) ? pair : 0;
}

// The Queue Pair from which the flow's sender sends; 0: not known.
static __always_inline __u32 source_qpn_of(const struct qp_flow *flow)
{
	struct proxy_config *config = proxy_configuration();
	if (!config)
		return 0;
	struct queue_pair *pair = queue_pair_of(flow, config, bpf_ktime_get_coarse_ns());
	return pair ? pair->sender_qpn : 0;
}

#endif
