// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What builder and reader of Fast CNPs (FCNP §4) have in common: the sizes of the Destination Options header, and the
// ICRC. The ICRC covers that header as it is, or skips it (decision B2).
#ifndef CNPD_WIRE_FAST_CNP_H
#define CNPD_WIRE_FAST_CNP_H

#include "wire/cnp.h"

#define OPTION_PAD1 0
#define OPTION_PADN 1
// Destination Options header of option 1, and the largest of option 2.
#define OPTIONS_MIN 24
#define OPTIONS_MAX 264

// `udp`: the datagram behind the options, CNP_PAYLOAD_WORDS long.
static __always_inline __u32 fast_cnp_icrc(const __u32 *ip, const __u32 *options, __u32 options_words, const __u32 *udp,
					   __u32 skip)
{
	__u32 crc = icrc_add(ICRC_START, ip[0] | *(const __u32 *)ICRC_MASK_IPV6[0]);
	if (skip)
		crc = icrc_add(crc, bpf_htonl(CNP_UDP_SIZE << 16 | IPPROTO_UDP << 8 | 0xff));
	else
		crc = icrc_add(crc, ip[1] | *(const __u32 *)ICRC_MASK_IPV6[1]);
	crc = icrc_add_words(crc, ip + 2, IPV6_HLEN / 4 - 2);
	if (!skip) {
#pragma clang loop unroll(disable)
		for (__u32 i = 0; i < OPTIONS_MAX / 4 && i < options_words; i++)
			crc = icrc_add(crc, options[i]);
	}
	crc = icrc_add_masked(crc, udp, ICRC_MASK_IPV6 + IPV6_HLEN / 4, ICRC_MASK_WORDS - IPV6_HLEN / 4);
	return icrc_end(icrc_add_words(crc, udp + ICRC_MASK_WORDS - IPV6_HLEN / 4,
				       CNP_PAYLOAD_WORDS - 1 - (ICRC_MASK_WORDS - IPV6_HLEN / 4)));
}

#endif
