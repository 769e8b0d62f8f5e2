// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The ECN field through tunnels (RFC 6040), and the traffic class, whose low two bits it is (RFC 3168 §5, RFC 2474).
#ifndef CNPD_WIRE_ECN_H
#define CNPD_WIRE_ECN_H

#include "kernel.h"

enum { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };
#define ECN_MASK 3
#define ECN_DROP 4

// RFC 6040 figure 4 (FCN figure 6) as bits: two words of 16 cells by inner × 4 + outer. A cell's outcome is its bit in
// HIGH and in LOW. DROP marks the cells whose packets are dropped. Rows Not-ECT, ECT(1), ECT(0), CE; columns the same.
//                      outer  Not-ECT  ECT(1)  ECT(0)  CE
//   inner Not-ECT             Not-ECT  Not-ECT Not-ECT drop
//   inner ECT(1)              ECT(1)   ECT(1)  ECT(1)  CE
//   inner ECT(0)              ECT(0)   ECT(1)  ECT(0)  CE
//   inner CE                  CE       CE      CE      CE
#define ECN_CELL(inner, outer) (1u << ((inner) * 4 + (outer)))
#define ECN_EGRESS_LOW                                                                                                 \
	(ECN_CELL(ECN_ECT1, 0) | ECN_CELL(ECN_ECT1, 1) | ECN_CELL(ECN_ECT1, 2) | ECN_CELL(ECN_ECT1, 3) |               \
	 ECN_CELL(ECN_ECT0, ECN_ECT1) | ECN_CELL(ECN_ECT0, ECN_CE) | 0xf000u)
#define ECN_EGRESS_HIGH                                                                                                \
	(ECN_CELL(ECN_ECT1, ECN_CE) | ECN_CELL(ECN_ECT0, ECN_NOT_ECT) | ECN_CELL(ECN_ECT0, ECN_ECT0) |                 \
	 ECN_CELL(ECN_ECT0, ECN_CE) | 0xf000u)
// "(!!!)" and "(!)" in the figure: no current tunnel ingress produces them.
#define ECN_EGRESS_UNUSED                                                                                              \
	(ECN_CELL(ECN_NOT_ECT, ECN_ECT0) | ECN_CELL(ECN_NOT_ECT, ECN_ECT1) | ECN_CELL(ECN_NOT_ECT, ECN_CE) |           \
	 ECN_CELL(ECN_ECT1, ECN_ECT0) | ECN_CELL(ECN_CE, ECN_ECT1))

// Returns the field of the packet that leaves the tunnel, or ECN_DROP.
static __always_inline __u32 ecn_egress(__u32 inner, __u32 outer)
{
	__u32 cell = inner * 4 + outer;
	if (cell == ECN_NOT_ECT * 4 + ECN_CE)
		return ECN_DROP;
	return ((ECN_EGRESS_HIGH >> cell) & 1) << 1 | ((ECN_EGRESS_LOW >> cell) & 1);
}

static __always_inline int ecn_unused(__u32 inner, __u32 outer)
{
	return (ECN_EGRESS_UNUSED >> (inner * 4 + outer)) & 1;
}

static __always_inline __u32 traffic_class6(const __u8 *ip)
{
	return (ip[0] & 15) << 4 | ip[1] >> 4;
}

static __always_inline void set_traffic_class6(__u8 *ip, __u32 traffic_class)
{
	ip[0] = 0x60 | traffic_class >> 4;
	ip[1] = (ip[1] & 15) | (traffic_class & 15) << 4;
}

// RFC 1624 (3): the header checksum after a change of one 16-bit word, all in network order.
static __always_inline __be16 checksum_replace(__be16 checksum, __be16 from, __be16 to)
{
	__u32 sum = (__u16)~checksum + (__u16)~from + to;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__be16)~sum;
}

#endif
