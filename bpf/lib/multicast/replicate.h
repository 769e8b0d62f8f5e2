// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Replication at the root and at branching nodes (RMC §5.2; RFC 9524): each child router gets a copy of the whole
// packet at its SID, from this router's replication SID. So answers come back the way that data went.
#ifndef CNPD_MULTICAST_REPLICATE_H
#define CNPD_MULTICAST_REPLICATE_H

#include "multicast/edge.h"

// Writes the outer header of the copy for the child in `slot`, and returns its way out (way.h). A global function: the
// verifier checks it once.
__noinline __u32 multicast_to_child(struct __sk_buff *skb, __u32 slot, __u32 hop_limit)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_branch *branch = multicast_branch_at(slot);
	const struct multicast_group *group = packet ? multicast_group_at(packet->group) : 0;
	const __u8 *header = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!packet || !branch || !group || !header)
		return NO_WAY;
	struct bpf_fib_lookup fib = { .family = AF_INET6,
				      .tot_len = skb->len - ETH_HLEN,
				      .ifindex = skb->ifindex,
				      .flowinfo = *(const __be32 *)header & bpf_htonl(0x0fffffff) };
	for (int i = 0; i < 4; i++) {
		fib.ipv6_src[i] = group->replication.words[i];
		fib.ipv6_dst[i] = branch->address.words[i];
	}
	__u32 way = multicast_way(skb, &fib, MULTICAST_AS_BRANCHING);
	if (way == NO_WAY)
		return NO_WAY;
	if (packet->parent == 0 && way == skb->ifindex) { // cnpd-mc
		count(COUNT_MC_ROOT_LOOP);
		return NO_WAY;
	}
	__u8 *frame = (__u8 *)walk_at(skb, 0, ETH_HLEN + IPV6_HLEN), *ip = frame + ETH_HLEN;
	if (!frame)
		return NO_WAY;
	multicast_set_macs(frame, &fib);
	ip[IPV6_HOP_LIMIT] = multicast_hop_limit(hop_limit, way);
	for (int i = 0; i < 4; i++) {
		*(__u32 *)(ip + IPV6_SOURCE + 4 * i) = group->replication.words[i];
		*(__u32 *)(ip + IPV6_DESTINATION + 4 * i) = branch->address.words[i];
	}
	return way;
}

// Copies to the children in `first` … `first + count_of - 1`. `is_last`: the last one gets the packet itself. A global
// function: the verifier follows the copies once, not once for each way to them.
__noinline int multicast_to_children(struct __sk_buff *skb, __u32 first, __u32 count_of, int is_last, __u32 hop_limit)
{
	for (__u32 i = 0; i < MULTICAST_BRANCHES; i++) {
		if (i >= count_of)
			break;
		__u32 way = multicast_to_child(skb, first + i, hop_limit);
		struct multicast_record *record = multicast_record_at(first + i);
		if (record && way != NO_WAY) {
			count(COUNT_MC_BRANCHING_COPIES);
			__sync_fetch_and_add(&record->copies, 1);
		}
		int last = is_last && i + 1 == count_of, verdict = multicast_send(skb, way, last);
		if (last)
			return verdict;
	}
	return TC_DROP;
}

// The packet in work is for this router's branching role, or at the root (parent 0). Returns a verdict. A global
// function: the verifier checks it once.
__noinline int multicast_replicate(struct __sk_buff *skb)
{
	struct multicast_packet *packet = multicast_packet_in_work();
	if (!packet)
		return TC_DROP;
	__u32 at = MULTICAST_STATE(packet->group, MULTICAST_AS_BRANCHING);
	struct multicast_list_key key = { packet->tree, packet->group, MULTICAST_AS_BRANCHING };
	const __u32 *found = bpf_map_lookup_elem(&multicast_list_ids, &key);
	const struct multicast_list *list = found ? multicast_list_at(*found) : 0;
	const struct multicast_group *group = multicast_group_at(packet->group);
	struct multicast_state *state = multicast_state_at(at);
	const __u8 *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!list || !group || !state || !outer)
		return multicast_drop(COUNT_MC_TREE_UNKNOWN);
	if (list->parent != packet->parent)
		return multicast_drop(COUNT_MC_NOT_PARENT);
	// At the root the kernel's route into the tree has counted the hop.
	__u32 hop_limit = outer[IPV6_HOP_LIMIT], hop = packet->parent == 0 ? 0 : 1;
	if (hop_limit <= hop)
		return multicast_drop(COUNT_MC_HOP_LIMIT);
	if (!multicast_note(at, *found, packet->epoch, packet->parent, packet->psn))
		return TC_DROP;
	__u64 now = bpf_ktime_get_ns();
	__u32 local = list->has_local != 0, first = list->first + local, children = list->count - local;
	if (!multicast_admit(state, group, list->count, now))
		return TC_DROP;
	count(COUNT_MC_BRANCHING_PACKETS);
	if (packet->parent == 0)
		count(COUNT_MC_ROOT_PACKETS);
	__sync_fetch_and_add(&state->packets, 1);
	int verdict = multicast_to_children(skb, first, children, !local, hop_limit - hop);
	if (!local)
		return verdict;
	struct multicast_record *record = multicast_record_at(list->first);
	if (record)
		__sync_fetch_and_add(&record->copies, 1);
	packet->parent = multicast_own_number(group);
	if (packet->parent == 0)
		return multicast_drop(COUNT_MC_ROUTER_UNKNOWN);
	return multicast_end_mt(skb);
}

#endif
