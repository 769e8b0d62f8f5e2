// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which packets concern End.MT, and what becomes of them: packets to this router's SIDs and to Proxy Addresses.
#ifndef CNPD_MULTICAST_ARRIVAL_H
#define CNPD_MULTICAST_ARRIVAL_H

#include "multicast/notice.h"
#include "multicast/replicate.h"
#include "multicast/source.h"
#include "multicast/too-big.h"

#define MANAGEMENT_QPN 1

static __always_inline const struct multicast_destination *multicast_destination_at(const __u8 *address)
{
	return bpf_map_lookup_elem(&multicast_destinations, address);
}

// A packet with a routing header to one of this router's SIDs, of this kind.
static __always_inline int multicast_data(struct __sk_buff *skb, __u32 kind)
{
	if (!multicast_parse(skb))
		return TC_DROP;
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = packet ? multicast_group_at(packet->group) : 0;
	const __u8 *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!packet || !group || !outer)
		return multicast_drop(COUNT_MC_FAILED);
	packet->parent = multicast_router_of(outer + IPV6_SOURCE);
	if (packet->parent == 0)
		return multicast_drop(COUNT_MC_ROUTER_UNKNOWN);
	if (!same_address(&packet->destination, kind == MULTICAST_EDGE ? &group->edge : &group->replication))
		return multicast_drop(COUNT_MC_SID_OTHER);
	return kind == MULTICAST_EDGE ? multicast_end_mt(skb) : multicast_replicate(skb);
}

static __always_inline int multicast_at_sid(struct __sk_buff *skb, __u8 next, __u32 kind)
{
	if (!multicast_is_core(skb->ifindex))
		return multicast_drop(COUNT_MC_NOT_CORE);
	if (next == IPPROTO_ROUTING)
		return multicast_data(skb, kind);
	if (next == IPPROTO_IPV6 && kind == MULTICAST_REPLICATION)
		return multicast_answer_from_child(skb);
	if (next == IPPROTO_ICMPV6)
		return multicast_too_big_in_tree(skb);
	return multicast_drop(next == IPPROTO_FRAGMENT ? COUNT_MC_FRAGMENT : COUNT_MC_NO_SRH);
}

// A packet to a Proxy Address: from the source at the root, or from a receiver at an edge. A global function: the
// verifier checks it once.
__noinline int multicast_at_proxy(struct __sk_buff *skb, __u32 index)
{
	const struct multicast_group *group = multicast_group_at(index);
	if (!group)
		return TC_NEXT;
	int is_root = group->flags & MULTICAST_ROOT, is_edge = (group->edge.halves[0] | group->edge.halves[1]) != 0;
	if (!is_root && !is_edge)
		return TC_NEXT;
	if (!multicast_pull(skb, ETH_HLEN + INNER_BTH + BTH_SIZE))
		return multicast_drop(COUNT_MC_FAILED);
	const __u8 *ip = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (ip && is_edge && ip[IPV6_NEXT_HEADER] == IPPROTO_DSTOPTS)
		return multicast_notice(skb, index);
	if (ip && is_edge && ip[IPV6_NEXT_HEADER] == IPPROTO_ICMPV6)
		return multicast_too_big_behind(skb, index);
	ip = walk_at(skb, ETH_HLEN, INNER_BTH + BTH_SIZE);
	if (!ip || ip[IPV6_NEXT_HEADER] != IPPROTO_UDP ||
	    walk_be16(ip + IPV6_HLEN + UDP_DESTINATION) != bpf_htons(ROCE_UDP_PORT))
		return multicast_drop(COUNT_MC_PROXY_MALFORMED);
	const __u8 *bth = ip + INNER_BTH;
	__u32 qpn = BTH_QPN(*(const __be32 *)(bth + 4));
	struct address source;
	address_load(&source, ip + IPV6_SOURCE, 6);
	if (qpn <= MANAGEMENT_QPN)
		return multicast_drop(COUNT_MC_PROXY_CM);
	if (is_root && same_address(&source, &group->source)) {
		if (bth[0] >= MULTICAST_OPCODES)
			return multicast_drop(COUNT_MC_PROXY_OPCODE);
		if (qpn != group->designated_qpn)
			return multicast_drop(COUNT_MC_PROXY_QPN);
		if (!multicast_source_came_from(skb, index, skb->ifindex))
			return multicast_drop(COUNT_MC_PROXY_WRONG_PORT);
		count(COUNT_MC_PROXY_SOURCE);
		return TC_NEXT;
	}
	if (is_edge && (bth[0] == ROCE_OPCODE_ACK || bth[0] == ROCE_OPCODE_CNP))
		return multicast_answer_from_host(skb, index);
	return multicast_drop(bth[0] < MULTICAST_OPCODES ? COUNT_MC_PROXY_FOREIGN : COUNT_MC_PROXY_OPCODE);
}

