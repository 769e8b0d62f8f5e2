// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Answers on their way up the tree: what receivers and children send is aggregated here.
#ifndef CNPD_MULTICAST_ANSWER_H
#define CNPD_MULTICAST_ANSWER_H

#include "multicast/maps.h"
#include "wire/walk.h"

#define ROCE_OPCODE_ACK 0x11 // RC: ACK, NAK and RNR NAK, by the AETH

// A packet from a host to the Proxy Address of a group of which this router is an edge: IPv6 without extension headers,
// UDP to port 4791, and a whole BTH, at most 40 + 8 + 12 octets behind Ethernet in linear memory. Its opcode is
// ROCE_OPCODE_ACK or ROCE_OPCODE_CNP. Nothing else about it is checked. Returns a verdict. A global function.
__noinline int multicast_answer_from_host(struct __sk_buff *skb, __u32 group)
{
	return TC_DROP;
}

// A packet without SRH from a core port to this router's own replication SID: the outer IPv6 header, in linear memory,
// has next header 41. Nothing else is checked. Returns a verdict. A global function.
__noinline int multicast_answer_from_child(struct __sk_buff *skb)
{
	return TC_DROP;
}

// The program `multicast_close_window`, which the agent runs on a packet that it has made: 14 octets of Ethernet, then
// the number of the group state (MULTICAST_STATE), u32 in the machine's byte order, then zeros up to 64 octets.
static __always_inline int multicast_window_close(struct __sk_buff *skb)
{
	return TC_DROP;
}

#endif
