// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is written into one receiver's copy (RMC §6.2 S08-S10): its address and Queue Pair, its PSN and memory region,
// and the checksums that follow from them. The packet is decapsulated, its inner header at ETH_HLEN, and all of it is
// in linear memory. Every copy is written over the one before it, from what arrived.
#ifndef CNPD_MULTICAST_REWRITE_H
#define CNPD_MULTICAST_REWRITE_H

#include "multicast/packet.h"
#include "multicast/words.h"
#include "wire/checksum.h"
#include "wire/ecn.h"

#define UDP_CHECKSUM (IPV6_HLEN + 6)

// What changes: the remainder of the ICRC's difference, and the sum of the UDP checksum's.
struct multicast_change {
	__u64 sum;
	__u32 crc;
};

static __always_inline void multicast_change(struct multicast_change *change, __u32 from, __u32 to)
{
	change->sum += (__u64)(__u32)~from + to;
	change->crc = icrc_add(change->crc, from ^ to);
}

// The sum so far in 16 bits.
static __always_inline __u16 multicast_folded(const struct multicast_change *change)
{
	return (__u16)~csum_fold(change->sum);
}

// The change of the source, which becomes the Proxy Address, with the words up to the Queue Pair behind it. A group has
// one source, so it is kept; the copy of it in use is found by its addresses.
static __always_inline void multicast_prepare_source(struct multicast_packet *packet,
						     const struct multicast_group *group)
{
	packet->source_crc = packet->source_sum = 0;
	if (group->flags & MULTICAST_KEEP_SOURCE)
		return;
	struct multicast_source *known = &packet->sources[packet->group & (MULTICAST_SOURCES - 1)];
	struct address from;
	address_load(&from, (const __u8 *)(packet->words + IPV6_SOURCE / 4), 6);
	if (unlikely(!same_address(&known->from, &from) || !same_address(&known->to, &group->proxy))) {
		struct multicast_change change = {};
		for (int i = 0; i < 4; i++)
			multicast_change(&change, from.words[i], group->proxy.words[i]);
		for (int i = IPV6_DESTINATION / 4; i < AT_QPN; i++)
			change.crc = icrc_add(change.crc, 0);
		known->from = from;
		known->to = group->proxy;
		known->crc = change.crc;
		known->sum = multicast_folded(&change);
	}
	packet->source_crc = known->crc;
	packet->source_sum = known->sum;
}

// What the Designated QPN adds, once a packet: it is taken away here, and each receiver's is added to its change. A
// group may get another one while its lists stay.
static __always_inline void multicast_prepare_qpn(struct multicast_packet *packet)
{
	__u32 qpn = packet->words[AT_QPN] & bpf_htonl(0xffffff);
	struct multicast_change change = { .sum = (__u64)packet->source_sum + (__u32)~qpn,
					   .crc = icrc_add(packet->source_crc, qpn) };
	packet->source_crc = change.crc;
	packet->source_sum = multicast_folded(&change);
}

// What changes for this receiver in every packet, as in struct multicast_record: the Proxy Address, which every packet
// of the group has, becomes its own, and its Queue Pair comes in. A list never changes, so it is computed once. CPUs
// that do it at the same time write the same.
static __always_inline __u64 multicast_change_for(struct multicast_record *record,
						  const struct multicast_packet *packet,
						  const struct multicast_branch *branch)
{
	__u64 known = word_read(&record->change);
	if (likely(known & WORD_SET))
		return known;
	struct multicast_change change = {};
	for (int i = 0; i < 4; i++)
		multicast_change(&change, packet->words[IPV6_DESTINATION / 4 + i], branch->address.words[i]);
	for (int i = AT_PORTS; i < AT_QPN; i++)
		change.crc = icrc_add(change.crc, 0);
	__u32 qpn = bpf_htonl(branch->qpn & 0xffffff);
	change.sum += qpn;
	change.crc = icrc_add(change.crc, qpn);
	known = WORD_SET | (__u64)multicast_folded(&change) << 32 | change.crc;
	word_write(&record->change, known);
	return known;
}

