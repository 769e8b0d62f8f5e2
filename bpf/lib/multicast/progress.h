// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What a replicator keeps of the data packets that it has seen: the current epoch and its list, the highest PSN, and
// which packets were repeated.
#ifndef CNPD_MULTICAST_PROGRESS_H
#define CNPD_MULTICAST_PROGRESS_H

#include "multicast/maps.h"

// Called once for a data packet in a role of this router, when it is known to be acceptable and before it is copied.
//   state   MULTICAST_STATE(group, role)
//   list    index in multicast_lists of the list that the packet's digest selects, not 0
//   epoch   of the packet's tree TLV, 20 bits
//   parent  number of the router that made this copy; 0 at the root
//   psn     24 bits, as in the packet: before any delta
// Returns 1: copy it. 0: drop it; counted here. A global function: the verifier checks it once.
__noinline int multicast_note(__u32 state, __u32 list, __u32 epoch, __u32 parent, __u32 psn)
{
	struct multicast_state *noted = multicast_state_at(state);
	if (!noted)
		return 0;
	noted->current = CURRENT(epoch & EPOCH_MASK, list & 0x3fffff, parent & 0x3fffff);
	noted->high = LABEL(epoch) | WORD_SET | ((psn + 1) & 0xffffff);
	return 1;
}

#endif
