// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every reason for which a program of cnpd acts or does not act. One row a counter: index, C name, dotted name,
// meaning. The rows of a program are in its own counter-rows.h. src/kernel/dataplane/counters.ts holds the same table;
// a unit test compares the two. Indexes are permanent, because the pinned map outlives the agent: rows are added at a
// free index and never renumbered.
//   0-63 egress, 64-95 notice builder, 96-127 guard, 128-207 proxy, 208-239 SRv6,
//   256-319 End.MT data, 320-383 End.MT answers, 384-447 source,
//   448-479 holds, 480-511 flow control
#ifndef CNPD_COUNTER_TABLE_H
#define CNPD_COUNTER_TABLE_H

#include "builder/counter-rows.h"
#include "detector/counter-rows.h"
#include "flow-control/counter-rows.h"
#include "guard/counter-rows.h"
#include "hold/counter-rows.h"
#include "multicast/counter-rows.h"
#include "proxy/counter-rows.h"
#include "source/counter-rows.h"
#include "srv6/counter-rows.h"

#define COUNTERS_MAX 512

#define CNPD_COUNTER_ENUM(index, name, dotted, meaning) COUNT_##name = index,
enum counter {
	COUNTERS_EGRESS(CNPD_COUNTER_ENUM) COUNTERS_NOTICE(CNPD_COUNTER_ENUM) COUNTERS_GUARD(CNPD_COUNTER_ENUM)
		COUNTERS_PROXY(CNPD_COUNTER_ENUM) COUNTERS_SRV6(CNPD_COUNTER_ENUM) COUNTERS_MULTICAST(CNPD_COUNTER_ENUM)
			COUNTERS_SOURCE(CNPD_COUNTER_ENUM) COUNTERS_HOLD(CNPD_COUNTER_ENUM)
				COUNTERS_FLOW_CONTROL(CNPD_COUNTER_ENUM)
};

#endif
