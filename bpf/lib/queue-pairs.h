// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which Queue Pair sends to which (PNC-1-c). A BTH names the destination's Queue Pair only, so the sender's must be learned: cm.h, reverse-traffic.h.
// A connection is two entries, one a direction, because either side may send data; they name each other. A wrong answer here slows down
// somebody else, so whatever contradicts an entry removes both halves: unknown is harmless. What comes by a port to which no route back to its source
// leads is no evidence (port-roles.h).
#ifndef CNPD_QUEUE_PAIRS_H
#define CNPD_QUEUE_PAIRS_H

#include "port-roles.h"
#include "proxy-maps.h"
#include "queue-pair-lookup.h"
#include "roce.h"

// Too large for a program's stack.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue_pair);
} queue_pair_scratch SEC(".maps");

// PSNs that belong together are less than this apart (facts: packets in flight on a 100 Gb/s path of 100 ms).
#define PSN_WINDOW (1 << 21)
#define CHECK_INTERVAL_NS 10000000ULL
#define MAX_STRIKES 3

// A packet that may teach or remove something.
struct arrival {
	struct qp_flow flow;
	struct address origin;	    // source of the outermost IP header: who brought it here
	struct address origin_goal; // and its destination
	__u64 now;
	__u32 opcode;
	__u32 psn;
	__u32 asks;   // for an answer
	__u32 length; // of the frame
	__u32 port;
	__u32 is_tagged; // a VLAN tag is in front: it is seen again at the VLAN's own interface
};

// Too large for the stack as well.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct arrival);
} arrival_scratch SEC(".maps");

static __always_inline struct arrival *arrival_memory(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&arrival_scratch, &zero);
}

// --- What traffic has not confirmed yet -----------------------------------------------------------------------------------------------------

// A ring a port: the connection that has waited longest makes room.
#define UNCONFIRMED_SHARE 256

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SHARES * UNCONFIRMED_SHARE);
	__type(key, __u32);
	__type(value, struct qp_flow);
} unconfirmed_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PORT_SHARES);
	__type(key, __u32);
	__type(value, __u32);
} unconfirmed_next SEC(".maps");

