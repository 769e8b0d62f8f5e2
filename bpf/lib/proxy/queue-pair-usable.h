// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether a known Queue Pair may be notified. The proxy asks before it writes a CNP for a notice, and the source's
// program (source.bpf.c) before it does for a notification.
#ifndef CNPD_PROXY_QUEUE_PAIR_USABLE_H
#define CNPD_PROXY_QUEUE_PAIR_USABLE_H

#include "counters.h"
#include "proxy/queue-pair-lookup.h"

// Returns the entry of a flow that may be used for a CNP. A flow that has had its CNPs without an answer is excluded,
// however quickly they followed each other. From then on its requests are treated as those of an unknown connection, so
// three answers of another peer replace it.
static __always_inline struct queue_pair *queue_pair_usable(const struct qp_flow *flow,
							    const struct proxy_config *config, __u64 now)
{
	struct queue_pair *pair = map_find(&static_queue_pairs, flow);
	if (pair)
		return pair;
	pair = queue_pair_learned(flow);
	if (pair && pair->waiting && queue_pair_is_spent(flow, pair) && !pair->doubtful) {
		count(COUNT_QP_DOUBTFUL);
		pair->doubtful = 1;
	}
	return queue_pair_holds(pair, config, now) ? pair : 0;
}

#endif
