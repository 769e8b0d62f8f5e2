// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of holds; see counter-table.h.
#ifndef CNPD_HOLD_COUNTER_ROWS_H
#define CNPD_HOLD_COUNTER_ROWS_H

#define COUNTERS_HOLD(X)                                                                                               \
	X(448, HOLD_HELD, "hold.held", "packets put into the class of their hold, or given a departure time")          \
	X(449, HOLD_LEAVING, "hold.leaving", "of these, packets of a hold that ends, behind those still in its class") \
	X(450, HOLD_RELEASED, "hold.released", "holds whose class was empty: their packets go straight again")         \
	X(451, HOLD_STRAIGHT, "hold.straight", "packets of released holds that the agent has not removed yet")         \
	X(452, HOLD_EXPIRED, "hold.expired", "packets passed because the agent has not renewed their hold in time")    \
	X(453, HOLD_ANSWERS_PASSED, "hold.answers-passed", "ACKs and NAKs of held flows passed ahead of their data")   \
	X(454, HOLD_UNCONFIGURED, "hold.unconfigured",                                                                 \
	  "packets of held flows passed at a port without classes for them")                                           \
	X(455, HOLD_INVALID, "hold.invalid", "packets passed because their hold names no class or state")              \
	X(456, HOLD_UNPARSEABLE, "hold.unparseable",                                                                   \
	  "packets passed whose header chain is truncated, too deep or malformed, while a flow is held")               \
	X(457, HOLD_FULL, "hold.full", "packets dropped because too much of their flow waits for its departure time")  \
	X(458, HOLD_BEHIND, "hold.behind",                                                                             \
	  "packets behind others of their flow that wait for their departure time, where it is not held any more")

#endif
