// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a replicator keeps of the data packets that it has seen: the current epoch and its list, the highest PSN, which
// packets were repeated, and which receivers have joined.
//
// All of it is written before the first copy of the packet is made. So an answer to the packet finds it, on any CPU:
// `high` is above every PSN that a receiver may confirm, and a receiver that joins with this packet counts in every
// minimum that covers it.
#ifndef CNPD_MULTICAST_PROGRESS_H
#define CNPD_MULTICAST_PROGRESS_H

#include "multicast/maps.h"
#include "multicast/words.h"

// In the argument `psn` of multicast_note(): the packet begins a message (SEND or WRITE, First or Only). A repeated one
// does too: a Queue Pair that begins with a later message takes it for a duplicate.
#define MULTICAST_NOTE_BEGINS 0x1000000u

// After this long without a packet any other epoch is accepted: the root has restarted and counts anew.
#define MULTICAST_SILENCE_NS 1000000000LL

// Of `data_ns` and of what is compared with it: clocks of other precision are ahead of each other.
#ifndef MULTICAST_NOW
#define MULTICAST_NOW() bpf_ktime_get_coarse_ns()
#endif

// Whether the receiver with this record gets copies and counts in the minimum. A list's composition never changes, so
// this needs no label: who has joined stays.
static __always_inline int multicast_has_joined(const struct multicast_record *record)
{
	return (word_read(&record->joined) & WORD_SET) != 0;
}

// The functions on one branch are global: the verifier checks them once, not once a branch.
__noinline int multicast_note_joined(__u32 slot, __u32 epoch)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (record && !multicast_has_joined(record))
		word_write(&record->joined, word_of(epoch, 0));
	return 0;
}

static __always_inline void note_all_joined(struct multicast_state *state, const struct multicast_list *list, __u32 id,
					    __u32 epoch)
{
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		multicast_note_joined(list->first + i, epoch);
	state->all_joined = id;
}

// A receiver that had joined in the list before has joined in this one, if the agent has not known so already. 0: it
// had not; a new Queue Pair is another receiver.
__noinline int multicast_note_carry(__u32 slot, __u32 before, __u32 epoch)
{
	struct multicast_branch *branch = multicast_branch_at(slot);
	struct multicast_record *own = multicast_record_at(slot);
	if (!branch || !own)
		return 0;
	if (multicast_has_joined(own))
		return 1;
	struct multicast_member_key key = { .address = branch->address, .list = before };
	const __u32 *found = bpf_map_lookup_elem(&multicast_members, &key);
	if (!found)
		return 0;
	struct multicast_branch *old = multicast_branch_at(*found);
	struct multicast_record *record = multicast_record_at(*found);
	if (!old || !record || old->qpn != branch->qpn || !multicast_has_joined(record))
		return 0;
	multicast_note_joined(slot, epoch);
	return 1;
}

// An edge is about to use another list: receivers that had joined go on in the middle of a message. If there are none,
// nobody is there whom a message's middle could reach by mistake: all join at once. That is so at an edge that is new
// or has restarted too, and there the receivers that have had the message's beginning must get the rest.
__noinline int multicast_note_list(__u32 index, __u32 id, __u32 before, __u32 epoch)
{
	struct multicast_state *state = multicast_state_at(index);
	struct multicast_list *list = multicast_list_at(id), *old = multicast_list_at(before);
	if (!state || !list || !old || list->role != MULTICAST_AS_EDGE)
		return 0;
	__u32 carried = 0;
	state->all_joined = 0; // this number may have been another list's
	if (old->group != list->group || old->role != list->role)
		before = 0; // has no members
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		carried |= multicast_note_carry(list->first + i, before, epoch);
	if (carried == 0)
		note_all_joined(state, list, id, epoch);
	return 0;
}

// Labels come again after 1,024 epochs. What they say of an epoch so long ago must not count for the one that begins:
// the root has lost its epoch and begins with any, or has restarted a stream often without data. A step as far as half
// of that is never the next change of a tree, so words of the epochs in between are not looked for.
#define MULTICAST_FAR 512

static __always_inline void note_forget_word(__u64 *word, __u32 epoch)
{
	__u64 was = word_read(word);
	if (is_of(was, epoch))
		word_replace(word, was, 0);
}

__noinline int multicast_note_forget_branch(__u32 slot, __u32 epoch)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record)
		return 0;
	note_forget_word(&record->progress, epoch);
	note_forget_word(&record->nak, epoch);
	return 0;
}

// Before the switch to an epoch that is far from the current one.
__noinline int multicast_note_forget(__u32 index, __u32 id, __u32 epoch)
{
	struct multicast_state *state = multicast_state_at(index);
	struct multicast_list *list = multicast_list_at(id);
	if (!state || !list)
		return 0;
	note_forget_word(&state->high, epoch);
	note_forget_word(&state->sent, epoch);
	note_forget_word(&state->nak_pending, epoch);
	note_forget_word(&state->repeat, epoch);
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		multicast_note_forget_branch(list->first + i, epoch);
	return 0;
}

