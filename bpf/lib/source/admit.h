// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether a notification that has been read is believed, and about which connection it is.
//
// - LHCNP-5.6-b, LHCNP-9-a, FCNP-5-c: its source is on the allow-list. A Fast CNP of the flow's receiver itself
//   (FCNP-4-e), and its standard CNP, need not be: the receiver may slow down what it receives.
// - The route back to the source leads out of the port at which it arrives (proxy/port-roles.h). On the loopback
//   interface it has the tag of this router's builder.
// - LHCNP-5.6-a, FCNP-4-n: the sender has a connection with this Queue Pair, as the proxy's program has learned it.
// - The token bucket of all nodes' notifications, or that of all others: of flows' receivers outside the allow-list.
//
// Only senders of the main table are known here: at other SIDs the tunnel exit forwards past this program.
#ifndef CNPD_SOURCE_ADMIT_H
#define CNPD_SOURCE_ADMIT_H

#include "proxy/port-roles.h"
#include "proxy/queue-pair-usable.h"
#include "source/holding.h"
#include "source/read.h"
#include "token-bucket.h"
#include "wire/tunnel-ended.h"

static __always_inline int source_is_node(const struct address *address)
{
	return !!source_match(&source_nodes, address);
}

// Nothing that a CNP could say. Only a Long-haul CNP has an instruction other than 0, Notify.
static __always_inline int source_is_resume(const struct told *told)
{
	return told->instruction == ACTION_RESUME;
}

static __always_inline int source_is_receiver(const struct told *told)
{
	return told->format == FORMAT_FAST_CNP && same_address(&told->node, &told->receiver);
}

static __always_inline int source_bearer(struct __sk_buff *skb, const struct told *told)
{
	struct address origin;
	if (skb->ifindex == LOOPBACK_IFINDEX)
		return skb->cb[CB_WORD_TAG] == CB_TAG ? SOURCE_GOOD : COUNT_SOURCE_NOT_BUILT;
	if (tunnel_ended(skb, &origin)) {
		if (!source_is_node(&origin))
			return COUNT_SOURCE_NOT_ALLOWED;
		if (!is_believed(skb, &origin, &told->sender, skb->ifindex | PORT_TUNNEL))
			return COUNT_SOURCE_WRONG_PORT;
	}
	return is_believed_lately(skb, &told->node, &told->sender, skb->ifindex) ? SOURCE_GOOD
										 : COUNT_SOURCE_WRONG_PORT;
}

// The other end of the sender's Queue Pair, as learned. 0: none is known.
static __always_inline int source_peer(struct told *told)
{
	struct qp_owner owner = { .host = told->sender, .qpn = told->sender_qpn, .tenant = TENANT_MAIN };
	struct qp_peer *peer = bpf_map_lookup_elem(&connected_queue_pairs, &owner);
	if (!peer)
		return 0;
	told->receiver = peer->host;
	told->receiver_qpn = peer->qpn;
	return 1;
}

static __always_inline void source_flow(const struct told *told, struct qp_flow *flow)
{
	flow->sender = told->sender;
	flow->receiver = told->receiver;
	flow->receiver_qpn = told->receiver_qpn;
	flow->tenant = TENANT_MAIN;
}

// Completes `told` with both Queue Pairs. Null: `*problem` says why.
static __always_inline struct queue_pair *source_queue_pair(struct told *told, struct qp_flow *flow,
							    const struct proxy_config *config, __u64 now, int *problem)
{
	*problem = COUNT_SOURCE_QP_UNKNOWN;
	if (told->format != FORMAT_FAST_CNP && !source_peer(told))
		return 0;
	source_flow(told, flow);
	struct queue_pair *pair = queue_pair_usable(flow, config, now);
	if (!pair) {
		pair = queue_pair_learned(flow);
		if (pair && pair->doubtful)
			*problem = COUNT_SOURCE_QP_DOUBTFUL;
		return 0;
	}
	if (told->format == FORMAT_FAST_CNP)
		told->sender_qpn = pair->sender_qpn;
	return pair->sender_qpn == told->sender_qpn ? pair : 0;
}

