// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tables of known Queue Pairs, and the look-up. Two objects declare them and share them by their pins. The proxy's
// program writes what it learns (queue-pair-store.h). The congested node's program looks up the sender's Queue Pair of
// a flow (LHCNP-5.2-f: a BTH does not name it).
#ifndef CNPD_PROXY_QUEUE_PAIR_LOOKUP_H
#define CNPD_PROXY_QUEUE_PAIR_LOOKUP_H

#include "map-keys.h"
#include "proxy/config.h"
#include "proxy/layout.h"
#include "proxy/tenant.h"

// After so many CNPs the peer must have answered something since their count began. The check runs only then, so up to
// twice as many, and one, follow its last answer.
#define UNANSWERED_CNPS 12

// Confirmed: requests were seen, and matching answers. Entries are never evicted: they leave by age, by contradiction
// or at disconnection.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} queue_pairs SEC(".maps");

// Content of a CM exchange that traffic has not confirmed yet. Each port of the router has a share of it, in which the
// oldest entry is evicted (queue-pair-store.h).
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 15);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} unconfirmed_queue_pairs SEC(".maps");

// Written by the agent only; these entries take precedence over learned ones.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 12);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct qp_flow);
	__type(value, struct queue_pair);
} static_queue_pairs SEC(".maps");

// The other end of each learned connection by the Queue Pair of this one. It distinguishes a datagram's sender from a
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

// Returns the learned entry of a flow, even if it is too old or doubtful. Null: there is none.
static __always_inline struct queue_pair *queue_pair_learned(const struct qp_flow *flow)
{
	struct queue_pair *pair = map_find(&queue_pairs, flow);
	return pair ? pair : map_find(&unconfirmed_queue_pairs, flow);
}

// Whether the flow's sender is still known to send from `sender_qpn` to this peer.
static __always_inline int queue_pair_has(const struct qp_flow *flow, __u32 sender_qpn, const struct qp_peer *peer)
{
	struct qp_flow known = {
		.sender = flow->sender, .receiver = peer->host, .receiver_qpn = peer->qpn, .tenant = flow->tenant
	};
	struct queue_pair *pair = queue_pair_learned(&known);
	return pair && pair->sender_qpn == sender_qpn;
}

// Whether `qpn` of the flow's sender is known to belong to a connection with any peer, even if the entry is too old or
// doubtful: it cannot be the source of a datagram.
__noinline int queue_pair_is_connected(const struct qp_flow *flow, __u32 qpn)
{
	if (!flow)
		return 0;
	struct queue_pair *pair = map_find(&static_queue_pairs, flow);
	if (pair && pair->sender_qpn == qpn)
		return 1;
	struct qp_peer *peer;
	{ // The compiler uses its place on the stack again.
		struct qp_owner owner = { .host = flow->sender, .qpn = qpn, .tenant = flow->tenant };
		peer = bpf_map_lookup_elem(&connected_queue_pairs, &owner);
	}
	return peer && queue_pair_has(flow, qpn, peer);
}

// Whether a known flow has had UNANSWERED_CNPS without an answer. If its peer has answered meanwhile, the count
// restarts.
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
	pair->waiting = 0; // until the next request that asks for an answer
	pair->doubtful = 0;
	return 0;
}

static __always_inline int queue_pair_holds(const struct queue_pair *pair, const struct proxy_config *config, __u64 now)
{
	return pair && !pair->doubtful && !is_later(now, pair->last_seen, config->ageing_ns);
}

// Returns the usable entry of a flow: the operator's, otherwise the learned one unless it has aged or its requests
// remain unanswered. Null: there is none.
static __always_inline struct queue_pair *queue_pair_of(const struct qp_flow *flow, const struct proxy_config *config,
							__u64 now)
{
	struct queue_pair *pair = map_find(&static_queue_pairs, flow);
	if (pair)
		return pair;
	pair = queue_pair_learned(flow);
	return queue_pair_holds(pair, config, now) ? pair : 0;
}

// Returns the Queue Pair from which the flow's sender sends; 0: not known.
static __always_inline __u32 source_qpn_of(const struct qp_flow *flow)
{
	struct proxy_config *config = proxy_configuration();
	if (!config)
		return 0;
	struct queue_pair *pair = queue_pair_of(flow, config, bpf_ktime_get_coarse_ns());
	return pair ? pair->sender_qpn : 0;
}

#endif
