// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The aggregation of ACKs and NAKs (RMC-5.3.1, RMC-5.3.2; decisions C9 to C11). Whatever goes up has the minimum m of
// what the branches have confirmed: ACK(m - 1), or NAK(m).
//
// Why RMC-5.3.1-a and RMC-5.3.2-a hold, whatever the CPUs do at the same time: every receiver that counts has received
// every packet before m.
//
//   1. A branch's word is true when it is written: a receiver says itself what it has, a child says its own minimum.
//      Receivers forget nothing, so the word stays true. It only grows (claim_progress), by compare-and-exchange.
//   2. A minimum of words that were read one after the other is at most the minimum of the truth at the end of reading.
//      So no lock is needed: m may be too small, never too large.
//   3. A word of another epoch counts as unset, and nothing goes up while a branch is unset. A child's word in epoch e
//      is about the receivers below it in the tree of e, because the child has chosen its list by the digest in e's
//      packets, and an answer with another label is refused. So no receiver is missing in a minimum of e.
//      When the epoch changes during an answer, the answer is about e and is labeled e: the parent refuses it unless
//      it is in e itself. What the root still sends of e is true of the receivers of e.
//   4. A receiver that joins begins with a message that the source sends when the receiver is in force. Until a packet
//      begins a message it does not count. It is marked before the first copy of that packet (progress.h). So an
//      answer that covers its first packet finds the mark, on any CPU. An answer that does not find it confirms only
//      packets from before the receiver's beginning.
//   5. A record is never beyond `high`, what was forwarded: an ACK that is ahead confirms just that (claim_is_sent).
//      Comparison is serial: all words are within 2^23 of `high`, which is at or above each of them.
//   6. `sent`, `repeat`, `nak` and `nak_pending` only decide whether something goes up, never with which m.
//
// Not covered: a source and receivers that reset their Queue Pairs to other PSNs without any change of the group. A
// membership with other Queue Pair numbers, or another epoch, is needed.
//
// Why the source learns the minimum (liveness):
//
//   a. Each CPU writes its branch's word with a full barrier and reads the others then. Of several CPUs, the one whose
//      write comes last reads all writes: it computes the true minimum, and `sent` lets it pass.
//   b. What is lost on the way up is sent again when the source repeats a packet: receivers confirm duplicates, and
//      `repeat` lets one answer pass for each. `sent` needs no undoing.
//   c. A NAK that cannot go up, because a branch is unset, is in the branch's word: the last branch's answer sends it.
//   d. A NAK of a branch goes up once (NAK_SENT), with the minimum m of that moment, and one goes up for all that wait.
//      The source goes back to m, or, if it learns of more before, to what is confirmed by then. That is never beyond a
//      gap, so it comes to the gap by itself. An m that grows meanwhile needs no second NAK. After NAK(m) nothing
//      more goes up for m until the source repeats it (nak_pending); a branch that has asked meanwhile asks again
//      if m grows first. So a node never sends more NAKs than its branches have sent.
//   e. A NAK that is lost on the way up, or whose packet is lost again on the way down, is the timer's, as on any
//      reliable connection: a responder sends one NAK a gap. What the source repeats then settles the NAKs of all
//      packets from there on (multicast_note_settled). A branch that asks again after that is heard again.
#ifndef CNPD_MULTICAST_AGGREGATE_H
#define CNPD_MULTICAST_AGGREGATE_H

#include "multicast/progress.h"
#include "multicast/records.h"

// What goes up.
struct multicast_upward {
	__u64 current; // of the state whose minimum it is
	__u32 psn;     // of the BTH
	__u32 msn;
	__u8 syndrome;
	__u8 reserved[7];
};

struct multicast_minimum {
	__s32 least; // next PSN, from the answer's
	__s32 msn;   // from the answer's
	__u32 credits;
	__u32 counted;
	__u32 rank; // of the live NAK that goes first
	__u8 syndrome;
	__u8 has_unsent; // a live NAK has not gone up
	__u8 reserved[2];
};

static __always_inline int nak_is_live(__u64 nak, __u64 progress, __u32 epoch)
{
	return is_of(nak, epoch) && WORD_PSN(nak) == WORD_PSN(progress);
}