// Whoever floods as the receiver of its flows uses up nothing of the nodes' rate, and the other way round.
static __always_inline int source_bucket_refuses(const struct told *told, const struct source_config *config, __u64 now)
{
	__u32 which = source_is_node(&told->node) ? SOURCE_BUCKET_NODES : SOURCE_BUCKET_RECEIVERS;
	__u64 *bucket = bpf_map_lookup_elem(&source_bucket, &which);
	return !bucket || bucket_full(bucket, config->spacing_ns, config->burst_ns, now);
}

// One CNP for a flow in its interval, whoever notifies it: a proxy's notices count as well. Then the token bucket,
// unless it `has_token`.
static __always_inline int source_may_convert(const struct told *told, struct queue_pair *pair,
					      const struct source_config *config, __u64 now, int has_token)
{
	__u64 last = *(volatile __u64 *)&pair->last_cnp;
	if (last != 0 && (__s64)(now - last) < (__s64)config->flow_interval_ns)
		return COUNT_SOURCE_FLOW_LIMITED;
	if (!has_token && source_bucket_refuses(told, config, now))
		return COUNT_SOURCE_RATE_LIMITED;
	if (__sync_val_compare_and_swap(&pair->last_cnp, last, now) != last)
		return COUNT_SOURCE_FLOW_LIMITED;
	__sync_fetch_and_add(&pair->cnps, 1);
	if (pair->waiting)
		pair->unanswered_cnps++; // the flow's interval admits no other CPU here
	return SOURCE_GOOD;
}

// What becomes of it, where cnpd is to act for the sender. What it cannot hold is the host's, which hears its receiver,
// and of nodes what it understands.
static __always_inline __u32 source_enforcing(const struct told *told, const struct qp_flow *flow, __u64 now)
{
	if (source_holds(flow, now))
		return SOURCE_ENFORCE;
	count(COUNT_SOURCE_NOT_HELD);
	return told->format == FORMAT_NONE ? SOURCE_PASS : SOURCE_CONVERT;
}

// After the checks of the source: the connection, then what its action needs. SOURCE_PASS needs no connection, if a
// node notifies: the host knows its own. `action` is that of the prefix; `told->action`, what becomes of it.
__noinline int source_admit(struct told *told, __u32 action)
{
	struct proxy_config *learning = proxy_configuration();
	struct source_config *config = source_configuration();
	__u64 now = bpf_ktime_get_ns();
	struct qp_flow flow = {};
	int problem;
	if (!told || !learning || !config)
		return COUNT_SOURCE_FAILED;
	struct queue_pair *pair = source_queue_pair(told, &flow, learning, now, &problem);
	// Anybody can claim to be the receiver of a connection that nobody knows.
	if (!pair && source_is_receiver(told) && !source_is_node(&told->node))
		return problem;
	told->action = action;
	if (action != SOURCE_PASS && !pair)
		return problem;
	if (action == SOURCE_ENFORCE)
		told->action = source_enforcing(told, &flow, now);
	if (told->action != SOURCE_CONVERT)
		return source_bucket_refuses(told, config, now) ? COUNT_SOURCE_RATE_LIMITED : SOURCE_GOOD;
	if (source_is_resume(told))
		return COUNT_SOURCE_RESUME;
	problem = source_may_convert(told, pair, config, now, 0);
	if (problem != SOURCE_GOOD)
		return problem;
	// The entry may have been removed and its memory given to another flow meanwhile. A second look-up confirms it.
	pair = queue_pair_of(&flow, learning, now);
	return pair && pair->sender_qpn == told->sender_qpn ? SOURCE_GOOD : COUNT_SOURCE_QP_UNKNOWN;
}

// What has been admitted for the agent to obey, and does not reach it. It has its token.
static __noinline int source_admit_instead(const struct told *told)
{
	struct proxy_config *learning = proxy_configuration();
	struct source_config *config = source_configuration();
	__u64 now = bpf_ktime_get_ns();
	struct qp_flow flow = {};
	if (!told || !learning || !config)
		return COUNT_SOURCE_FAILED;
	source_flow(told, &flow);
	struct queue_pair *pair = queue_pair_of(&flow, learning, now);
	if (!pair || pair->sender_qpn != told->sender_qpn)
		return COUNT_SOURCE_QP_UNKNOWN;
	return source_may_convert(told, pair, config, now, 1);
}

#endif
