// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where a source was believed lately. A look-up in the FIB for each packet would cost more than most of what else a
// program does with it. Each program has a map of beliefs of its own, per CPU, so nothing else writes to one.
#ifndef CNPD_BELIEF_H
#define CNPD_BELIEF_H

#include "wire/address.h"

// A believed port is checked again after this time.
#define BELIEF_NS 1000000000ULL
#define BELIEFS 64

struct belief {
	struct address source;
	__u64 at; // CLOCK_MONOTONIC by the tick; 0: never
	__u32 port;
	__u32 reserved;
};

static __always_inline int belief_holds(const struct belief *belief, const struct address *source, __u32 port,
					__u64 now)
{
	return belief->at != 0 && now - belief->at < BELIEF_NS && belief->port == port &&
	       same_address(&belief->source, source);
}

static __always_inline void belief_note(struct belief *belief, const struct address *source, __u32 port, __u64 now)
{
	belief->source = *source;
	belief->port = port;
	belief->at = now;
}

#endif
