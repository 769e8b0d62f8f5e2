// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Writes and removes connections. A connection is two entries, one a direction, because either side may send data. They
// name each other, and are written and removed together.
#ifndef CNPD_PROXY_QUEUE_PAIR_STORE_H
#define CNPD_PROXY_QUEUE_PAIR_STORE_H

#include "proxy/port-shares.h"
#include "proxy/maps.h"
#include "proxy/queue-pair-lookup.h"

// Too large for a program's stack, of which little is left here.
struct queue_pair_memory {
	struct queue_pair pair;
	struct qp_owner owner;
	struct qp_peer peer;
	struct shared_key displaced;
	struct qp_flow removed; // the other half, of queue_pair_remove()
	struct qp_flow stored;	// the same of queue_pairs_store()
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue_pair_memory);
} queue_pair_scratch SEC(".maps");

static __always_inline struct queue_pair_memory *queue_pair_memory(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&queue_pair_scratch, &zero);
}

// --- What traffic has not confirmed yet ---

// One ring a port: the connection that has waited longest is evicted.
#define UNCONFIRMED_SHARE 256

PORT_SHARED(unconfirmed, UNCONFIRMED_SHARE);

// The reverse flow, seen in `tenant`, of a flow whose sender has Queue Pair `sender_qpn`.
static __always_inline void flow_reversed(struct qp_flow *to, const struct qp_flow *from, __u32 sender_qpn,
					  __u32 tenant)
{
	to->sender = from->receiver;
	to->receiver = from->sender;
	to->receiver_qpn = sender_qpn;
	to->tenant = tenant;
}

static __always_inline void queue_pair_owner(struct qp_owner *owner, const struct qp_flow *flow, __u32 sender_qpn)
{
	owner->host = flow->sender;
	owner->qpn = sender_qpn;
	owner->tenant = flow->tenant;
}

// Records to which connection `sender_qpn` belongs. It never overwrites another connection of the same Queue Pair:
// otherwise a peer that falsely claims to be connected to it could remove the record with its own (queue_pair_delete).
// The record is then written when the other connection is gone (queue_pair_check).
__noinline int queue_pair_own(struct qp_flow *flow, __u32 sender_qpn)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !memory)
		return -1;
	queue_pair_owner(&memory->owner, flow, sender_qpn);
	struct qp_peer *peer = bpf_map_lookup_elem(&connected_queue_pairs, &memory->owner);
	if (peer && queue_pair_has(flow, sender_qpn, peer))
		return 0;
	memory->peer.host = flow->receiver;
	memory->peer.qpn = flow->receiver_qpn;
	memory->peer.reserved = 0;
	return bpf_map_update_elem(&connected_queue_pairs, &memory->owner, &memory->peer, BPF_ANY);
}

// Removes one half. If its Queue Pair has been connected to another one since, that record stays.
__noinline int queue_pair_delete(struct qp_flow *flow, __u32 sender_qpn)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !memory)
		return 0;
	queue_pair_owner(&memory->owner, flow, sender_qpn);
	struct qp_peer *peer = bpf_map_lookup_elem(&connected_queue_pairs, &memory->owner);
	if (peer && peer->qpn == flow->receiver_qpn && same_address(&peer->host, &flow->receiver))
		bpf_map_delete_elem(&connected_queue_pairs, &memory->owner);
	map_remove(&queue_pairs, flow);
	map_remove(&unconfirmed_queue_pairs, flow);
	return 0;
}

// Removes a flow's entry and its other half, if they still name each other. Returns whether the entry existed.
__noinline int queue_pair_remove(struct qp_flow *flow)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !memory)
		return 0;
	struct queue_pair *pair = queue_pair_learned(flow);
	if (!pair)
		return 0;
	struct qp_flow *reverse = &memory->removed;
	flow_reversed(reverse, flow, pair->sender_qpn, pair->peer_tenant);
	struct queue_pair *other = queue_pair_learned(reverse);
	__u32 sender_qpn = pair->sender_qpn;
	if (other && other->sender_qpn == flow->receiver_qpn)
		queue_pair_delete(reverse, other->sender_qpn);
	queue_pair_delete(flow, sender_qpn);
	return 1;
}

// Returns a place in the share of `port`, from 1, and evicts its previous entry. 0: there is no place.
__noinline __u32 unconfirmed_place(struct qp_flow *flow, __u32 port)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	__u32 number = 0;
	struct shared_key *place =
		share_place(&unconfirmed_places, &unconfirmed_next, UNCONFIRMED_SHARE, port, &number);
	if (!flow || !place || !memory)
		return 0;
	memory->displaced = *place;
	*place = *(struct shared_key *)flow;
	struct queue_pair *pair = bpf_map_lookup_elem(&unconfirmed_queue_pairs, &memory->displaced);
	if (pair && pair->place == number) {
		count(COUNT_QP_DISPLACED);
		queue_pair_remove((struct qp_flow *)&memory->displaced);
	}
	return number;
}

struct learned {
	__u32 sender_qpn;
	__u32 starting_psn;
	__u32 source;
	__u32 place; // 0: confirmed
	__u32 peer_tenant;
	__u64 now;
};

static __always_inline int queue_pair_insert(struct qp_flow *flow, struct queue_pair *fresh)
{
	if (queue_pair_own(flow, fresh->sender_qpn) < 0)
		return -1;
	if (fresh->place == 0)
		return map_set(&queue_pairs, flow, fresh, BPF_ANY);
	return map_set(&unconfirmed_queue_pairs, flow, fresh, BPF_ANY);
}

