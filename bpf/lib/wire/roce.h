// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// RoCEv2: the base transport header and which of its opcodes carry data (IBTA vol. 1 §9; RoCEv2 annex A17).
#ifndef CNPD_WIRE_ROCE_H
#define CNPD_WIRE_ROCE_H

#include "kernel.h"

#define ROCE_UDP_PORT 4791
#define ROCE_OPCODE_CNP 0x81
#define BTH_SIZE 12
#define DETH_SIZE 8 // Queue Key, one reserved byte, 24 bits of the sender's Queue Pair
#define ICRC_SIZE 4
#define BTH_VERSION 0x0f // TVer, among the flags; only 0 is defined
// Queue Pairs 0 and 1 are management (SMI, GSI), never data flows.
#define FIRST_DATA_QPN 2

struct bth {
	__u8 opcode;
	__u8 flags;
	__be16 pkey;
	__be32 qpn; // high byte: FECN, BECN, reserved
	__be32 psn; // high byte: AckReq, reserved
};

// Whether a UDP datagram with `length` in its header is a RoCEv2 packet. It must hold a BTH and the ICRC, and end
// within the `available` bytes of its IP packet. Jumbograms (UDP length 0, RFC 2675) are excluded.
static __always_inline int roce_fits(__u32 length, __u32 available)
{
	return length >= 8 + BTH_SIZE + ICRC_SIZE && length <= available;
}

static __always_inline int roce_is_version0(const struct bth *bth)
{
	return !(bth->flags & BTH_VERSION);
}

// Unreliable datagrams: a DETH follows the BTH.
static __always_inline int roce_is_datagram(__u8 opcode)
{
	return opcode >> 5 == 3;
}

#define BTH_QPN(word) (bpf_ntohl(word) & 0xffffff)
#define BTH_PSN(word) (bpf_ntohl(word) & 0xffffff)

// One bit an operation (low five bits of the opcode) with a payload: SEND 00-05, 16, 17; WRITE 06-0B; READ response
// 0D-10.
#define DATA_OPS_RC 0x00c1efffu
#define DATA_OPS_UC 0x00000fffu // SEND and WRITE
#define DATA_OPS_UD 0x00000030u // SEND only 04, 05

// Whether a packet of this opcode carries data: not ACK, atomics, READ requests, CNP or the manufacturers' opcodes.
static __always_inline int roce_carries_data(__u8 opcode)
{
	__u32 transport = opcode >> 5;
	__u32 operations;
	if (transport == 0 || transport == 5) // RC, XRC
		operations = DATA_OPS_RC;
	else if (transport == 1)
		operations = DATA_OPS_UC;
	else if (transport == 3)
		operations = DATA_OPS_UD;
	else
		return 0;
	return (operations >> (opcode & 31)) & 1;
}

#endif
