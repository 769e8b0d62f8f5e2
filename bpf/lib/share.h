// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Shares of a queue: bytes that a flow, or other traffic, has sent into it in this window of time and the one before.
// With the one before, nothing is large just because it is the first in a new window. Several CPUs may count at once
// and lose a packet's bytes at a window's beginning; a share is an estimate.
#ifndef CNPD_SHARE_H
#define CNPD_SHARE_H

#include "kernel.h"

// Where a share is kept: the number of its window, the bytes in that, and in the one before.
struct share_place {
	__u64 *window;
	__u64 *now;
	__u64 *before;
};

// Where the largest share of a queue is kept: also by the window alone, which becomes the one before.
struct largest_place {
	__u64 *window;
	__u64 *now;
	__u64 *share;
};

// Counts a packet. Returns the share.
static __always_inline __u64 share_add(const struct share_place *share, const struct largest_place *largest,
				       __u64 window, __u32 length)
{
	if (*largest->window != window) {
		// Of the window before, the largest still counts: nothing is large beside it with one packet.
		*largest->share = *largest->window + 1 == window ? *largest->now : 0;
		*largest->now = 0;
		*largest->window = window;
	}
	if (*share->window != window) {
		*share->before = *share->window + 1 == window ? *share->now : 0;
		*share->now = 0;
		*share->window = window;
	}
	__sync_fetch_and_add(share->now, length);
	__u64 now = *share->now, total = now + *share->before;
	if (now > *largest->now)
		*largest->now = now;
	if (total > *largest->share)
		*largest->share = total;
	return total;
}

#endif
