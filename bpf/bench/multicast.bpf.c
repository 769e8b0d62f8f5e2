// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: what a copy of End.MT costs. Both programs write the same copies of a decapsulated packet for the
// receivers of slots 0 … `mark` - 1. `copies` does it as End.MT does. `copies_by_table` computes every ICRC over the
// whole packet, with the same tables. With a port in cb[0], all copies but the last are cloned to it.
#include "kernel.h"
#include "multicast/edge.h"

LICENSE;

#define BENCH_WORDS 320 // up to 1,280 octets

// Reads the packet as multicast_parse does. 0: failed.
static __always_inline int begin(struct __sk_buff *skb, struct multicast_packet *packet)
{
	packet->has_reth = 0;
	packet->receivers = skb->mark;
	packet->length = skb->len - ETH_HLEN;
	packet->traffic_class = 2;
	if (bpf_skb_load_bytes(skb, ETH_HLEN, packet->words, 4 * WORDS_BTH) < 0)
		return 0;
	packet->psn = BTH_PSN(packet->words[AT_PSN]);
	return 1;
}

static __always_inline void leave(struct __sk_buff *skb, int is_last)
{
	if (skb->cb[0] && !is_last)
		bpf_clone_redirect(skb, skb->cb[0], 0);
}

__noinline int copy_one(struct __sk_buff *skb, __u32 slot)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_branch *branch = multicast_branch_at(slot);
	if (packet && branch && multicast_rewrite(skb, packet, branch))
		leave(skb, slot + 1 >= skb->mark);
	return 0;
}

SEC("tc")
int copies(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = multicast_group_at(0);
	if (!packet || !group || !begin(skb, packet) || !multicast_prepare(skb, packet, group))
		return TC_DROP;
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		copy_one(skb, i);
	}
	return TC_PASS;
}

// The ICRC of the whole packet, which is in linear memory.
static __always_inline __u32 icrc_by_table(struct __sk_buff *skb, __u32 length)
{
	__u32 crc = ICRC_START;
	const __u8 *packet = walk_at(skb, ETH_HLEN, 4 * ICRC_MASK_WORDS);
	if (!packet)
		return 0;
	crc = icrc_add_masked(crc, (const __u32 *)packet, ICRC_MASK_IPV6, ICRC_MASK_WORDS);
	for (__u32 i = ICRC_MASK_WORDS; i < BENCH_WORDS; i++) {
		const __u8 *word = packet + 4 * i;
		if (i >= length / 4 - 1 || word + 4 > (const __u8 *)(long)skb->data_end)
			break;
		crc = icrc_add(crc, *(const __u32 *)word);
	}
	return icrc_end(crc);
}

__noinline int copy_one_by_table(struct __sk_buff *skb, __u32 slot)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_branch *branch = multicast_branch_at(slot);
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, 4 * WORDS_BTH);
	if (!packet || !branch || !ip)
		return 0;
	for (int i = 0; i < 4; i++)
		*(__u32 *)(ip + IPV6_DESTINATION + 4 * i) = branch->address.words[i];
	*(__u32 *)(ip + 4 * AT_QPN) =
		(packet->words[AT_QPN] & bpf_htonl(0xff000000)) | bpf_htonl(branch->qpn & 0xffffff);
	*(__u32 *)(ip + 4 * AT_PSN) = (packet->words[AT_PSN] & bpf_htonl(0xff000000)) |
				      bpf_htonl((packet->psn + branch->psn_delta) & 0xffffff);
	__u32 crc = icrc_by_table(skb, packet->length);
	__u8 *icrc = (__u8 *)walk_at(skb, ETH_HLEN + packet->length - ICRC_SIZE, ICRC_SIZE);
	if (!icrc)
		return 0;
	*(__u32 *)icrc = crc;
	leave(skb, slot + 1 >= skb->mark);
	return 0;
}

SEC("tc")
int copies_by_table(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet || !begin(skb, packet))
		return TC_DROP;
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		copy_one_by_table(skb, i);
	}
	return TC_PASS;
}
