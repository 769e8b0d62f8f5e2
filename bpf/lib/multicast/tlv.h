// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The TLVs of the SRH at an edge (RMC §7.2): which receivers the source's router names for this edge. They select among
// the members that this router knows: a forged TLV reaches no other host.
#ifndef CNPD_MULTICAST_TLV_H
#define CNPD_MULTICAST_TLV_H

#include "multicast/packet.h"

#define MULTICAST_TLVS 32
#define SRH_TLV_PAD1 0
// Value of the End.MT TLV: reserved (2), Edge Node Address, Num Receivers, reserved (3), receivers.
#define END_MT_EDGE 4
#define END_MT_COUNT 20
#define END_MT_RECEIVERS 24
#define END_MT_LENGTH(count) (22 + 20 * (count))
#define END_MT_MOST 11
#define END_MT_RECEIVER 20

// The receiver at `offset`: address, Queue Pair, reserved. Global functions: the verifier checks each once.
__noinline int multicast_select(struct __sk_buff *skb, __u32 offset, __u32 list)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_list *members = multicast_list_at(list);
	const __u8 *receiver = walk_at(skb, offset, END_MT_RECEIVER);
	if (!packet || !members || !receiver)
		return 0;
	struct multicast_member_key key = { .list = list };
	address_load(&key.address, receiver, 6);
	const __u32 *slot = bpf_map_lookup_elem(&multicast_members, &key);
	const struct multicast_branch *branch = slot ? multicast_branch_at(*slot) : 0;
	if (!branch || branch->qpn != bpf_ntohl(*(const __be32 *)(receiver + 16)) >> 8 ||
	    *slot - members->first >= MULTICAST_BRANCHES) {
		count(COUNT_MC_TLV_NOT_MEMBER);
		return 0;
	}
	packet->selected |= 1ULL << ((*slot - members->first) & 63);
	return 0;
}

// The End.MT TLV at `offset`, which ends within the SRH. 0: dropped and counted.
__noinline int multicast_read_end_mt(struct __sk_buff *skb, __u32 offset, __u32 list)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet)
		return 0;
	const struct multicast_group *group = multicast_group_at(packet->group);
	const __u8 *tlv = walk_at(skb, offset, END_MT_RECEIVERS);
	if (!group || !tlv || tlv[1] < END_MT_LENGTH(1))
		return multicast_refuse(COUNT_MC_TLV_LENGTH);
	__u32 receivers = tlv[END_MT_COUNT];
	if (receivers == 0 || receivers > END_MT_MOST || tlv[1] != END_MT_LENGTH(receivers))
		return multicast_refuse(COUNT_MC_TLV_LENGTH);
	struct address edge;
	address_load(&edge, tlv + END_MT_EDGE, 6);
	if (!same_address(&edge, &group->edge))
		return 1;
	packet->has_tlv = 1;
	for (__u32 i = 0; i < END_MT_MOST; i++) {
		if (i >= receivers)
			break;
		multicast_select(skb, offset + END_MT_RECEIVERS + i * END_MT_RECEIVER, list);
	}
	return 1;
}

// All TLVs behind the tree TLV. 0: dropped and counted. The whole SRH is in linear memory.
__noinline int multicast_read_tlvs(struct __sk_buff *skb, __u32 list)
{
	__u32 zero = 0;
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_config *config = bpf_map_lookup_elem(&multicast_config, &zero);
	if (!packet || !config)
		return 0;
	__u32 end = packet->end_tlvs;
	volatile __u32 at = MULTICAST_SRH + SRH_TLVS;
	for (int i = 0; i < MULTICAST_TLVS; i++) {
		if (at >= end)
			return 1;
		const __u8 *tlv = walk_at(skb, at, 1);
		if (!tlv)
			return multicast_refuse(COUNT_MC_TLV_OVERRUN);
		__u8 type = tlv[0];
		if (type == SRH_TLV_PAD1) {
			at = (at + 1) & WALK_OFFSET_MASK;
			continue;
		}
		tlv = walk_at(skb, at, 2);
		if (!tlv || at + 2 + tlv[1] > end)
			return multicast_refuse(COUNT_MC_TLV_OVERRUN);
		__u32 next = at + 2 + tlv[1];
		if (type == config->end_mt_tlv && !multicast_read_end_mt(skb, at, list))
			return 0;
		at = next & WALK_OFFSET_MASK;
	}
	return at >= end ? 1 : multicast_refuse(COUNT_MC_TLV_MANY);
}

#endif