// Makes this epoch and list the current ones. 0: the packet is of an older epoch, or another CPU was faster.
static __always_inline int note_switch(struct multicast_state *state, __u32 index, __u64 current, __u64 next, __u64 now)
{
	__u32 epoch = CURRENT_EPOCH(next);
	// Another CPU may have written a later time than this one's `now`.
	__s64 silent = (__s64)(now - word_read(&state->data_ns));
	if (current != 0 && !epoch_is_newer(epoch, CURRENT_EPOCH(current)) && silent < MULTICAST_SILENCE_NS)
		return 0;
	// Before the switch: nobody reads the records of the new list yet. Also for the same number: a list that has
	// gone while no data came leaves its number to the next one.
	multicast_note_list(index, CURRENT_LIST(next), CURRENT_LIST(current), epoch);
	if (((epoch - CURRENT_EPOCH(current)) & EPOCH_MASK) >= MULTICAST_FAR)
		multicast_note_forget(index, CURRENT_LIST(next), epoch);
	if (!word_replace(&state->current, current, next))
		return word_read(&state->current) == next;
	if (current != 0)
		count(COUNT_MC_EPOCHS);
	return 1;
}

enum note_result { NOTE_NEW, NOTE_REPEATED, NOTE_STALE };

// Brings `high` up to the PSN behind this one. An epoch begins with its first packet: a stream may have begun anew, and
// of a source that goes on, answers ahead of it confirm no more than this (claim_is_sent).
static __always_inline enum note_result note_high(struct multicast_state *state, __u64 current, __u32 behind)
{
	__u32 epoch = CURRENT_EPOCH(current);
#pragma clang loop unroll(disable)
	for (int i = 0; i < WORD_ATTEMPTS; i++) {
		__u64 was = word_read(&state->high);
		if (is_of(was, epoch) && psn_from(WORD_PSN(was), behind) >= 0)
			return NOTE_REPEATED;
		// A late CPU must not label the word with an epoch that is over.
		if (word_read(&state->current) != current)
			return NOTE_STALE;
		if (word_replace(&state->high, was, word_of(epoch, behind)))
			return NOTE_NEW;
	}
	return NOTE_STALE;
}

// The branch gets the packet that its NAK asked for, or will: a source that goes back before it comes to it by itself.
// A Queue Pair in error stays so: a source that still sends has not heard of it, and the NAK goes up again.
__noinline int multicast_note_settled(__u32 slot, __u32 epoch, __u32 psn)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record)
		return 0;
	__u64 nak = word_read(&record->nak);
	if (is_of(nak, epoch) && psn_from(psn, WORD_PSN(nak)) <= 0)
		word_replace(&record->nak, nak, nak_is_fatal(NAK_SYNDROME(nak)) ? nak & ~NAK_SENT : 0);
	return 0;
}

// The source goes back. Whoever asked for this packet gets it now, and may ask again.
__noinline int multicast_note_repeated(__u32 index, __u32 psn)
{
	struct multicast_state *state = multicast_state_at(index);
	if (!state)
		return 0;
	__u64 current = word_read(&state->current), sent = word_read(&state->sent),
	      pending = word_read(&state->nak_pending);
	__u32 epoch = CURRENT_EPOCH(current);
	if (is_of(sent, epoch) && psn_from(psn, WORD_PSN(sent)) < 0)
		word_write(&state->repeat, word_of(epoch, 0)); // the source has not seen our ACK
	// Only the packet itself: packets before it come from an earlier return of the source, or lead to it. With a
	// NAK for each of them the source would go back as often, and its repetitions would cause the next ones.
	if (is_of(pending, epoch) && WORD_PSN(pending) == psn)
		word_replace(&state->nak_pending, pending, 0);
	struct multicast_list *list = multicast_list_at(CURRENT_LIST(current));
	if (!list)
		return 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES && i < list->count; i++)
		multicast_note_settled(list->first + i, epoch, psn);
	return 0;
}

// Called once for a data packet in a role of this router, when it is known to be acceptable and before it is copied.
//   state   MULTICAST_STATE(group, role)
//   list    index in multicast_lists of the list that the packet's digest selects, not 0
//   epoch   of the packet's tree TLV, 20 bits
//   parent  number of the router that made this copy; 0 at the root; of the edge role of a router that replicates, its
//           own (multicast_own_number)
//   psn     24 bits, as in the packet: before any delta; with MULTICAST_NOTE_BEGINS
// Returns 1: copy it. 0: drop it; counted here. A global function: the verifier checks it once.
__noinline int multicast_note(__u32 state, __u32 list, __u32 epoch, __u32 parent, __u32 psn)
{
	struct multicast_state *noted = multicast_state_at(state);
	struct multicast_list *members = multicast_list_at(list);
	if (!noted || !members)
		return 0;
	__u64 now = MULTICAST_NOW(), current = word_read(&noted->current),
	      next = CURRENT(epoch & EPOCH_MASK, list & 0x3fffff, parent & 0x3fffff);
	enum note_result result = NOTE_STALE;
	if (likely(current == next) || note_switch(noted, state, current, next, now))
		result = note_high(noted, next, (psn + 1) & PSN_MASK);
	if (result == NOTE_STALE) {
		count(COUNT_MC_STALE);
		return 0;
	}
	word_write(&noted->data_ns, now);
	if (result == NOTE_REPEATED)
		multicast_note_repeated(state, psn & PSN_MASK);
	if (psn & MULTICAST_NOTE_BEGINS && members->role == MULTICAST_AS_EDGE && noted->all_joined != list)
		note_all_joined(noted, members, list, epoch);
	return 1;
}

#endif
