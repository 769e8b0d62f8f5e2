// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One receiver's copy (RMC §6.2 S08-S11): its route, and what is written into it (rewrite.h).
#ifndef CNPD_MULTICAST_COPY_H
#define CNPD_MULTICAST_COPY_H

#include "multicast/rewrite.h"
#include "multicast/way.h"

// Writes the copy for the receiver in `slot` and returns its way out (way.h). NO_WAY: no copy, counted. A global
// function: the verifier checks it once.
__noinline __u32 multicast_copy(struct __sk_buff *skb, __u32 slot)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_branch *branch = multicast_branch_at(slot);
	struct multicast_record *record = multicast_record_at(slot);
	const struct multicast_group *group = packet ? multicast_group_at(packet->group) : 0;
	if (!packet || !branch || !record || !group)
		return NO_WAY;
	struct bpf_fib_lookup fib = { .family = AF_INET6,
				      .l4_protocol = IPPROTO_UDP,
				      .sport = ((const __be16 *)packet->words)[2 * AT_PORTS],
				      .dport = bpf_htons(ROCE_UDP_PORT),
				      .tot_len = packet->length,
				      .ifindex = skb->ifindex,
				      .flowinfo = packet->words[0] & bpf_htonl(0x0fffffff) };
	int keeps_source = group->flags & MULTICAST_KEEP_SOURCE;
	for (int i = 0; i < 4; i++) {
		fib.ipv6_src[i] = keeps_source ? packet->words[IPV6_SOURCE / 4 + i] : group->proxy.words[i];
		fib.ipv6_dst[i] = branch->address.words[i];
	}
	__u32 way = multicast_way(skb, &fib, MULTICAST_AS_EDGE);
	__u8 *frame = (__u8 *)walk_at(skb, 0, ETH_HLEN + IPV6_HLEN);
	if (way == NO_WAY || !frame || !multicast_rewrite(skb, packet, branch, record))
		return NO_WAY;
	multicast_set_macs(frame, &fib);
	__u8 hop_limit = ((const __u8 *)packet->words)[IPV6_HOP_LIMIT] - 1;
	frame[ETH_HLEN + IPV6_HOP_LIMIT] = multicast_hop_limit(hop_limit, way);
	return way;
}

#endif
