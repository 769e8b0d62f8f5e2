// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which Queue Pair sends to which (PNC-1-c). A BTH names the destination's Queue Pair only, so the sender's must be
// learned: cm.h, reverse-traffic.h. A wrong entry slows down another sender, but a missing one is harmless. So any
// contradiction removes both halves of an entry (queue-pair-store.h). A packet at a port that is not on the reverse
// path to its source is no evidence (port-roles.h).
#ifndef CNPD_PROXY_QUEUE_PAIRS_H
#define CNPD_PROXY_QUEUE_PAIRS_H

#include "proxy/port-roles.h"
#include "proxy/queue-pair-store.h"
#include "wire/roce.h"

// PSNs of the same sequence are less than this apart (facts: packets in flight on a 100 Gb/s path of 100 ms).
#define PSN_WINDOW (1 << 21)
#define CHECK_INTERVAL_NS 10000000ULL
#define MAX_STRIKES 3

// A packet that may teach or remove something.
struct arrival {
	struct qp_flow flow;
	struct address origin;		   // source of the outermost IP header
	struct address origin_destination; // and its destination
	__u64 now;
	__u32 opcode;
	__u32 psn;
	__u32 asks;   // the request asks for an answer
	__u32 length; // of the frame
	__u32 port;
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

// Signed distance in 24-bit serial arithmetic.
static __always_inline __s32 psn_distance(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

// --- What a packet of a known connection proves ---

enum qp_verdict { QP_FITS, QP_GONE, QP_DOUBTED };

// Upper three bits of the opcode.
enum { TRANSPORT_RC = 0, TRANSPORT_UC = 1, TRANSPORT_XRC = 5 };

static __always_inline enum qp_verdict queue_pair_drop(struct qp_flow *flow, enum counter why)
{
	queue_pair_remove(flow);
	count(why);
	return QP_GONE;
}

// One bit an operation (low five bits of the opcode). Answers of a responder: READ responses 0D-10, ACK 11, atomic ACK
// 12.
#define ANSWER_OPS 0x0007e000u
// Answers that name the PSN of the request: first and only READ response, ACK and NAK, atomic ACK. Later READ responses
// have consecutive PSNs.
#define NAMING_OPS 0x00072000u
// Requests that are answered without AckReq: READ, atomics.
#define ASKING_OPS 0x00181000u
// Selected packets: these, requests with AckReq, and every sixteenth PSN, for responders that acknowledge at will. The
// choice depends on the PSN alone as far as it can. So connections in lockstep are selected alike, and found to be
// ambiguous. Other packets cost a few instructions.
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

// An answer whose PSN is in the other direction's sequence. `pair` is the entry of `flow`, `other` that of `reverse`.
static __always_inline enum qp_verdict queue_pair_answered(struct arrival *a, struct queue_pair *pair,
							   struct qp_flow *reverse, struct queue_pair *other)
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

// A request: have earlier ones been answered? UC has no answers.
static __always_inline enum qp_verdict queue_pair_asked(struct arrival *a, struct queue_pair *pair,
							struct queue_pair *other, struct proxy_config *config)
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

// Periodic check: does the other half exist, is it alive, does it answer, and do its answers match?
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
	if (is_later(a->now, pair->last_seen, config->ageing_ns) &&
	    is_later(a->now, other->last_seen, config->ageing_ns))
		return queue_pair_drop(&a->flow, COUNT_QP_AGED);
	queue_pair_own(&a->flow, pair->sender_qpn);
	return is_answer(a->opcode) ? queue_pair_answered(a, pair, &reverse, other)
				    : queue_pair_asked(a, pair, other, config);
}

// The port has changed, or its last check was long ago. Returns whether the packet may be believed.
__noinline int queue_pair_moved(struct __sk_buff *skb, struct arrival *a)
{
	if (!a || !is_believed(skb, &a->origin, &a->origin_destination, a->port)) {
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
		advance = 1; // retransmitted, or the packets between were lost upstream
	pair->packets += advance;
	pair->bytes += (__u64)advance * length;
	pair->psn = psn;
}

// Records a packet of a known connection. QP_GONE: it is not known any more. QP_DOUBTED: its requests remain
// unanswered.
static __always_inline enum qp_verdict queue_pair_seen(struct __sk_buff *skb, struct arrival *a,
						       struct queue_pair *pair)
{
	__u32 answer = is_answer(a->opcode);
	enum qp_verdict verdict = QP_FITS;
	if (unlikely(pair->port != a->port || is_later(a->now, pair->believed_at, BELIEF_NS)) &&
	    !queue_pair_moved(skb, a))
		return QP_FITS;
	if (answer) {
		pair->last_answer = a->now;
		pair->answers++;
	} else {
		queue_pair_tally(pair, a->psn, a->length);
	}
	// A request that asks starts the clock, an answer confirms: neither waits for the periodic check.
	if (is_later(a->now, pair->checked_at, CHECK_INTERVAL_NS) ||
	    (answer ? pair->place != 0 : (a->asks && !pair->waiting))) {
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
