// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a branch has confirmed (RMC-5.3.1-b, -c; RMC-5.3.2-b, -c). aggregate.h explains why it is true.
#ifndef CNPD_MULTICAST_RECORDS_H
#define CNPD_MULTICAST_RECORDS_H

#include "multicast/maps.h"
#include "multicast/words.h"

// An answer of a branch.
struct multicast_claim {
	__u64 current; // of the state, when the branch was looked up
	__u32 state;   // MULTICAST_STATE
	__u32 slot;
	__u32 next; // every packet of the source before this PSN is confirmed
	__u32 msn;
	__u8 syndrome; // of the AETH
	__u8 reserved[7];
};

// Finds the branch of the list in use that has this address (RMC-9-b).
static __always_inline int claim_of(struct multicast_claim *claim, const struct address *sender)
{
	struct multicast_state *state = multicast_state_at(claim->state);
	if (!state || !(claim->current = word_read(&state->current))) {
		count(COUNT_MC_NO_STATE);
		return 0;
	}
	struct multicast_member_key key = { .address = *sender, .list = CURRENT_LIST(claim->current) };
	const __u32 *slot = bpf_map_lookup_elem(&multicast_members, &key);
	if (!slot) {
		count(COUNT_MC_ANSWER_STRANGER);
		return 0;
	}
	claim->slot = *slot;
	return 1;
}

// Whether a router's answer is about the tree in use: it is labeled with the epoch. That of another tree may be about
// other receivers.
static __always_inline int claim_is_of(const struct multicast_claim *claim, __u32 label)
{
	if (label == CURRENT_EPOCH(claim->current))
		return 1;
	count(COUNT_MC_ANSWER_STALE);
	return 0;
}

enum claim_result { CLAIM_DROPPED, CLAIM_RECORDED };

static __always_inline enum claim_result claim_dropped(enum counter why)
{
	count(why);
	return CLAIM_DROPPED;
}

// The branch's word after this answer. An older answer, or one that repeats the last, changes nothing but credits.
static __always_inline __u64 claim_progress(const struct multicast_claim *claim, __u64 was, __u32 epoch)
{
	int is_ack = (claim->syndrome & AETH_KIND) == AETH_ACK;
	__u32 credits = claim->syndrome & AETH_VALUE, msn = claim->msn;
	if (!is_of(was, epoch))
		return progress_word(epoch, claim->next, msn, is_ack ? credits : CREDITS_UNKNOWN);
	__s32 ahead = psn_from(claim->next, WORD_PSN(was));
	if (ahead < 0)
		return was;
	if (psn_from(msn, PROGRESS_MSN(was)) < 0) {
		if (ahead == 0)
			return was;
		msn = PROGRESS_MSN(was);
	}
	return progress_word(epoch, claim->next, msn, is_ack ? credits : PROGRESS_CREDITS(was));
}

// An ACK may be ahead of what this router has forwarded by less than this. The router has restarted, or the receiver's
// Queue Pair begins with a later message: to it, all packets before are duplicates. What is further ahead is no PSN of
// this group. 2^20 packets of 4 KiB are the longest message, 4 GiB.
#define CLAIM_AHEAD 0x100000

// Brings an ACK down to `high`: what it confirms beyond is not known to be of the source. 0: never sent; counted.
static __always_inline int claim_is_sent(struct multicast_claim *claim, __u64 high, __u32 epoch)
{
	__s32 ahead = psn_from(claim->next, WORD_PSN(high));
	if (!is_of(high, epoch) || (ahead > 0 && (nak_rank(claim->syndrome) || ahead >= CLAIM_AHEAD))) {
		count(COUNT_MC_ANSWER_NEVER_SENT);
		return 0;
	}
	if (ahead > 0)
		claim->next = WORD_PSN(high);
	return 1;
}

// Records an answer.
static __always_inline enum claim_result claim_record(struct multicast_state *state, struct multicast_record *record,
						      struct multicast_claim *claim)
{
	__u32 epoch = CURRENT_EPOCH(claim->current);
	__u64 was, now = 0;
	if (!claim_is_sent(claim, word_read(&state->high), epoch))
		return CLAIM_DROPPED;
	int recorded = 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < WORD_ATTEMPTS && !recorded; i++) {
		was = word_read(&record->progress);
		now = claim_progress(claim, was, epoch);
		// A late CPU must not label the word with an epoch that is over.
		if (word_read(&state->current) != claim->current)
			return claim_dropped(COUNT_MC_ANSWER_STALE);
		recorded = now == was || word_replace(&record->progress, was, now);
	}
	if (!recorded)
		return claim_dropped(COUNT_MC_ANSWER_CONTENDED);
	// Whoever has confirmed more since does not ask for this packet any more.
	if (nak_rank(claim->syndrome) && WORD_PSN(now) == claim->next)
		word_exchange(&record->nak, nak_word(epoch, claim->next, claim->syndrome));
	return CLAIM_RECORDED;
}

#endif
