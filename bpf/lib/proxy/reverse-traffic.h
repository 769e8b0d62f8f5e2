// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Learns a connection from its traffic (PNC-1-c): A sends to B's Queue Pair b with PSN p; soon B answers to A's Queue
// Pair a and names p. Sent PSNs that ask for an answer are kept briefly under (A, B, p). An answer that finds exactly
// one Queue Pair there is a hit for (a, b). The connection is learned after `hits` consecutive hits, each with a later
// PSN. Both a's side and b's side must have seen the same pair.
//
// The method is cautious. A PSN that two Queue Pairs sent is no hit and resets a's count. A hit for another pair is a
// contradiction, after which twice as many hits are required. So two connections in lockstep between the same hosts are
// never distinguished, and never guessed. The ports of a request and its answer are checked whenever they would be
// evidence, for or against. The UDP source port, which some cards derive from both Queue Pairs, is not used: it could
// only confirm this result.
#ifndef CNPD_PROXY_REVERSE_TRAFFIC_H
#define CNPD_PROXY_REVERSE_TRAFFIC_H

#include "proxy/queue-pairs.h"

struct sent_key {
	struct address sender;
	struct address receiver;
	__u32 psn;
	__u32 space; // tenant_space(): request and answer share one, even where they are seen in two tenants
};

#define QPN_AMBIGUOUS 0xffffffffu

struct sent {
	__u32 qpn; // destination of the packet; QPN_AMBIGUOUS: several, or of several tenants
	__u32 tenant;
	__u64 at;
	struct address origin; // of the outermost header
	__u32 port;	       // at which it arrived
	__u32 place;	       // index in the share of the port, from 1
};

#define SENT_SHARE 2048
PORT_SHARED(qp_sent, SENT_SHARE);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PORT_SHARES *SENT_SHARE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct sent_key);
	__type(value, struct sent);
} qp_sent_psns SEC(".maps");

// A supposed peer of the sender of a flow. Both directions have one, and must agree.
struct candidate {
	__u32 sender_qpn;
	__u32 psn; // of the last hit; PSN_UNKNOWN: none of this direction yet
	__s32 hits;
	__u32 peer_tenant;
	__u32 place; // index in the share of the charged port, from 1
};

#define CANDIDATE_SHARE 1024
PORT_SHARED(qp_candidate, CANDIDATE_SHARE);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PORT_SHARES *CANDIDATE_SHARE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct qp_flow);
	__type(value, struct candidate);
} qp_candidates SEC(".maps");

// Returns a place for a PSN and evicts its previous entry. 0: there is no place.
__noinline __u32 sent_place(struct sent_key *key, __u32 port, __u64 now, __u64 recent_ns)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	__u32 number = 0;
	struct shared_key *place = share_place(&qp_sent_places, &qp_sent_next, SENT_SHARE, port, &number);
	if (!key || !place || !memory)
		return 0;
	memory->displaced = *place;
	*place = *(struct shared_key *)key;
	struct sent *before = bpf_map_lookup_elem(&qp_sent_psns, &memory->displaced);
	if (before && before->place == number) {
		if (!is_later(now, before->at, recent_ns))
			count(COUNT_QP_SENT_DISPLACED);
		bpf_map_delete_elem(&qp_sent_psns, &memory->displaced);
	}
	return number;
}

// Returns a place for a supposed peer, likewise.
__noinline __u32 candidate_place(struct qp_flow *flow, __u32 port)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	__u32 number = 0;
	struct shared_key *place =
		share_place(&qp_candidate_places, &qp_candidate_next, CANDIDATE_SHARE, port, &number);
	if (!flow || !place || !memory)
		return 0;
	memory->displaced = *place;
	*place = *(struct shared_key *)flow;
	struct candidate *before = bpf_map_lookup_elem(&qp_candidates, &memory->displaced);
	if (before && before->place == number) {
		count(COUNT_QP_CANDIDATE_DISPLACED);
		bpf_map_delete_elem(&qp_candidates, &memory->displaced);
	}
	return number;
}

// The source of a request and the source of its answer are each other's destination, except in a tunnel, whose other
// end is irrelevant here.
static __always_inline int sent_is_believed(struct __sk_buff *skb, const struct sent *sent,
					    const struct address *destination)
{
	struct address origin = sent->origin;
	return is_believed(skb, &origin, destination, sent->port);
}

// The PSN came from another Queue Pair, or at another port than before. It becomes ambiguous only when both are
// believed.
__noinline int note_sent_again(struct __sk_buff *skb, struct arrival *a, struct sent *known, __u64 recent_ns)
{
	if (!a || !known)
		return 0;
	if (!is_believed(skb, &a->origin, &a->origin_destination, a->port)) {
		count(COUNT_QP_WRONG_PORT);
		return 0;
	}
	int is_other = known->qpn != a->flow.receiver_qpn || known->tenant != a->flow.tenant;
	if (is_other && !is_later(a->now, known->at, recent_ns) &&
	    sent_is_believed(skb, known, &a->origin_destination)) {
		known->qpn = QPN_AMBIGUOUS;
	} else {
		known->qpn = a->flow.receiver_qpn;
		known->tenant = a->flow.tenant;
		known->port = a->port;
		known->origin = a->origin;
	}
	known->at = a->now;
	return 0;
}

