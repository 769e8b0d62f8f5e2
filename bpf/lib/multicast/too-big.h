// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Packet Too Big about copies of this router: in the tree, and behind an edge. The MTU is noted for the agent. Whoever
// sends one must have seen a packet of a group that this router knows, and no router refuses a packet of a length that
// it lets pass.
#ifndef CNPD_MULTICAST_TOO_BIG_H
#define CNPD_MULTICAST_TOO_BIG_H

#include "multicast/answer.h"
#include "multicast/packet.h"
#include "multicast/way.h"

#define ICMPV6_PACKET_TOO_BIG 2
#define ICMPV6_HLEN 8
// Offset of the packet that an ICMPv6 error is about.
#define ICMPV6_ABOUT (ETH_HLEN + IPV6_HLEN + ICMPV6_HLEN)
// The longest packet in a tree.
#define MULTICAST_MOST_MTU 0xffff

// The MTU by an ICMPv6 message about the packet that begins with the header `about`. 0: it is no Packet Too Big, or not
// about such a packet.
static __always_inline __u32 too_big_mtu(const __u8 *icmpv6, const __u8 *about)
{
	__u32 mtu = bpf_ntohl(*(const __be32 *)(icmpv6 + 4)),
	      length = bpf_ntohs(walk_be16(about + IPV6_PAYLOAD_LENGTH)) + IPV6_HLEN;
	return icmpv6[0] == ICMPV6_PACKET_TOO_BIG && mtu >= IPV6_LEAST_MTU && mtu < length ? mtu : 0;
}

static __always_inline void too_big_note(__u32 at, const struct multicast_too_big *noted)
{
	if (noted->mtu > MULTICAST_MOST_MTU)
		return;
	multicast_note_too_big(at, noted);
	count(COUNT_MC_PACKET_TOO_BIG);
}

// An ICMPv6 message to a SID of this router. Packet Too Big is from a router on the way of a copy, or from the next one
// of the tree. A global function: the verifier checks it once.
__noinline int multicast_too_big_in_tree(struct __sk_buff *skb)
{
	struct address sid, source;
	count(COUNT_MC_ICMPV6);
	if (!multicast_pull(skb, ICMPV6_ABOUT + IPV6_HLEN + SRH_TLVS))
		return TC_DROP;
	const __u8 *about = walk_at(skb, ICMPV6_ABOUT, IPV6_HLEN + SRH_TLVS),
		   *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN + ICMPV6_HLEN);
	if (!about || !outer || about[IPV6_NEXT_HEADER] != IPPROTO_ROUTING ||
	    about[IPV6_HLEN + SRH_TYPE] != ROUTING_TYPE_SRH)
		return TC_DROP;
	__u32 mtu = too_big_mtu(outer + IPV6_HLEN, about);
	address_load(&sid, outer + IPV6_DESTINATION, 6);
	address_load(&source, about + IPV6_SOURCE, 6);
	const struct multicast_destination *proxy =
		bpf_map_lookup_elem(&multicast_destinations, about + IPV6_HLEN + SRH_SEGMENT_0);
	if (mtu == 0 || !same_address(&sid, &source) || !proxy || proxy->kind != MULTICAST_PROXY)
		return TC_DROP;
	const __u8 *tree = about + IPV6_HLEN + SRH_TREE;
	struct multicast_too_big noted = { *(const __u64 *)(tree + TREE_MEMBERS), *(const __u64 *)(tree + TREE_TREE),
					   bpf_ntohl(*(const __be32 *)(tree + TREE_EPOCH)) & EPOCH_MASK, mtu };
	struct multicast_list_key key = { noted.tree, proxy->group, MULTICAST_AS_BRANCHING };
	if (bpf_map_lookup_elem(&multicast_list_ids, &key))
		too_big_note(MULTICAST_STATE(proxy->group, MULTICAST_AS_BRANCHING), &noted);
	return TC_DROP;
}

// An ICMPv6 message to the Proxy Address of a group of which this router is an edge. Packet Too Big is from a router
// between this one and the receiver of a copy: it comes from where the receiver is routed, and names the receiver's
// Queue Pair. A global function: the verifier checks it once.
__noinline int multicast_too_big_behind(struct __sk_buff *skb, __u32 group)
{
	__u32 at = MULTICAST_STATE(group, MULTICAST_AS_EDGE);
	const struct multicast_group *own = multicast_group_at(group);
	struct multicast_state *state = multicast_state_at(at);
	struct address source;
	struct multicast_member_key key = {};
	count(COUNT_MC_ICMPV6);
	if (!own || !state || !multicast_pull(skb, ICMPV6_ABOUT + INNER_BTH + BTH_SIZE))
		return TC_DROP;
	const __u8 *about = walk_at(skb, ICMPV6_ABOUT, INNER_BTH + BTH_SIZE),
		   *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN + ICMPV6_HLEN);
	if (!about || !outer || about[IPV6_NEXT_HEADER] != IPPROTO_UDP ||
	    walk_be16(about + IPV6_HLEN + UDP_DESTINATION) != bpf_htons(ROCE_UDP_PORT))
		return TC_DROP;
	__u32 mtu = too_big_mtu(outer + IPV6_HLEN, about), qpn = BTH_QPN(*(const __be32 *)(about + INNER_BTH + 4));
	__u64 current = word_read(&state->current);
	address_load(&source, about + IPV6_SOURCE, 6);
	address_load(&key.address, about + IPV6_DESTINATION, 6);
	key.list = CURRENT_LIST(current);
	const __u32 *slot = bpf_map_lookup_elem(&multicast_members, &key);
	const struct multicast_branch *branch = slot ? multicast_branch_at(*slot) : 0;
	if (mtu == 0 || !same_address(&source, &own->proxy) || !branch || branch->qpn != qpn ||
	    !answer_came_from(skb, &key.address, &own->proxy))
		return TC_DROP;
	struct multicast_too_big noted = { state->members, state->tree, CURRENT_EPOCH(current), mtu + state->around };
	too_big_note(at, &noted);
	return TC_DROP;
}

#endif