// Writes one half. An entry of the same connection is updated in place, so that its rate limit and its counts continue.
__noinline int queue_pair_store(struct qp_flow *flow, struct learned *learned)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !learned || !memory)
		return -1;
	struct queue_pair *known = queue_pair_learned(flow);
	if (known && known->sender_qpn == learned->sender_qpn && known->peer_tenant == learned->peer_tenant) {
		known->source = learned->source;
		known->starting_psn = learned->starting_psn;
		known->psn = PSN_UNKNOWN;
		known->strikes = known->waiting = known->doubtful = 0;
		known->unanswered_cnps = 0;
		known->learned_at = known->last_seen = known->checked_at = known->unanswered_since = learned->now;
		return queue_pair_own(flow, learned->sender_qpn);
	}
	struct queue_pair *fresh = &memory->pair;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->sender_qpn = learned->sender_qpn;
	fresh->starting_psn = learned->starting_psn;
	fresh->psn = PSN_UNKNOWN;
	fresh->source = learned->source;
	fresh->place = learned->place;
	fresh->peer_tenant = learned->peer_tenant;
	fresh->learned_at = fresh->last_seen = fresh->checked_at = fresh->unanswered_since = learned->now;
	if (known) {
		// Another Queue Pair took over this one's peer: remove the old other half, keep the flow's rate limit.
		fresh->last_cnp = known->last_cnp;
		queue_pair_remove(flow);
		count(COUNT_QP_REPLACED);
	}
	return queue_pair_insert(flow, fresh);
}

__noinline int queue_pairs_store(struct qp_flow *flow, struct learned *learned, __u32 receiver_psn)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !learned || !memory)
		return -1;
	flow_reversed(&memory->stored, flow, learned->sender_qpn, learned->peer_tenant);
	if (queue_pair_store(flow, learned) == 0) {
		struct learned back = *learned;
		back.sender_qpn = flow->receiver_qpn;
		back.starting_psn = receiver_psn;
		back.peer_tenant = flow->tenant;
		if (queue_pair_store(&memory->stored, &back) == 0)
			return 0;
	}
	queue_pair_remove(flow);
	return -1;
}

// Whether both halves of this connection are known already.
static __always_inline int queue_pairs_known(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn)
{
	struct qp_flow reverse;
	flow_reversed(&reverse, flow, sender_qpn, peer_tenant);
	struct queue_pair *pair = queue_pair_learned(flow), *other = queue_pair_learned(&reverse);
	return pair && other && pair->sender_qpn == sender_qpn && pair->peer_tenant == peer_tenant &&
	       other->sender_qpn == flow->receiver_qpn && other->peer_tenant == flow->tenant;
}

// Learns a connection: flow->sender's `sender_qpn` and flow->receiver's `flow->receiver_qpn` are peers. The receiver's
// packets are seen in `peer_tenant`. The content of a CM exchange waits for confirmation, in the share of `port`.
// Connections learned from answers do not, unless the table is full.
static __always_inline int queue_pairs_connect(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn,
					       __u32 sender_psn, __u32 receiver_psn, enum qp_source source, __u32 port)
{
	struct learned learned = {
		.sender_qpn = sender_qpn,
		.starting_psn = sender_psn,
		.source = source,
		.peer_tenant = peer_tenant,
		.now = bpf_ktime_get_coarse_ns(),
	};
	int is_known = queue_pairs_known(flow, peer_tenant, sender_qpn);
	if (is_known || source == QP_FROM_TRAFFIC) {
		if (queue_pairs_store(flow, &learned, receiver_psn) == 0)
			return 0;
		count(COUNT_QP_FULL);
	}
	learned.place = unconfirmed_place(flow, port);
	if (learned.place && queue_pairs_store(flow, &learned, receiver_psn) == 0)
		return 0;
	count(COUNT_QP_STORE_FAILED);
	return -1;
}

// Copies an unconfirmed entry of a flow to the confirmed ones. Returns 1; 0: it was there already; -1: the table is
// full.
static __always_inline int queue_pair_copy(struct qp_flow *flow, struct queue_pair *scratch)
{
	struct queue_pair *pair = map_find(&unconfirmed_queue_pairs, flow);
	if (!pair)
		return 0;
	*scratch = *pair;
	scratch->place = 0;
	return map_set(&queue_pairs, flow, scratch, BPF_ANY) == 0 ? 1 : -1;
}

// Traffic has confirmed the CM exchange.
__noinline int queue_pairs_confirm(struct qp_flow *flow, struct qp_flow *reverse)
{
	struct queue_pair_memory *memory = queue_pair_memory();
	if (!flow || !reverse || !memory)
		return 0;
	struct queue_pair *scratch = &memory->pair;
	// Both or none: a single half would outlive the place of the other one, and nothing could evict it.
	int first = queue_pair_copy(flow, scratch);
	if (first >= 0 && queue_pair_copy(reverse, scratch) >= 0) {
		map_remove(&unconfirmed_queue_pairs, flow);
		map_remove(&unconfirmed_queue_pairs, reverse);
		count(COUNT_QP_CONFIRMED);
		return 0;
	}
	if (first > 0)
		map_remove(&queue_pairs, flow);
	count(COUNT_QP_FULL);
	return 0;
}

#endif