// Adds a branch. 0: it has not answered in this epoch. A global function: the verifier checks it once, not once a
// branch.
__noinline int multicast_minimum_add(__u32 slot, __u32 role, struct multicast_claim *claim,
				     struct multicast_minimum *minimum)
{
	const struct multicast_branch *branch = multicast_branch_at(slot);
	const struct multicast_record *record = multicast_record_at(slot);
	if (!branch || !record || !claim || !minimum)
		return 0;
	if (branch->excluded || (role == MULTICAST_AS_EDGE && !multicast_has_joined(record)))
		return 1;
	__u32 epoch = CURRENT_EPOCH(claim->current);
	__u64 progress = word_read(&record->progress), nak = word_read(&record->nak);
	if (!is_of(progress, epoch))
		return 0;
	__s32 next = psn_from(WORD_PSN(progress), claim->next), msn = psn_from(PROGRESS_MSN(progress), claim->msn);
	__u32 credits = PROGRESS_CREDITS(progress), rank = nak_rank(NAK_SYNDROME(nak));
	if (minimum->counted == 0 || next < minimum->least)
		minimum->least = next;
	if (minimum->counted == 0 || msn < minimum->msn)
		minimum->msn = msn;
	if (minimum->counted == 0 || credits == CREDITS_UNKNOWN ||
	    (minimum->credits != CREDITS_UNKNOWN && credits < minimum->credits))
		minimum->credits = credits;
	minimum->counted++;
	if (!nak_is_live(nak, progress, epoch))
		return 1;
	minimum->has_unsent |= !(nak & NAK_SENT);
	if (rank > minimum->rank) {
		minimum->rank = rank;
		minimum->syndrome = NAK_SYNDROME(nak);
	}
	return 1;
}

// The minimum over the branches of the list. 0: wait for the others. A global function.
__noinline int multicast_minimum(struct multicast_claim *claim, struct multicast_minimum *minimum)
{
	if (!claim || !minimum)
		return 0;
	struct multicast_list *list = multicast_list_at(CURRENT_LIST(claim->current));
	if (!list)
		return 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		if (!multicast_minimum_add(list->first + i, list->role, claim, minimum))
			return 0;
	return minimum->counted > 0;
}

// Marks the NAK of a branch as sent, unless it precedes the one that goes up. 1: this CPU did. A global function.
__noinline int multicast_nak_take(__u32 slot, __u32 epoch, __u32 rank)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record)
		return 0;
	__u64 nak = word_read(&record->nak);
	return !(nak & NAK_SENT) && nak_rank(NAK_SYNDROME(nak)) <= rank &&
	       nak_is_live(nak, word_read(&record->progress), epoch) && word_replace(&record->nak, nak, nak | NAK_SENT);
}

// Marks the NAKs of all branches as sent: one of this rank goes up for all. Returns how many this CPU has marked. Each
// mark belongs to one NAK that has come, so no more go up than have come, whatever other CPUs do. One that precedes it
// has come since the minimum was read: the CPU that takes it sends it. A global function.
__noinline int multicast_naks_take(struct multicast_claim *claim, __u32 rank)
{
	struct multicast_list *list = claim ? multicast_list_at(CURRENT_LIST(claim->current)) : 0;
	int taken = 0;
	if (!list)
		return 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		taken += multicast_nak_take(list->first + i, CURRENT_EPOCH(claim->current), rank);
	return taken;
}

// Whether NAK(m) goes up. 0: no branch asks that has not been heard, or NAK(m) is on its way already.
static __always_inline int up_nak(struct multicast_state *state, struct multicast_claim *claim, __u32 m,
				  const struct multicast_minimum *minimum)
{
	__u32 epoch = CURRENT_EPOCH(claim->current);
	__u64 pending = word_read(&state->nak_pending);
	if (!minimum->has_unsent)
		return 0;
	if (is_of(pending, epoch) && WORD_PSN(pending) == m && nak_rank(NAK_SYNDROME(pending)) >= minimum->rank)
		return 0;
	if (!multicast_naks_take(claim, minimum->rank))
		return 0;
	word_replace(&state->nak_pending, pending, nak_word(epoch, m, minimum->syndrome));
	return 1;
}

