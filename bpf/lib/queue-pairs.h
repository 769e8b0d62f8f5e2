// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which Queue Pair sends to which (PNC-1-c). A BTH names the destination's Queue Pair only, so the sender's must be learned: cm.h, reverse-traffic.h.
// A connection is two entries, one a direction, because either side may send data; they name each other. A wrong answer here slows down
// somebody else, so whatever contradicts an entry removes both halves: unknown is harmless.
#ifndef CNPD_QUEUE_PAIRS_H
#define CNPD_QUEUE_PAIRS_H

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
static __noinline int queue_pair_remove(struct qp_flow *flow)
{
	struct qp_flow reverse;
	if (!flow)
		return 0;
	struct queue_pair *pair = bpf_map_lookup_elem(&queue_pairs, flow);
	if (!pair)
		return 0;
	flow_reversed(&reverse, flow, pair->sender_qpn, pair->peer_tenant);
	struct queue_pair *other = bpf_map_lookup_elem(&queue_pairs, &reverse);
	if (other && other->sender_qpn == flow->receiver_qpn)
		bpf_map_delete_elem(&queue_pairs, &reverse);
	bpf_map_delete_elem(&queue_pairs, flow);
	return 1;
}

struct learned {
	__u32 sender_qpn;
	__u32 starting_psn;
	__u32 source;
	__u32 peer_tenant;
	__u64 now;
};

// Writes one half. Knowledge about the same connection is refreshed in place, so that its rate limit and its counts go on.
static __noinline int queue_pair_store(struct qp_flow *flow, struct learned *learned)
{
	__u32 zero = 0;
	if (!flow || !learned)
		return -1;
	struct queue_pair *known = bpf_map_lookup_elem(&queue_pairs, flow);
	if (known && known->sender_qpn == learned->sender_qpn && known->peer_tenant == learned->peer_tenant) {
		known->source = learned->source;
		known->starting_psn = learned->starting_psn;
		known->psn = PSN_UNKNOWN;
		known->strikes = 0;
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
	fresh->peer_tenant = learned->peer_tenant;
	fresh->learned_at = fresh->last_seen = fresh->checked_at = fresh->unanswered_since = learned->now;
	if (known) {
		// Another Queue Pair took this one's peer: the old other half goes, the flow's rate limit stays.
		fresh->last_cnp = known->last_cnp;
		queue_pair_remove(flow);
		count(COUNT_QP_REPLACED);
	}
	return bpf_map_update_elem(&queue_pairs, flow, fresh, BPF_ANY);
}

// Learns a connection: flow->sender's `sender_qpn` and flow->receiver's `flow->receiver_qpn` are each other's peers. The receiver's packets are seen in `peer_tenant`.
static __always_inline int queue_pairs_connect(struct qp_flow *flow, __u32 peer_tenant, __u32 sender_qpn, __u32 sender_psn, __u32 receiver_psn, __u32 source)
{
	struct qp_flow reverse;
	struct learned learned = {
		.sender_qpn = sender_qpn, .starting_psn = sender_psn, .source = source, .peer_tenant = peer_tenant, .now = bpf_ktime_get_coarse_ns(),
	};
	flow_reversed(&reverse, flow, sender_qpn, peer_tenant);
	if (queue_pair_store(flow, &learned) < 0)
		goto failed;
	learned.sender_qpn = flow->receiver_qpn;
	learned.starting_psn = receiver_psn;
	learned.peer_tenant = flow->tenant;
	if (queue_pair_store(&reverse, &learned) < 0)
		goto failed;
	return 0;
failed:
	queue_pair_remove(flow);
	count(COUNT_QP_STORE_FAILED);
	return -1;
}

// --- What a packet of a known connection says about it -------------------------------------------------------------------------------------

enum qp_verdict { QP_FITS, QP_GONE };

static __always_inline enum qp_verdict queue_pair_drop(struct qp_flow *flow, enum counter why)
{
	queue_pair_remove(flow);
	count(why);
	return QP_GONE;
}

// Now and then: is there another half, is it alive, does it answer, and do its answers fit? `psn` of an answer is in the other
// direction's sequence; PSN_UNKNOWN when it does not name a request.
static __noinline int queue_pair_check(struct qp_flow *flow, __u32 psn, __u32 answer, __u64 now)
{
	struct qp_flow reverse;
	if (!flow)
		return QP_FITS;
	struct queue_pair *pair = bpf_map_lookup_elem(&queue_pairs, flow);
	struct proxy_config *config = proxy_configuration();
	if (!pair || !config)
		return QP_FITS;
	flow_reversed(&reverse, flow, pair->sender_qpn, pair->peer_tenant);
	struct queue_pair *other = bpf_map_lookup_elem(&queue_pairs, &reverse);
	if (!other || other->sender_qpn != flow->receiver_qpn)
		return queue_pair_drop(flow, COUNT_QP_ORPHANED);
	if (is_later(now, pair->last_seen, config->ageing_ns) && is_later(now, other->last_seen, config->ageing_ns))
		return queue_pair_drop(flow, COUNT_QP_AGED);
	if (answer) {
		if (psn == PSN_UNKNOWN || other->psn == PSN_UNKNOWN)
			return QP_FITS;
		__s32 distance = psn_distance(psn, other->psn);
		pair->strikes = distance > -PSN_WINDOW && distance < PSN_WINDOW ? 0 : pair->strikes + 1;
		if (pair->strikes >= MAX_STRIKES)
			return queue_pair_drop(flow, COUNT_QP_CONTRADICTED);
	} else if (pair->source == QP_FROM_TRAFFIC) {
		if ((__s64)(other->last_seen - pair->unanswered_since) >= 0)
			pair->unanswered_since = now;
		else if (is_later(now, pair->unanswered_since, config->silence_ns))
			return queue_pair_drop(flow, COUNT_QP_SILENT);
	}
	return QP_FITS;
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

static __always_inline int is_looked_at(__u32 opcode, __u32 psn, __u32 asks)
{
	return asks || !(psn & SAMPLED_PSN_MASK) || ((NAMING_OPS | ASKING_OPS) >> (opcode & 31) & 1);
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

// Takes note of a packet of a known connection. QP_GONE: it is not known any more.
static __always_inline int queue_pair_seen(struct qp_flow *flow, struct queue_pair *pair, __u32 opcode, __u32 psn, __u32 length)
{
	__u32 answer = ANSWER_OPS >> (opcode & 31) & 1;
	__u64 now = bpf_ktime_get_coarse_ns();
	if (!answer)
		queue_pair_tally(pair, psn, length);
	if (is_later(now, pair->checked_at, CHECK_INTERVAL_NS)) {
		pair->checked_at = now;
		// Only answers that name a request's PSN say something about it.
		if (queue_pair_check(flow, NAMING_OPS >> (opcode & 31) & 1 ? psn : PSN_UNKNOWN, answer, now) == QP_GONE)
			return QP_GONE;
	}
	pair->last_seen = now;
	return QP_FITS;
}

#endif