// Signed distance in 24-bit serial arithmetic.
static __always_inline __s32 psn_distance(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

// The other direction, seen in `tenant`, of a flow whose sender has Queue Pair `sender_qpn`.
static __always_inline void flow_reversed(struct qp_flow *to, const struct qp_flow *from, __u32 sender_qpn, __u32 tenant)
{
	to->sender = from->receiver;
	to->receiver = from->sender;
	to->receiver_qpn = sender_qpn;
	to->tenant = tenant;
}

// Removes a flow's entry and its other half, if they still name each other. Whether the entry was there.
__noinline int queue_pair_remove(struct qp_flow *flow)
{
	struct qp_flow reverse;
	if (!flow)
		return 0;
	struct queue_pair *pair = queue_pair_learned(flow);
	if (!pair)
		return 0;
	flow_reversed(&reverse, flow, pair->sender_qpn, pair->peer_tenant);
	struct queue_pair *other = queue_pair_learned(&reverse);
	if (other && other->sender_qpn == flow->receiver_qpn) {
		bpf_map_delete_elem(&queue_pairs, &reverse);
		bpf_map_delete_elem(&unconfirmed_queue_pairs, &reverse);
	}
	bpf_map_delete_elem(&queue_pairs, flow);
	bpf_map_delete_elem(&unconfirmed_queue_pairs, flow);
	return 1;
}

// A place in the share of `port`, from 1; whoever had it goes. 0: there is none.
__noinline __u32 unconfirmed_place(struct qp_flow *flow, __u32 port)
{
	port &= ~PORT_TUNNEL;
	struct port_role *role = port_role_of(port);
	__u32 share = (role ? role->share : port) % PORT_SHARES;
	__u32 *next = bpf_map_lookup_elem(&unconfirmed_next, &share);
	if (!flow || !next)
		return 0;
	__u32 index = share * UNCONFIRMED_SHARE + __sync_fetch_and_add(next, 1) % UNCONFIRMED_SHARE;
	struct qp_flow *place = bpf_map_lookup_elem(&unconfirmed_places, &index);
	if (!place)
		return 0;
	struct qp_flow before = *place;
	*place = *flow;
	struct queue_pair *pair = bpf_map_lookup_elem(&unconfirmed_queue_pairs, &before);
	if (pair && pair->place == index + 1) {
		count(COUNT_QP_DISPLACED);
		queue_pair_remove(&before);
	}
	return index + 1;
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
	if (fresh->place == 0)
		return bpf_map_update_elem(&queue_pairs, flow, fresh, BPF_ANY);
	return bpf_map_update_elem(&unconfirmed_queue_pairs, flow, fresh, BPF_ANY);
}

// Writes one half. Knowledge about the same connection is refreshed in place, so that its rate limit and its counts go on.
__noinline int queue_pair_store(struct qp_flow *flow, struct learned *learned)
{
	__u32 zero = 0;
	if (!flow || !learned)
		return -1;
	struct queue_pair *known = queue_pair_learned(flow);
	if (known && known->sender_qpn == learned->sender_qpn && known->peer_tenant == learned->peer_tenant) {
		known->source = learned->source;
		known->starting_psn = learned->starting_psn;
		known->psn = PSN_UNKNOWN;
		known->strikes = known->waiting = known->doubtful = 0;
		known->learned_at = known->last_seen = known->checked_at = known->unanswered_since = learned->now;
		return 0;
	}
	struct queue_pair *fresh = bpf_map_lookup_elem(&queue_pair_scratch, &zero);
	if (!fresh)
		return -1;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->sender_qpn = learned->sender_qpn;
	fresh->starting_psn = learned->starting_psn;
	fresh->psn = PSN_UNKNOWN;
	fresh->source = learned->source;
	fresh->place = learned->place;
	fresh->peer_tenant = learned->peer_tenant;
	fresh->learned_at = fresh->last_seen = fresh->checked_at = fresh->unanswered_since = learned->now;
	if (known) {
		// Another Queue Pair took this one's peer: the old other half goes, the flow's rate limit stays.
		fresh->last_cnp = known->last_cnp;
		queue_pair_remove(flow);
		count(COUNT_QP_REPLACED);
	}
	return queue_pair_insert(flow, fresh);
}

__noinline int queue_pairs_store(struct qp_flow *flow, struct learned *learned, __u32 receiver_psn)
{
	struct qp_flow reverse;
	if (!flow || !learned)
		return -1;
	flow_reversed(&reverse, flow, learned->sender_qpn, learned->peer_tenant);
	if (queue_pair_store(flow, learned) == 0) {
		struct learned back = *learned;
		back.sender_qpn = flow->receiver_qpn;
		back.starting_psn = receiver_psn;
		back.peer_tenant = flow->tenant;
		if (queue_pair_store(&reverse, &back) == 0)
			return 0;
	}
	queue_pair_remove(flow);
	return -1;
}

// Whether this connection is known already, both halves.
static __always_inline int queue_pairs_known(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn)
{
	struct qp_flow reverse;
	flow_reversed(&reverse, flow, sender_qpn, peer_tenant);
	struct queue_pair *pair = queue_pair_learned(flow), *other = queue_pair_learned(&reverse);
	return pair && other && pair->sender_qpn == sender_qpn && pair->peer_tenant == peer_tenant && other->sender_qpn == flow->receiver_qpn &&
	       other->peer_tenant == flow->tenant;
}

// Learns a connection: flow->sender's `sender_qpn` and flow->receiver's `flow->receiver_qpn` are each other's peers. The receiver's
// packets are seen in `peer_tenant`. What a CM exchange says waits to be
// confirmed, in the share of `port`; what answers have shown does not, unless there is no room.
static __always_inline int queue_pairs_connect(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn, __u32 sender_psn, __u32 receiver_psn, enum qp_source source,
					       __u32 port)
{
	struct learned learned = {
		.sender_qpn = sender_qpn, .starting_psn = sender_psn, .source = source, .peer_tenant = peer_tenant, .now = bpf_ktime_get_coarse_ns(),
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

// Copies what waits of a flow to the confirmed ones: 1. 0: it is there already. -1: there is no room.
static __always_inline int queue_pair_copy(struct qp_flow *flow, struct queue_pair *scratch)
{
	struct queue_pair *pair = bpf_map_lookup_elem(&unconfirmed_queue_pairs, flow);
	if (!pair)
		return 0;
	*scratch = *pair;
	scratch->place = 0;
	return bpf_map_update_elem(&queue_pairs, flow, scratch, BPF_ANY) == 0 ? 1 : -1;
}

// Traffic has confirmed what a CM exchange said.
__noinline int queue_pairs_confirm(struct qp_flow *flow, struct qp_flow *reverse)
{
	__u32 zero = 0;
	struct queue_pair *scratch = bpf_map_lookup_elem(&queue_pair_scratch, &zero);
	if (!flow || !reverse || !scratch)
		return 0;
	// Both or none: a half alone would outlive the place of the other one, and nobody could push it out.
	int first = queue_pair_copy(flow, scratch);
	if (first >= 0 && queue_pair_copy(reverse, scratch) >= 0) {
		bpf_map_delete_elem(&unconfirmed_queue_pairs, flow);
		bpf_map_delete_elem(&unconfirmed_queue_pairs, reverse);
		count(COUNT_QP_CONFIRMED);
		return 0;
	}
	if (first > 0)
		bpf_map_delete_elem(&queue_pairs, flow);
	count(COUNT_QP_FULL);
	return 0;
}

// --- What a packet of a known connection says about it -------------------------------------------------------------------------------------

enum qp_verdict { QP_FITS, QP_GONE, QP_DOUBTED };

// Upper three bits of the opcode.
enum { TRANSPORT_RC = 0, TRANSPORT_UC = 1, TRANSPORT_XRC = 5 };

static __always_inline enum qp_verdict queue_pair_drop(struct qp_flow *flow, enum counter why)
{
	queue_pair_remove(flow);
	count(why);
	return QP_GONE;
}

// One bit an operation (low five bits of the opcode). Answers of a responder: READ responses 0D-10, ACK 11, atomic ACK 12.
#define ANSWER_OPS 0x0007e000u
// Answers that name the PSN of the request: first and only READ response, ACK and NAK, atomic ACK. Later READ responses count on from it.
#define NAMING_OPS 0x00072000u
// Requests that are answered without asking: READ, atomics.
#define ASKING_OPS 0x00181000u
// Packets that are looked at: these, requests that set AckReq, and for responders that acknowledge as they please every sixteenth PSN. The choice
// depends on the PSN alone as far as it can, so that connections in lockstep are kept alike and seen to be ambiguous. The rest costs a few instructions.
#define SAMPLED_PSN_MASK 15

static __always_inline int is_answer(__u32 opcode)
{
	return ANSWER_OPS >> (opcode & 31) & 1;
}

static __always_inline int is_naming(__u32 opcode)
{
	return NAMING_OPS >> (opcode & 31) & 1;
}

static __always_inline int is_looked_at(__u32 opcode, __u32 psn, __u32 asks)
{
	return asks || !(psn & SAMPLED_PSN_MASK) || ((NAMING_OPS | ASKING_OPS) >> (opcode & 31) & 1);
}

// An answer whose PSN is in the other direction's sequence: `flow` and its entry `pair`, `reverse` and `other`.
static __always_inline enum qp_verdict queue_pair_answered(struct arrival *a, struct queue_pair *pair, struct qp_flow *reverse, struct queue_pair *other)
{
	if (!is_naming(a->opcode) || other->psn == PSN_UNKNOWN)
		return QP_FITS;
	__s32 distance = psn_distance(a->psn, other->psn);
	if (distance <= -PSN_WINDOW || distance >= PSN_WINDOW) {
		if (++pair->strikes >= MAX_STRIKES)
			return queue_pair_drop(&a->flow, COUNT_QP_CONTRADICTED);
		return QP_FITS;
	}
	pair->strikes = 0;
	if (pair->place || other->place)
		queue_pairs_confirm(&a->flow, reverse);
	return QP_FITS;
}

// A request: are those before it answered? Nobody answers UC.
static __always_inline enum qp_verdict queue_pair_asked(struct arrival *a, struct queue_pair *pair, struct queue_pair *other, struct proxy_config *config)
{
	if (a->opcode >> 5 == TRANSPORT_UC)
		return QP_FITS;
	if (!pair->waiting || (__s64)(other->last_answer - pair->unanswered_since) >= 0) {
		pair->unanswered_since = a->now;
		pair->waiting = !!a->asks;
		pair->doubtful = 0;
	} else if (is_later(a->now, pair->unanswered_since, config->silence_ns)) {
		return queue_pair_drop(&a->flow, COUNT_QP_SILENT);
	} else if (!pair->doubtful && is_later(a->now, pair->unanswered_since, config->doubt_ns)) {
		count(COUNT_QP_DOUBTFUL);
		pair->doubtful = 1;
	}
	return pair->doubtful ? QP_DOUBTED : QP_FITS;
}

// Now and then: is there another half, is it alive, does it answer, and do its answers fit?
__noinline int queue_pair_check(struct arrival *a)
{
	struct qp_flow reverse;
	if (!a)
		return QP_FITS;
	struct queue_pair *pair = queue_pair_learned(&a->flow);
	struct proxy_config *config = proxy_configuration();
	if (!pair || !config)
		return QP_FITS;
	flow_reversed(&reverse, &a->flow, pair->sender_qpn, pair->peer_tenant);
	struct queue_pair *other = queue_pair_learned(&reverse);
	if (!other || other->sender_qpn != a->flow.receiver_qpn)
		return queue_pair_drop(&a->flow, COUNT_QP_ORPHANED);
	if (is_later(a->now, pair->last_seen, config->ageing_ns) && is_later(a->now, other->last_seen, config->ageing_ns))
		return queue_pair_drop(&a->flow, COUNT_QP_AGED);
	return is_answer(a->opcode) ? queue_pair_answered(a, pair, &reverse, other) : queue_pair_asked(a, pair, other, config);
}

// Another port than before, or it was long ago that this one was asked about. Whether the packet may be believed.
__noinline int queue_pair_moved(struct __sk_buff *skb, struct arrival *a)
{
	if (!a || !is_believed(skb, &a->origin, &a->origin_goal, a->port)) {
		if (a && !a->is_tagged)
			count(COUNT_QP_WRONG_PORT);
		return 0;
	}
	struct queue_pair *pair = queue_pair_learned(&a->flow);
	if (pair) {
		pair->port = a->port;
		pair->believed_at = a->now;
	}
	return 1;
}

static __always_inline void queue_pair_tally(struct queue_pair *pair, __u32 psn, __u32 length)
{
	__s32 advance = pair->psn == PSN_UNKNOWN ? 1 : psn_distance(psn, pair->psn);
	if (advance < 1 || advance > 2 * SAMPLED_PSN_MASK)
		advance = 1; // sent again, or others were lost before they came here
	pair->packets += advance;
	pair->bytes += (__u64)advance * length;
	pair->psn = psn;
}

// Takes note of a packet of a known connection. QP_GONE: it is not known any more. QP_DOUBTED: its requests remain unanswered.
static __always_inline enum qp_verdict queue_pair_seen(struct __sk_buff *skb, struct arrival *a, struct queue_pair *pair)
{
	__u32 answer = is_answer(a->opcode);
	enum qp_verdict verdict = QP_FITS;
	if (unlikely(pair->port != a->port || is_later(a->now, pair->believed_at, BELIEF_NS)) && !queue_pair_moved(skb, a))
		return QP_FITS;
	if (answer)
		pair->last_answer = a->now;
	else
		queue_pair_tally(pair, a->psn, a->length);
	// A question starts the clock, an answer confirms: neither waits for its turn.
	if (is_later(a->now, pair->checked_at, CHECK_INTERVAL_NS) || (answer ? pair->place != 0 : (a->asks && !pair->waiting))) {
		pair->checked_at = a->now;
		verdict = queue_pair_check(a);
		if (verdict == QP_GONE)
			return QP_GONE;
	} else if (pair->doubtful && !answer) {
		verdict = QP_DOUBTED;
	}
	pair->last_seen = a->now;
	return verdict;
}

#endif
