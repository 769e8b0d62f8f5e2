// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Congestion Notification Packet of RoCEv2 (PNC-1-d; InfiniBand annex A17 §A17.9.3; FCNP §3, Figure 2; decision
// D11). It has IP, UDP port 4791 from the data packet's source port, BTH with opcode 0x81, BECN and the data sender's
// Queue Pair, 16 reserved bytes, and ICRC. Its source is the flow's receiver: network cards find the Queue Pair's peer
// by it. DSCP CS6, not ECT. 80 bytes over IPv6, 60 over IPv4.
#ifndef CNPD_WIRE_CNP_H
#define CNPD_WIRE_CNP_H

#include "wire/address.h"
#include "wire/checksum.h"
#include "wire/icrc.h"
#include "wire/roce.h"
#include "wire/walk.h"

#define CNP_PAYLOAD_WORDS 10 // UDP 2, BTH 3, reserved 4, ICRC 1
#define CNP_UDP_SIZE (CNP_PAYLOAD_WORDS * 4)
#define CNP_WORDS_IPV6 (IPV6_HLEN / 4 + CNP_PAYLOAD_WORDS)
#define CNP_WORDS_IPV4 (IPV4_HLEN / 4 + CNP_PAYLOAD_WORDS)
#define CNP_TRAFFIC_CLASS (48 << 2)
#define CNP_HOP_LIMIT 65 // routing decrements it: 64 on the wire
#define BTH_BECN 0x40000000u

struct cnp {
	struct address source, destination; // of one family
	__u32 qpn;
	__be16 sport;
	__be16 pkey;
};

static __always_inline void cnp_transport(__u32 *udp, const struct cnp *cnp)
{
	udp[0] = bpf_htonl((__u32)bpf_ntohs(cnp->sport) << 16 | ROCE_UDP_PORT);
	udp[1] = bpf_htonl(CNP_UDP_SIZE << 16); // no checksum
	udp[2] = bpf_htonl((__u32)ROCE_OPCODE_CNP << 24 | bpf_ntohs(cnp->pkey));
	udp[3] = bpf_htonl(BTH_BECN | (cnp->qpn & 0xffffff));
	udp[4] = 0; // PSN
	udp[5] = udp[6] = udp[7] = udp[8] = 0;
}

static __always_inline void cnp_build_ipv6(__u32 *packet, const struct cnp *cnp)
{
	packet[0] = bpf_htonl(6u << 28 | CNP_TRAFFIC_CLASS << 20);
	packet[1] = bpf_htonl(CNP_UDP_SIZE << 16 | IPPROTO_UDP << 8 | CNP_HOP_LIMIT);
	__builtin_memcpy(packet + 2, cnp->source.words, 16);
	__builtin_memcpy(packet + 6, cnp->destination.words, 16);
	cnp_transport(packet + 10, cnp);
	packet[CNP_WORDS_IPV6 - 1] = icrc(packet, ICRC_MASK_IPV6, CNP_WORDS_IPV6 - 1);
}

static __always_inline void cnp_build_ipv4(__u32 *packet, const struct cnp *cnp)
{
	packet[0] = bpf_htonl(0x45000000u | CNP_TRAFFIC_CLASS << 16 | CNP_WORDS_IPV4 * 4);
	packet[1] = bpf_htonl(0x4000); // do not fragment
	packet[2] = bpf_htonl(CNP_HOP_LIMIT << 24 | IPPROTO_UDP << 16);
	packet[3] = cnp->source.words[3];
	packet[4] = cnp->destination.words[3];
	__u64 sum = (__u64)packet[0] + packet[1] + packet[2] + packet[3] + packet[4];
	packet[2] |= bpf_htonl(bpf_ntohs(csum_fold(sum)));
	cnp_transport(packet + 5, cnp);
	packet[CNP_WORDS_IPV4 - 1] = icrc(packet, ICRC_MASK_IPV4, CNP_WORDS_IPV4 - 1);
}

#endif
