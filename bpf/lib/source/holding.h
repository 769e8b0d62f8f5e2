// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether a flow is slowed down in place of its host, or will be once the agent hears of the notification. Otherwise
// nobody may take from the host what tells it to slow down.
#ifndef CNPD_SOURCE_HOLDING_H
#define CNPD_SOURCE_HOLDING_H

#include "hold/held.h"
#include "proxy/queue-pair-lookup.h"
#include "source/maps.h"

// A flow that is held stays so while others find no room. One whose packets leave by a port without classes is held in
// name only. The agent may give the last class to a flow while notifications about others are on their way to it: of
// each of those, the first is lost, the next one is the host's.
static __noinline int source_holds(const struct qp_flow *flow, __u64 now)
{
	struct hold_key key = { .kind = HOLD_FLOW };
	__u32 zero = 0;
	const struct source_holding *agent = bpf_map_lookup_elem(&source_holding, &zero);
	if (!flow || !agent || now >= agent->until_ns)
		return 0;
	key.source = flow->sender;
	key.destination = flow->receiver;
	key.id = flow->receiver_qpn;
	const struct hold *hold = bpf_map_lookup_elem(&holds, &key);
	if (!hold || hold->phase == HOLD_BEHIND || now >= hold->until_ns)
		return !!agent->room;
	__u32 slot = hold->minor - HOLD_FIRST_MINOR;
	const struct hold_record *record = bpf_map_lookup_elem(&hold_records, &slot);
	return record && !record->unheld;
}

#endif
