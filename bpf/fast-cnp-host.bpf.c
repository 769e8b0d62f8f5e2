// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A host that understands Fast CNP, for the software RoCE endpoint of the lab. A network card takes Fast CNPs before
// the host's IP stack sees them. In software the kernel receives them; it does not know the destination option and
// answers with an ICMPv6 Parameter Problem (FCNP-4-j). At the tc ingress of the host's interface, this program marks
// Fast CNPs as packets for another host. Packet sockets still see them; the IP stack drops them silently. Other
// packets, and other destination options, pass unchanged.
#include "kernel.h"
#include "wire/walk.h"

LICENSE;

enum {
	NEXT_HEADER = ETH_HLEN + 6,
	// Option 1 follows the first two bytes of the options header; option 2 has a PadN of two bytes before it (FCNP
	// §4, Figures 3 and 4).
	OPTION_1 = ETH_HLEN + IPV6_HLEN + 2,
	OPTION_2 = OPTION_1 + 2,
	PADN = 1,
};

// Types of option 1 and option 2; they may be the same. Set before loading.
const volatile __u8 option_types[2];

SEC("tc")
int fast_cnp_host(struct __sk_buff *skb)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (data + OPTION_2 + 1 > end || skb->protocol != bpf_htons(ETH_P_IPV6) || data[NEXT_HEADER] != IPPROTO_DSTOPTS)
		return TC_NEXT;
	__u8 type = data[OPTION_1] == PADN && data[OPTION_1 + 1] == 0 ? data[OPTION_2] : data[OPTION_1];
	if (type == option_types[0] || type == option_types[1])
		bpf_skb_change_type(skb, PACKET_OTHERHOST);
	return TC_NEXT;
}
