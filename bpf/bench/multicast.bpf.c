// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: what a copy of End.MT costs. `copies` and `copies_by_table` write the same copies of a
// decapsulated packet for the receivers of slots 0 … `mark` - 1. `copies` does it as End.MT does. `copies_by_table`
// computes every ICRC over the whole packet, eight octets a step. With a port in cb[0], copies are cloned to it: those
// of `copies` but the last, which is the packet itself, and all of `copies_by_table`. `updates` and `computations` are
// the ICRC alone, `mark` times. With cb[1], `copies` finds nothing that it kept from packets before.
#include "kernel.h"
#include "multicast/edge.h"

LICENSE;

#define BENCH_WORDS 560 // up to 2,240 octets

// Continues CRC of wire/icrc.h: a byte followed by 4 to 7 bytes of zeros.
static const __u32 CRC_BEHIND_4[4][256] = {
	CRC_TABLE(0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u, 0x58f35849u,
		  0xb1e6b092u),
	CRC_TABLE(0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u, 0x0f580a6cu,
		  0x1eb014d8u),
	CRC_TABLE(0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu, 0x440b7579u,
		  0x8816eaf2u),
	CRC_TABLE(0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u, 0x299dc2edu,
		  0x533b85dau),
};

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

// What the packets before have left.
static __always_inline void forget(struct multicast_packet *packet)
{
	for (int i = 0; i < ICRC_LENGTHS; i++)
		packet->lengths[i].words = 0;
	__builtin_memset(packet->sources, 0, sizeof(packet->sources));
}

__noinline int copy_one(struct __sk_buff *skb, __u32 slot)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_branch *branch = multicast_branch_at(slot);
	struct multicast_record *record = multicast_record_at(slot);
	if (!packet || !branch || !record || !multicast_rewrite(skb, packet, branch, record))
		return 0;
	if (skb->cb[0] && slot + 1 < skb->mark)
		bpf_clone_redirect(skb, skb->cb[0], 0);
	return 0;
}

SEC("tc")
int copies(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = multicast_group_at(0);
	if (!packet || !group)
		return TC_DROP;
	if (skb->cb[1])
		forget(packet);
	if (!begin(skb, packet) || !multicast_prepare(skb, packet, group))
		return TC_DROP;
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		copy_one(skb, i);
	}
	return TC_PASS;
}

static __always_inline __u32 icrc_add_two(__u32 crc, __u32 first, __u32 second)
{
	crc ^= ICRC_WORD(first);
	second = ICRC_WORD(second);
	return CRC_BEHIND_4[3][crc & 0xff] ^ CRC_BEHIND_4[2][crc >> 8 & 0xff] ^ CRC_BEHIND_4[1][crc >> 16 & 0xff] ^
	       CRC_BEHIND_4[0][crc >> 24] ^ CRC[3][second & 0xff] ^ CRC[2][second >> 8 & 0xff] ^
	       CRC[1][second >> 16 & 0xff] ^ CRC[0][second >> 24];
}

// The ICRC of the whole packet, which is in linear memory.
static __always_inline __u32 icrc_by_table(struct __sk_buff *skb, __u32 length)
{
	__u32 crc = ICRC_START, words = length / 4 - 1;
	const __u32 *packet = (const __u32 *)walk_at(skb, ETH_HLEN, 4 * ICRC_MASK_WORDS),
		    *end = (const __u32 *)(long)skb->data_end;
	if (!packet)
		return 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < ICRC_MASK_WORDS; i += 2)
		crc = icrc_add_two(crc, packet[i] | *(const __u32 *)ICRC_MASK_IPV6[i],
				   packet[i + 1] | *(const __u32 *)ICRC_MASK_IPV6[i + 1]);
	__u32 i = ICRC_MASK_WORDS;
#pragma clang loop unroll(disable)
	for (; i < BENCH_WORDS; i += 2) {
		const __u32 *at = packet + i;
		if (i + 2 > words || at + 2 > end)
			break;
		crc = icrc_add_two(crc, at[0], at[1]);
	}
	const __u32 *last = packet + i;
	if (i < words && last + 1 <= end)
		crc = icrc_add(crc, *last);
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
	if (skb->cb[0])
		bpf_clone_redirect(skb, skb->cb[0], 0);
	return 0;
}

SEC("tc")
int copies_by_table(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = multicast_group_at(0);
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, INNER_MIN);
	if (!packet || !group || !ip || !begin(skb, packet))
		return TC_DROP;
	ip = (__u8 *)walk_at(skb, ETH_HLEN, INNER_MIN);
	if (!ip)
		return TC_DROP;
	*(__u64 *)(ip + IPV6_SOURCE) = group->proxy.halves[0];
	*(__u64 *)(ip + IPV6_SOURCE + 8) = group->proxy.halves[1];
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		copy_one_by_table(skb, i);
	}
	return TC_PASS;
}

__noinline __u32 compute(struct __sk_buff *skb, __u32 length)
{
	return icrc_by_table(skb, length);
}

// The ICRCs of copies for the receiver in slot 0, each at another PSN.
SEC("tc")
int updates(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = multicast_group_at(0);
	const struct multicast_record *record = multicast_record_at(0);
	if (!packet || !group || !record || !begin(skb, packet) || !multicast_prepare(skb, packet, group))
		return TC_DROP;
	const struct icrc_length *length = &packet->lengths[packet->length_at & (ICRC_LENGTHS - 1)];
	__u32 all = 0, change = packet->source_crc ^ (__u32)word_read(&record->change), psn = packet->words[AT_PSN];
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		__u32 crc = icrc_add(change, psn ^ bpf_htonl(i));
		all ^= packet->icrc ^ ICRC_WORD(icrc_product(&length->products, crc));
	}
	skb->priority = all; // so that nothing is left out
	return TC_PASS;
}

SEC("tc")
int computations(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet || !begin(skb, packet))
		return TC_DROP;
	__u32 all = 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= skb->mark)
			break;
		all ^= compute(skb, packet->length);
	}
	skb->priority = all;
	return TC_PASS;
}
