// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Serial arithmetic, and the labeled words of states and records (layout.h).
#ifndef CNPD_MULTICAST_WORDS_H
#define CNPD_MULTICAST_WORDS_H

#include "multicast/layout.h"

#define PSN_MASK 0xffffffu

// AETH syndromes. An ACK has its credits in the low five bits, an RNR NAK its timer, a NAK its code.
#define AETH_KIND 0x60
#define AETH_ACK 0x00
#define AETH_RNR 0x20
#define AETH_NAK 0x60
#define AETH_VALUE 0x1f
#define AETH_FATAL_LAST (AETH_NAK | 3) // codes 1 to 3; 0 is the sequence error
#define CREDITS_UNKNOWN 0x1f

// Words that several CPUs write are read once, as a whole.
#define word_read(at) (*(volatile __u64 *)(at))
#define word_write(at, value) (*(volatile __u64 *)(at) = (value))
// Whether the word was `from` and is now `to`. A full barrier.
#define word_replace(at, from, to) (__sync_val_compare_and_swap(at, from, to) == (from))
// A full barrier too.
#define word_exchange(at, value) __sync_lock_test_and_set(at, value)

// Other CPUs that change a word at the same moment are few. After this many attempts the packet counts as lost.
#define WORD_ATTEMPTS 8

// a - b in 24-bit serial arithmetic: negative if a is before b.
static __always_inline __s32 psn_from(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

static __always_inline int epoch_is_newer(__u32 a, __u32 b)
{
	return a != b && ((a - b) & EPOCH_MASK) < 1u << (EPOCH_BITS - 1);
}

// Whether the word was written in this epoch. Otherwise it counts as unset.
static __always_inline int is_of(__u64 word, __u32 epoch)
{
	return ((word ^ (LABEL(epoch) | WORD_SET)) >> (LABEL_SHIFT - 1)) == 0;
}

static __always_inline __u64 word_of(__u32 epoch, __u64 content)
{
	return LABEL(epoch) | WORD_SET | content;
}

static __always_inline __u64 progress_word(__u32 epoch, __u32 next, __u32 msn, __u32 credits)
{
	return word_of(epoch, (__u64)(credits & 0x1f) << 48 | (__u64)(msn & PSN_MASK) << 24 | (next & PSN_MASK));
}

static __always_inline __u64 nak_word(__u32 epoch, __u32 psn, __u8 syndrome)
{
	return word_of(epoch, (__u64)syndrome << 24 | (psn & PSN_MASK));
}

#define NAK_RANK_FATAL 64
// Precedence of NAKs: fatal, RNR by its timer, sequence error. 0: an ACK. Timer code 0 is the longest, 655.36 ms; codes
// 1 to 31 are 0.01 to 491.52 ms, ascending (IBTA vol. 1 §9.7.5.2.8, table 45).
static __always_inline __u32 nak_rank(__u8 syndrome)
{
	__u32 kind = syndrome & AETH_KIND, value = syndrome & AETH_VALUE;
	if (kind == AETH_RNR)
		return 1 + (value ? value : 32);
	if (kind == AETH_NAK)
		return value ? NAK_RANK_FATAL + value : 1;
	return 0;
}

static __always_inline int nak_is_fatal(__u8 syndrome)
{
	return nak_rank(syndrome) > NAK_RANK_FATAL;
}

#endif
