// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tenant to which addresses belong: two customers of a VPN may use the same addresses and the same Queue Pair
// numbers. A tenant is a number of 32 bits:
// clang-format off
//   0                    the router's own address space (its main table), and all packets while no tenant is known
//   1 to 0x7fffffff      an address space of this router, the table of one of its own SIDs; both directions of a
//                        connection are seen in it
//   0x80000000 and up    the END.CON SID, of another router, in whose tunnels a sender's packets pass by; each
//                        direction has its own
// clang-format on
// The agent assigns the numbers (src/plan/tenants.ts).
#ifndef CNPD_PROXY_TENANT_H
#define CNPD_PROXY_TENANT_H

#include "kernel.h"

#define TENANT_MAIN 0
#define TENANT_PASSING 0x80000000u
#define TENANT_UNKNOWN 0xffffffffu

// What both directions of a connection have in common: for passing tunnels only the fact that they pass.
static __always_inline __u32 tenant_space(__u32 tenant)
{
	return tenant & TENANT_PASSING ? TENANT_PASSING : tenant;
}

#endif