// On the loopback interface: this router's own Fast CNPs, which the builder in front of this program has finished.
// Everything else there passes.
static __always_inline int multicast_own_notice(struct __sk_buff *skb, const struct multicast_destination *destination)
{
	const struct multicast_group *group =
		destination->kind == MULTICAST_PROXY ? multicast_group_at(destination->group) : 0;
	const __u8 *ip = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!group || (group->edge.halves[0] | group->edge.halves[1]) == 0 || !ip ||
	    ip[IPV6_NEXT_HEADER] != IPPROTO_DSTOPTS || skb->cb[CB_WORD_TAG] != CB_TAG)
		return TC_NEXT;
	return multicast_notice(skb, destination->group);
}

static __always_inline int multicast_is_plain(struct __sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_IPV6) && !is_of_vlan(skb);
}

static __always_inline int multicast_arrive(struct __sk_buff *skb)
{
	if (!multicast_is_plain(skb) || skb->pkt_type != PACKET_HOST)
		return TC_NEXT;
	const __u8 *ip = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!ip)
		ip = multicast_pull(skb, ETH_HLEN + IPV6_HLEN) ? walk_at(skb, ETH_HLEN, IPV6_HLEN) : 0;
	if (!ip)
		return TC_NEXT;
	const struct multicast_destination *destination = multicast_destination_at(ip + IPV6_DESTINATION);
	if (likely(!destination))
		return TC_NEXT;
	__u8 next = ip[IPV6_NEXT_HEADER];
	// Copies leave without the priority's tag, as what the kernel forwards does.
	if (unlikely(skb->vlan_present) && bpf_skb_vlan_pop(skb) < 0)
		return multicast_drop(COUNT_MC_FAILED);
	if (skb->ifindex == LOOPBACK_IFINDEX)
		return multicast_own_notice(skb, destination);
	if (destination->kind == MULTICAST_PROXY)
		return multicast_at_proxy(skb, destination->group);
	return multicast_at_sid(skb, next, destination->kind);
}

// At tc egress of cnpd-mc-peer, where the kernel's route leads what goes to the Proxy Address of a root's group. Not
// all of it has come through multicast_arrive(): a local user may choose any source, and so may what is in a tunnel
// that ends here. What is not of the source is left to multicast_begin().
static __always_inline int multicast_enter(struct __sk_buff *skb)
{
	if (!multicast_is_plain(skb) || !multicast_pull(skb, ETH_HLEN + IPV6_HLEN))
		return TC_NEXT;
	const __u8 *ip = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!ip)
		return TC_NEXT;
	const struct multicast_destination *destination = multicast_destination_at(ip + IPV6_DESTINATION);
	if (!destination || destination->kind != MULTICAST_PROXY)
		return TC_NEXT;
	const struct multicast_group *group = multicast_group_at(destination->group);
	if (!group || !(group->flags & MULTICAST_ROOT))
		return TC_NEXT;
	struct address source;
	address_load(&source, ip + IPV6_SOURCE, 6);
	if (!same_address(&source, &group->source))
		return TC_NEXT;
	// 0: the packet is this router's own.
	if (skb->ingress_ifindex == 0)
		return multicast_drop(COUNT_MC_ROOT_LOCAL);
	return multicast_source_came_from(skb, destination->group, skb->ingress_ifindex)
		       ? TC_NEXT
		       : multicast_drop(COUNT_MC_PROXY_WRONG_PORT);
}

// At tc egress of cnpd-mc: a packet that the kernel's route of a group has encapsulated here.
static __always_inline int multicast_begin(struct __sk_buff *skb)
{
	const __u8 *ip = multicast_is_plain(skb) && multicast_pull(skb, ETH_HLEN + IPV6_HLEN)
				 ? walk_at(skb, ETH_HLEN, IPV6_HLEN)
				 : 0;
	if (ip && ip[IPV6_DESTINATION] >= 0xfe) // link-local, multicast: neighbor and listener discovery
		return multicast_drop(COUNT_MC_ROOT_LINK);
	if (!ip || ip[IPV6_NEXT_HEADER] != IPPROTO_ROUTING)
		return multicast_drop(COUNT_MC_ROOT_FOREIGN);
	if (!multicast_parse(skb))
		return TC_DROP;
	struct multicast_packet *packet = multicast_packet_in_work();
	const struct multicast_group *group = packet ? multicast_group_at(packet->group) : 0;
	if (!packet || !group)
		return multicast_drop(COUNT_MC_FAILED);
	struct address source;
	address_load(&source, (const __u8 *)packet->words + IPV6_SOURCE, 6);
	if (!(group->flags & MULTICAST_ROOT) || !same_address(&source, &group->source) ||
	    !same_address(&packet->destination, &group->replication))
		return multicast_drop(COUNT_MC_ROOT_FOREIGN);
	packet->parent = 0;
	return multicast_replicate(skb);
}

#endif
