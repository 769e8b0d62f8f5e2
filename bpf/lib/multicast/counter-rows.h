// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of End.MT; see counter-table.h. 256-319 data, 320-383 answers.
#ifndef CNPD_MULTICAST_COUNTER_ROWS_H
#define CNPD_MULTICAST_COUNTER_ROWS_H

#define COUNTERS_MULTICAST(X)                                                                                          \
	X(256, MC_EDGE_PACKETS, "multicast.edge.packets", "packets replicated to receivers by End.MT (RMC-6.2-e)")

#endif
