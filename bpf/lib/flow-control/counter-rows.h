// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of precise flow control; see counter-table.h.
#ifndef CNPD_FLOW_CONTROL_COUNTER_ROWS_H
#define CNPD_FLOW_CONTROL_COUNTER_ROWS_H

#define COUNTERS_FLOW_CONTROL(X)                                                                                       \
	X(480, FLOW_CONTROL_ARRIVALS, "flow-control.arrivals",                                                         \
	  "flows of which it was learned how they arrive, or that it has changed")                                     \
	X(481, FLOW_CONTROL_ARRIVAL_LOST, "flow-control.arrival-lost",                                                 \
	  "flows of which that could not be kept: no memory")                                                          \
	X(482, FLOW_CONTROL_RECORDED, "flow-control.recorded", "packets reported to the agent")                        \
	X(483, FLOW_CONTROL_NO_ARRIVAL, "flow-control.no-arrival",                                                     \
	  "packets over the threshold that have not arrived at an interface of flow control lately")                   \
	X(484, FLOW_CONTROL_HAIRPIN, "flow-control.hairpin",                                                           \
	  "packets over the threshold that leave by the interface at which they arrived")                              \
	X(485, FLOW_CONTROL_NO_TUNNEL, "flow-control.no-tunnel",                                                       \
	  "packets over the threshold that arrived in no tunnel, while services are paused")                           \
	X(486, FLOW_CONTROL_SUPPRESSED, "flow-control.suppressed",                                                     \
	  "packets over the threshold whose traffic has been reported lately")                                         \
	X(487, FLOW_CONTROL_LIMITED, "flow-control.limited",                                                           \
	  "packets over the threshold not reported because of the limit for all")                                      \
	X(488, FLOW_CONTROL_RECORD_LOST, "flow-control.record-lost",                                                   \
	  "packets over the threshold not reported because the agent does not keep up")                                \
	X(489, FLOW_CONTROL_NO_QUEUE, "flow-control.no-queue", "packets at a watched port whose queue cannot be read") \
	X(490, FLOW_CONTROL_FRAGMENT, "flow-control.fragment", "fragments passed, whose flow is not known")            \
	X(491, FLOW_CONTROL_UNPARSEABLE, "flow-control.unparseable",                                                   \
	  "packets passed whose header chain is truncated, too deep or malformed")                                     \
	X(492, FLOW_CONTROL_NOT_CONTRIBUTING, "flow-control.not-contributing",                                         \
	  "packets over the threshold whose traffic has too small a share of the queue")                               \
	X(493, FLOW_CONTROL_OTHER_ARRIVAL, "flow-control.other-arrival",                                               \
	  "packets over the threshold that did not arrive as the latest of their flow did")

#endif