// Whether ACK(m - 1) goes up: for more than before, for other credits, or because the source has not seen the last.
// A NAK confirms as much, so it counts too.
static __always_inline int up_ack(struct multicast_state *state, __u32 epoch, __u64 sent)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < WORD_ATTEMPTS; i++) {
		__u64 was = word_read(&state->sent);
		if (is_of(was, epoch) && (was == sent || psn_from(WORD_PSN(sent), WORD_PSN(was)) < 0))
			break;
		if (word_replace(&state->sent, was, sent))
			return 1;
	}
	__u64 repeat = word_read(&state->repeat);
	return is_of(repeat, epoch) && word_replace(&state->repeat, repeat, 0);
}

static __always_inline void up_count(__u8 syndrome)
{
	__u32 rank = nak_rank(syndrome);
	count(rank == 0	  ? COUNT_MC_UP_ACK
	      : rank == 1 ? COUNT_MC_UP_NAK
	      : rank < 64 ? COUNT_MC_UP_RNR
			  : COUNT_MC_UP_FATAL);
}

// Records an answer of a branch. 1: `up` goes to the parent. 0: nothing does; counted here. A global function.
__noinline int multicast_aggregate(struct multicast_claim *claim, struct multicast_upward *up)
{
	if (!claim || !up)
		return 0;
	struct multicast_state *state = multicast_state_at(claim->state);
	struct multicast_record *record = multicast_record_at(claim->slot);
	struct multicast_minimum minimum = {};
	__u32 epoch = CURRENT_EPOCH(claim->current);
	if (!state || !record || claim_record(state, record, claim) == CLAIM_DROPPED)
		return 0;
	if (!multicast_minimum(claim, &minimum)) {
		count(COUNT_MC_WAITING);
		return 0;
	}
	__u32 m = (claim->next + minimum.least) & PSN_MASK, msn = (claim->msn + minimum.msn) & PSN_MASK;
	__u64 high = word_read(&state->high);
	if (!is_of(high, epoch) || psn_from(WORD_PSN(high), m) < 0 || word_read(&state->current) != claim->current) {
		count(COUNT_MC_ANSWER_STALE);
		return 0;
	}
	int nak = up_nak(state, claim, m, &minimum);
	int ack = up_ack(state, epoch, progress_word(epoch, m, msn, minimum.credits));
	if (!nak && !ack) {
		count(COUNT_MC_SUPPRESSED);
		return 0;
	}
	up->current = claim->current;
	up->psn = nak ? m : (m - 1) & PSN_MASK;
	up->msn = msn;
	up->syndrome = nak ? minimum.syndrome : AETH_ACK | minimum.credits;
	up_count(up->syndrome);
	__sync_fetch_and_add(&state->answers, 1);
	return 1;
}

// Turns what the edge role sends up into an answer of the tree's local branch. 0: the parent is another router, or the
// roles are not in one epoch.
static __always_inline int climb_local(struct multicast_claim *claim, const struct multicast_upward *up, int *stale)
{
	__u32 parent = CURRENT_PARENT(up->current), group = claim->state >> 1;
	const struct address *sid = bpf_map_lookup_elem(&multicast_router_sids, &parent);
	const struct multicast_group *own = multicast_group_at(group);
	if ((claim->state & 1) == MULTICAST_AS_BRANCHING || parent == 0 || !sid || !own ||
	    !same_address(sid, &own->replication))
		return 0;
	struct multicast_state *tree = multicast_state_at(MULTICAST_STATE(group, MULTICAST_AS_BRANCHING));
	*stale = 1;
	if (!tree)
		return 0;
	__u64 current = word_read(&tree->current);
	struct multicast_list *list = multicast_list_at(CURRENT_LIST(current));
	if (!list || !list->has_local || CURRENT_EPOCH(current) != CURRENT_EPOCH(up->current)) {
		count(COUNT_MC_ANSWER_STALE);
		return 0;
	}
	*claim = (struct multicast_claim){ .current = current,
					   .state = MULTICAST_STATE(group, MULTICAST_AS_BRANCHING),
					   .slot = list->first,
					   .next = (up->psn + !nak_rank(up->syndrome)) & PSN_MASK,
					   .msn = up->msn,
					   .syndrome = up->syndrome };
	return 1;
}

// An answer on its way through the roles of this router. 1: `up` leaves it, from the role claim->state.
static __always_inline int multicast_climb(struct multicast_claim *claim, struct multicast_upward *up)
{
	int stale = 0;
	if (!multicast_aggregate(claim, up))
		return 0;
	if (climb_local(claim, up, &stale))
		return multicast_aggregate(claim, up);
	return !stale;
}

#endif