// What all copies of a packet have in common. 0: dropped and counted.
static __always_inline int multicast_prepare(struct __sk_buff *skb, struct multicast_packet *packet,
					     const struct multicast_group *group)
{
	__u32 length = packet->length, last = packet->has_reth ? WORDS_RETH : WORDS_BTH;
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, INNER_MIN);
	const __u8 *icrc = walk_at(skb, ETH_HLEN + length - ICRC_SIZE, ICRC_SIZE);
	if (!ip || !icrc)
		return multicast_refuse(COUNT_MC_FAILED);
	packet->icrc = *(const __u32 *)icrc;
	set_traffic_class6(ip, packet->traffic_class);
	if (!(group->flags & MULTICAST_KEEP_SOURCE)) {
		*(__u64 *)(ip + IPV6_SOURCE) = group->proxy.halves[0];
		*(__u64 *)(ip + IPV6_SOURCE + 8) = group->proxy.halves[1];
	}
	multicast_prepare_source(packet, group);
	multicast_prepare_qpn(packet);
	packet->length_at = icrc_length_of(packet->lengths, (length - ICRC_SIZE) / 4 - last);
	return 1;
}

static __always_inline void multicast_write_reth(__u8 *reth, const struct multicast_packet *packet,
						 const struct multicast_branch *branch, struct multicast_change *change)
{
	const __u32 *from = packet->words + AT_VA;
	__u64 va = (__u64)bpf_ntohl(from[0]) << 32 | bpf_ntohl(from[1]);
	__be32 r_key = from[2];
	if (branch->has_write) {
		va += branch->va_delta;
		r_key = bpf_htonl(branch->r_key);
	}
	__be32 high = bpf_htonl(va >> 32), low = bpf_htonl((__u32)va);
	// Always: the copy before this one may have changed them.
	*(__be32 *)reth = high;
	*(__be32 *)(reth + 4) = low;
	*(__be32 *)(reth + 8) = r_key;
	multicast_change(change, from[0], high);
	multicast_change(change, from[1], low);
	multicast_change(change, from[2], r_key);
}

// Writes the checksums of the copy.
static __always_inline void multicast_write_checksums(__u8 *ip, __u8 *icrc, const struct multicast_packet *packet,
						      struct multicast_change *change)
{
	const struct icrc_length *length = &packet->lengths[packet->length_at & (ICRC_LENGTHS - 1)];
	__u32 difference = icrc_product(&length->products, change->crc);
	__u32 icrc_is = packet->icrc ^ ICRC_WORD(difference);
	*(__u32 *)icrc = icrc_is;
	__u16 checksum = ((const __u16 *)packet->words)[UDP_CHECKSUM / 2];
	if (checksum == 0)
		return;
	__u64 sum = change->sum + (__u32)~packet->icrc + (__u64)icrc_is + (__u16)~checksum;
	checksum = csum_fold(sum);
	*(__be16 *)(ip + UDP_CHECKSUM) = checksum == 0 ? 0xffff : checksum;
}

// Writes the copy for the receiver of `branch`, all but hop limit and MAC addresses. 0: the packet has ended before its
// time, which cannot happen.
static __always_inline int multicast_rewrite(struct __sk_buff *skb, const struct multicast_packet *packet,
					     const struct multicast_branch *branch, struct multicast_record *record)
{
	__u64 known = multicast_change_for(record, packet, branch);
	struct multicast_change change = { .crc = packet->source_crc ^ (__u32)known,
					   .sum = packet->source_sum + (__u16)(known >> 32) };
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, 4 * WORDS_BTH);
	__u8 *icrc = (__u8 *)walk_at(skb, ETH_HLEN + packet->length - ICRC_SIZE, ICRC_SIZE);
	if (!ip || !icrc)
		return 0;
	*(__u64 *)(ip + IPV6_DESTINATION) = branch->address.halves[0];
	*(__u64 *)(ip + IPV6_DESTINATION + 8) = branch->address.halves[1];
	__u32 from = packet->words[AT_QPN], to = (from & bpf_htonl(0xff000000)) | bpf_htonl(branch->qpn & 0xffffff);
	*(__u32 *)(ip + 4 * AT_QPN) = to;
	from = packet->words[AT_PSN];
	to = (from & bpf_htonl(0xff000000)) | bpf_htonl((packet->psn + branch->psn_delta) & 0xffffff);
	multicast_change(&change, from, to);
	*(__u32 *)(ip + 4 * AT_PSN) = to;
	if (packet->has_reth) {
		__u8 *reth = (__u8 *)walk_at(skb, ETH_HLEN + 4 * AT_VA, RETH_SIZE);
		if (!reth)
			return 0;
		multicast_write_reth(reth, packet, branch, &change);
	}
	multicast_write_checksums(ip, icrc, packet, &change);
	return 1;
}

#endif
