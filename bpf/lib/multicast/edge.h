// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// End.MT (RMC §5.2, §6.2): the edge decapsulates a packet of a group and sends each receiver its copy.
#ifndef CNPD_MULTICAST_EDGE_H
#define CNPD_MULTICAST_EDGE_H

#include "multicast/copy.h"
#include "multicast/progress.h"
#include "multicast/tlv.h"

// RFC 6040: ECN of the packet inside, as it leaves the tree. 0: dropped and counted.
static __always_inline int multicast_fold_ecn(struct __sk_buff *skb, struct multicast_packet *packet)
{
	const __u8 *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!outer)
		return multicast_refuse(COUNT_MC_FAILED);
	__u32 inner_class = traffic_class6((const __u8 *)packet->words), inner = inner_class & ECN_MASK,
	      ecn = ecn_egress(inner, traffic_class6(outer) & ECN_MASK);
	if (ecn == ECN_DROP)
		return multicast_refuse(COUNT_MC_ECN_DROPPED);
	if (ecn != inner)
		count(ecn == ECN_CE ? COUNT_MC_ECN_CE : COUNT_MC_ECN_ECT1);
	packet->traffic_class = (inner_class & ~(__u32)ECN_MASK) | ecn;
	return 1;
}

// Whether the receiver in this slot has a copy of the packet: a Queue Pair that joins expects the begin of a message
// (progress.h).
static __always_inline int multicast_gets_copy(__u32 slot)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (!record)
		return 0;
	if (multicast_has_joined(record))
		return 1;
	count(COUNT_MC_COPY_WAITING);
	return 0;
}

// Lists the receivers of this packet, and returns their number. What it found is in a map, so that the verifier does
// not follow every selection. A global function: it is verified once.
__noinline __u32 multicast_receivers(__u32 list)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_list *members = multicast_list_at(list);
	if (!packet || !members)
		return 0;
	packet->receivers = 0;
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= members->count)
			break;
		if (packet->has_tlv && !(packet->selected >> i & 1))
			continue;
		__u32 slot = members->first + i;
		if (multicast_gets_copy(slot))
			packet->slots[packet->receivers++ & (MULTICAST_BRANCHES - 1)] = slot;
	}
	return packet->receivers;
}

// The copy for a receiver of the list that multicast_receivers has made: a clone, or at last the packet itself. Returns
// a verdict, which counts for the packet itself only. A global function: the verifier checks it once.
__noinline int multicast_copy_to(struct __sk_buff *skb, __u32 receiver)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet)
		return TC_DROP;
	__u32 slot = packet->slots[receiver & (MULTICAST_BRANCHES - 1)];
	int is_last = receiver + 1 >= packet->receivers;
	__u32 way = multicast_copy(skb, slot);
	struct multicast_record *record = multicast_record_at(slot);
	if (record && way != NO_WAY) {
		count(COUNT_MC_EDGE_COPIES);
		__sync_fetch_and_add(&record->copies, 1);
	}
	return multicast_send(skb, way, is_last);
}

// Returns a verdict.
static __always_inline int multicast_copy_all(struct __sk_buff *skb, __u32 receivers)
{
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i + 1 >= receivers)
			break;
		multicast_copy_to(skb, i);
	}
	return multicast_copy_to(skb, receivers - 1);
}

// Keeps what the agent needs to pass on that a copy was too big behind this edge (too-big.h): such a copy has no tree
// TLV any more. It changes with the tree, of whose name the members are a part.
static __always_inline void multicast_note_tree(struct multicast_state *state, const struct multicast_packet *packet)
{
	__u32 around = packet->inner - ETH_HLEN;
	if (likely(state->tree == packet->tree && state->around == around))
		return;
	state->members = packet->members;
	state->tree = packet->tree;
	state->around = around;
}

// The packet in work is for this router's edge role. Returns a verdict. A global function: the verifier checks it once.
__noinline int multicast_end_mt(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet)
		return TC_DROP;
	struct multicast_list_key key = { packet->members, packet->group, MULTICAST_AS_EDGE };
	const __u32 *list = bpf_map_lookup_elem(&multicast_list_ids, &key);
	const struct multicast_list *members = list ? multicast_list_at(*list) : 0;
	const struct multicast_group *group = multicast_group_at(packet->group);
	struct multicast_state *state = multicast_state_at(MULTICAST_STATE(packet->group, MULTICAST_AS_EDGE));
	if (!members || !group || !state)
		return multicast_drop(COUNT_MC_MEMBERS_UNKNOWN);
	__u32 index = *list, inner = packet->inner;
	if (!multicast_pull(skb, skb->len))
		return multicast_drop(COUNT_MC_FAILED);
	if (!multicast_read_tlvs(skb, index) || !multicast_fold_ecn(skb, packet))
		return TC_DROP;
	if (((const __u8 *)packet->words)[IPV6_HOP_LIMIT] <= 1)
		return multicast_drop(COUNT_MC_HOP_LIMIT);
	if (!multicast_note(MULTICAST_STATE(packet->group, MULTICAST_AS_EDGE), index, packet->epoch, packet->parent,
			    packet->psn | (packet->begins_message ? MULTICAST_NOTE_BEGINS : 0)))
		return TC_DROP;
	__u32 receivers = multicast_receivers(index);
	__u64 now = bpf_ktime_get_ns();
	if (receivers == 0)
		return multicast_drop(COUNT_MC_NO_RECEIVER);
	if (!multicast_admit(state, group, receivers, now))
		return TC_DROP;
	if (bpf_skb_adjust_room(skb, -(__s32)(inner - ETH_HLEN), BPF_ADJ_ROOM_MAC, 0) < 0 ||
	    !multicast_prepare(skb, packet, group))
		return multicast_drop(COUNT_MC_FAILED);
	count(COUNT_MC_EDGE_PACKETS);
	multicast_note_tree(state, packet);
	__sync_fetch_and_add(&state->packets, 1);
	return multicast_copy_all(skb, receivers);
}

#endif