static __always_inline void note_sent(struct __sk_buff *skb, struct arrival *a, __u64 recent_ns)
{
	struct sent_key key = { .sender = a->flow.sender,
				.receiver = a->flow.receiver,
				.psn = a->psn,
				.space = tenant_space(a->flow.tenant) };
	struct sent fresh = { .qpn = a->flow.receiver_qpn,
			      .tenant = a->flow.tenant,
			      .port = a->port,
			      .at = a->now,
			      .origin = a->origin };
	struct sent *known = bpf_map_lookup_elem(&qp_sent_psns, &key);
	if (!known) {
		fresh.place = sent_place(&key, a->port, a->now, recent_ns);
		if (!fresh.place)
			return;
		if (bpf_map_update_elem(&qp_sent_psns, &key, &fresh, BPF_NOEXIST) == 0)
			return;
		// Another CPU was faster.
		known = bpf_map_lookup_elem(&qp_sent_psns, &key);
		if (!known)
			return;
	}
	if ((known->qpn == fresh.qpn && known->tenant == fresh.tenant && known->port == fresh.port) ||
	    (known->qpn == QPN_AMBIGUOUS && !is_later(a->now, known->at, recent_ns)))
		known->at = a->now;
	else
		note_sent_again(skb, a, known, recent_ns);
}

static __always_inline void candidate_set(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn, __u32 psn,
					  __s32 hits, __u32 port)
{
	struct candidate fresh = { .sender_qpn = sender_qpn, .psn = psn, .hits = hits, .peer_tenant = peer_tenant };
	struct candidate *known = map_find(&qp_candidates, flow);
	fresh.place = known ? known->place : candidate_place(flow, port);
	if (!fresh.place)
		return;
	map_set(&qp_candidates, flow, &fresh, BPF_ANY);
}

// Returns the supposed Queue Pair of the flow's sender, with the tenant of the other direction in the upper half; 0:
// none.
static __always_inline __u64 candidate_of(struct qp_flow *flow)
{
	struct candidate *candidate = map_find(&qp_candidates, flow);
	return candidate ? (__u64)candidate->peer_tenant << 32 | candidate->sender_qpn : 0;
}

// An answer (flow: B → A, Queue Pair a) to a request for `asked`, Queue Pair b of B, which was seen in `tenant`.
static __always_inline void candidate_hit(struct qp_flow *flow, __u32 tenant, __u32 asked, __u32 psn, __s32 needed,
					  __u32 port)
{
	struct qp_flow request;
	flow_reversed(&request, flow, asked, tenant);
	__u64 mine = candidate_of(flow), theirs = candidate_of(&request);
	count(COUNT_QP_MATCH);
	if (mine != ((__u64)tenant << 32 | asked) || theirs != ((__u64)flow->tenant << 32 | flow->receiver_qpn)) {
		if (mine | theirs)
			count(COUNT_QP_CONTRADICTION);
		candidate_set(&request, flow->tenant, flow->receiver_qpn, PSN_UNKNOWN, 0, port);
		candidate_set(flow, tenant, asked, psn, mine | theirs ? -needed : 1, port);
	}
	struct candidate *candidate = map_find(&qp_candidates, flow);
	if (!candidate)
		return;
	if (candidate->psn == PSN_UNKNOWN || psn_distance(psn, candidate->psn) > 0) {
		candidate->psn = psn;
		candidate->hits++;
	}
	if (candidate->hits < needed)
		return;
	bpf_map_delete_elem(&qp_candidates, &request);
	map_remove(&qp_candidates, flow);
	if (queue_pairs_connect(flow, tenant, asked, PSN_UNKNOWN, PSN_UNKNOWN, QP_FROM_TRAFFIC, port) == 0)
		count(COUNT_QP_LEARNED_TRAFFIC);
}

static __always_inline void note_answer(struct __sk_buff *skb, struct arrival *a, struct proxy_config *config)
{
	struct sent_key key = { .sender = a->flow.receiver,
				.receiver = a->flow.sender,
				.psn = a->psn,
				.space = tenant_space(a->flow.tenant) };
	struct sent *sent = bpf_map_lookup_elem(&qp_sent_psns, &key);
	if (!sent || is_later(a->now, sent->at, config->recent_ns))
		return;
	__u32 asked = sent->qpn, tenant = sent->tenant, asked_by = sent->port;
	if (!is_believed(skb, &a->origin, &a->origin_destination, a->port) ||
	    (asked != QPN_AMBIGUOUS && !sent_is_believed(skb, sent, &a->origin))) {
		count(COUNT_QP_WRONG_PORT);
		return;
	}
	if (asked != QPN_AMBIGUOUS) {
		candidate_hit(&a->flow, tenant, asked, a->psn, config->hits, charged_port(asked_by, a->port));
		return;
	}
	count(COUNT_QP_AMBIGUOUS);
	struct candidate *mine = map_find(&qp_candidates, &a->flow);
	if (mine && mine->hits > 0)
		mine->hits = 0;
}

// Learns from a packet of a connection that is unknown or doubtful, RC or XRC.
__noinline int learn_from_traffic(struct __sk_buff *skb, struct arrival *a)
{
	if (!a)
		return 0;
	struct proxy_config *config = proxy_configuration();
	if (!config || config->hits == 0)
		return 0;
	if (is_answer(a->opcode) && !is_naming(a->opcode))
		return 0;
	if (a->flow.receiver_qpn < FIRST_DATA_QPN)
		return 0;
	if (!are_learned(&a->flow.sender, &a->flow.receiver))
		return 0;
	if (is_naming(a->opcode))
		note_answer(skb, a, config);
	else
		note_sent(skb, a, config->recent_ns);
	return 0;
}

#endif
