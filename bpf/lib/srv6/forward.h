// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The fate of a packet at the end of its tunnel. Three ways; the first possible one is taken:
// clang-format off
//   forwarded   decapsulated and, after one look-up, sent to its next hop past the kernel's routing. Only where that
//               would do nothing else with it (no netfilter hook, no IPsec policy, no other program behind this one on
//               the hook), and only for a packet that needs nothing else (no error to send)
//   handed up   decapsulated and left to the kernel's routing, with the same look-up as any packet: END.CON in the main
//               table; other SIDs of the main table if there are other programs behind this one, the packet is not for
//               this router, and no policy rule applies
//   left        to the kernel's seg6local with its tunnel. At an END.CON IPv4 is dropped there: the action is End.DT6,
//               because no action of the kernel takes both families and uses a plain table (End.DT4 and End.DT46 need a
//               VRF)
// clang-format on
#ifndef CNPD_SRV6_FORWARD_H
#define CNPD_SRV6_FORWARD_H

#include "wire/ecn.h"
#include "srv6/next-hop.h"
#include "wire/roce.h"
#include "wire/tunnel-ended.h"
#include "srv6/maps.h"
#include "wire/walk.h"

#define RT_TABLE_MAIN 254

// A packet at a local SID.
struct arrival {
	__u16 inner;   // offset of the inner packet
	__u8 protocol; // of the inner packet
	__u8 is_plain; // only an SRH without TLVs is between, so there is nothing for the kernel to process
	__u8 has_srh;
	__u8 segments_left;
	__u8 ours_alone; // seg6local would drop the inner packet: IPv4 at an END.CON
};

// Kernel structures that show whether anything else takes part in forwarding (kernel.h explains CO-RE; a suffix behind
// ___ is not part of the name).
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum { HOOK_PRE_ROUTING = 0, HOOK_FORWARD = 2, HOOK_POST_ROUTING = 4, HOOKS = 5 };
enum { POLICY_IN, POLICY_OUT, POLICY_FORWARD };

struct nf_hook_entries;

struct netns_nf {
	struct nf_hook_entries *hooks_ipv4[HOOKS];
	struct nf_hook_entries *hooks_ipv6[HOOKS];
};

struct netns_xfrm {
	unsigned int policy_count[3];
};

struct netns_ipv6 {
	_Bool fib6_has_custom_rules;
};

struct net {
	struct netns_ipv6 ipv6;
	struct netns_nf nf;
	struct netns_xfrm xfrm;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct ipv6_devconf {
	__s32 seg6_require_hmac;
};

struct inet6_dev {
	struct ipv6_devconf cnf;
};

struct net_device___srv6 {
	possible_net_t nd_net;
	struct inet6_dev *ip6_ptr;
	struct nf_hook_entries *nf_hooks_ingress;
};

#pragma clang attribute pop

static __always_inline struct net_device___srv6 *arrived_at(struct __sk_buff *skb)
{
	return (struct net_device___srv6 *)KERNEL_FIELD(kernel_packet(skb), dev);
}

// A firewall sees the outer packet before seg6local and the inner one when it is forwarded. If there is a firewall, it
// must see both.
static __always_inline int kernel_has_a_say(struct net_device___srv6 *device, __u8 family)
{
	if (bpf_core_field_exists(device->nf_hooks_ingress) && KERNEL_FIELD(device, nf_hooks_ingress))
		return 1;
	struct net *net = KERNEL_FIELD(device, nd_net.net);
	if (!net)
		return 1;
	if (bpf_core_field_exists(net->nf)) {
		if (KERNEL_FIELD(net, nf.hooks_ipv6[HOOK_PRE_ROUTING]) ||
		    KERNEL_FIELD(net, nf.hooks_ipv6[HOOK_FORWARD]) ||
		    KERNEL_FIELD(net, nf.hooks_ipv6[HOOK_POST_ROUTING]))
			return 1;
		if (family == 4 && (KERNEL_FIELD(net, nf.hooks_ipv4[HOOK_FORWARD]) ||
				    KERNEL_FIELD(net, nf.hooks_ipv4[HOOK_POST_ROUTING])))
			return 1;
	}
	if (bpf_core_field_exists(net->xfrm.policy_count))
		return KERNEL_FIELD(net, xfrm.policy_count[POLICY_IN]) ||
		       KERNEL_FIELD(net, xfrm.policy_count[POLICY_OUT]) ||
		       KERNEL_FIELD(net, xfrm.policy_count[POLICY_FORWARD]);
	return 0;
}

// Whether the kernel's routing would treat an IPv6 packet like a look-up in this table: no policy rule, and no delivery
// to this router.
static __always_inline int is_routed_by(struct net_device___srv6 *device, __u32 table, const __u8 *ip)
{
	struct net *net = KERNEL_FIELD(device, nd_net.net);
	if (table != RT_TABLE_MAIN || !net ||
	    (bpf_core_field_exists(net->ipv6.fib6_has_custom_rules) && KERNEL_FIELD(net, ipv6.fib6_has_custom_rules)))
		return 0;
	return !bpf_map_lookup_elem(&srv6_local_sources, ip + IPV6_DESTINATION);
}

// net.ipv6.conf.*.seg6_require_hmac: the kernel then drops an SRH without HMAC.
static __always_inline int requires_hmac(struct net_device___srv6 *device)
{
	struct inet6_dev *idev = KERNEL_FIELD(device, ip6_ptr);
	if (!idev || !bpf_core_field_exists(idev->cnf.seg6_require_hmac))
		return 1;
	return KERNEL_FIELD(idev, cnf.seg6_require_hmac) > 0;
}

// Excludes addresses that a router does not forward, or only after further checks.
static __always_inline int is_ordinary6(const __u8 *address)
{
	return address[0] != 0 && address[0] < 0xfe;
}

static __always_inline int is_ordinary4(const __u8 *address)
{
	return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

// Returns the length of the inner packet by its own header; 0: the packet needs more than forwarding.
static __always_inline __u32 ordinary_length(const __u8 *ip, __u8 family)
{
	if (family == 6) {
		__u32 payload = bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH));
		return payload == 0 || ip[IPV6_NEXT_HEADER] == IPPROTO_HOPOPTS || ip[IPV6_HOP_LIMIT] <= 1 ||
				       !is_ordinary6(ip + IPV6_SOURCE) || !is_ordinary6(ip + IPV6_DESTINATION)
			       ? 0
			       : payload + IPV6_HLEN;
	}
	return ip[0] != 0x45 || ip[IPV4_TTL] <= 1 || !is_ordinary4(ip + IPV4_SOURCE) ||
			       !is_ordinary4(ip + IPV4_DESTINATION)
		       ? 0
		       : bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
}

// Leaves the packet to the kernel's seg6local and counts `why`.
static __always_inline int leave(const struct arrival *arrival, enum counter why)
{
	count(why);
	if (arrival->ours_alone)
		count(COUNT_SRV6_DECAP_NO_IPV4);
	return TC_NEXT;
}

// Removes the outer headers. 0: the kernel refuses (IPv4 inside before Linux 6.3).
static __always_inline int decapsulate(struct __sk_buff *skb, const struct arrival *arrival, __u8 family)
{
	if (bpf_skb_adjust_room(skb, -(__s32)(arrival->inner - ETH_HLEN), BPF_ADJ_ROOM_MAC,
				family == 4 ? BPF_F_ADJ_ROOM_DECAP_L3_IPV4 : 0) == 0)
		return 1;
	leave(arrival, COUNT_SRV6_DECAP_FAILED);
	return 0;
}

static __always_inline int hand_up(struct __sk_buff *skb, const struct arrival *arrival, __u8 family)
{
	__be16 type = bpf_htons(family == 6 ? ETH_P_IPV6 : ETH_P_IP);
	const __u8 *from = walk_at(skb, ETH_HLEN + 8, 16);
	struct address source;
	if (!from)
		return leave(arrival, COUNT_SRV6_DECAP_FAILED); // cannot happen: it was there before
	address_load(&source, from, 6);
	if (!decapsulate(skb, arrival, family))
		return TC_NEXT;
	tunnel_end(skb, &source);
	if (family == 4 && bpf_skb_store_bytes(skb, 12, &type, sizeof(type), 0) < 0) {
		count(COUNT_SRV6_DECAP_FAILED);
		return TC_DROP;
	}
	count(COUNT_SRV6_DECAP_HANDED_UP);
	return TC_NEXT;
}

static __always_inline int send_on(struct __sk_buff *skb, const struct arrival *arrival, __u8 family,
				   const struct next_hop *next_hop)
{
	// The helper needs the gateway on the stack.
	struct bpf_redir_neigh gateway = next_hop->gateway;
	__u32 ifindex = next_hop->ifindex;
	if (!decapsulate(skb, arrival, family))
		return TC_NEXT;
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, IPV4_HLEN);
	if (!ip)
		return TC_DROP; // cannot happen: it was there before
	if (family == 6) {
		ip[IPV6_HOP_LIMIT]--;
		bpf_csum_update(skb, (__u16)~bpf_htons(1)); // a driver's checksum decreases by one with the hop limit
	} else {
		__be16 from = walk_be16(ip + IPV4_TTL);
		ip[IPV4_TTL]--;
		*(__be16 *)(ip + IPV4_CHECKSUM) =
			checksum_replace(walk_be16(ip + IPV4_CHECKSUM), from, walk_be16(ip + IPV4_TTL));
	}
	count(COUNT_SRV6_DECAP_FORWARDED);
	return bpf_redirect_neigh(ifindex, &gateway, sizeof(gateway), 0);
}

// Whether an IPv4 packet without options is a CNP or a Long-haul CNP. `ip` has IPV6_HLEN bytes, which cover the headers
// of that packet.
static __always_inline int is_cnp4(const __u8 *ip)
{
	const __u8 *udp = ip + IPV4_HLEN;
	return ip[IPV4_PROTOCOL] == IPPROTO_UDP && !(walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)) &&
	       walk_be16(udp + UDP_DESTINATION) == bpf_htons(ROCE_UDP_PORT) && udp[UDP_HLEN] == ROCE_OPCODE_CNP;
}

static __always_inline int srv6_forward(struct __sk_buff *skb, const struct arrival *arrival, __u8 family,
					const struct srv6_sid *sid, const struct srv6_config *config)
{
	struct net_device___srv6 *device = arrived_at(skb);
	if (!sid->decapsulate || !arrival->is_plain || !device || (arrival->has_srh && requires_hmac(device)))
		return leave(arrival, COUNT_SRV6_DECAP_LEFT);
	__u32 table = sid->table;
	if (!skb->gso_size && !(table == 0 && config->shared_ingress) && !kernel_has_a_say(device, family)) {
		struct next_hop answer;
		const struct next_hop *found;
		const __u8 *ip =
			walk_at(skb, arrival->inner,
				IPV6_HLEN); // a short IPv4 packet, without a transport header, goes the other way
		__u32 length = ip ? ordinary_length(ip, family) : 0;
		if (ip && length > 0 && arrival->inner + length <= skb->len) {
			// All packets of a flow must take one way, or they would overtake each other. Other programs on
			// the hook learn nothing from CNPs, for which END.CON exists.
			if (config->shared_ingress && !(arrival->ours_alone && is_cnp4(ip))) {
				if (family == 6 && is_routed_by(device, table, ip))
					return hand_up(skb, arrival, family);
				if (arrival->ours_alone)
					count(COUNT_SRV6_DECAP_NO_IPV4_SHARED);
			} else {
				found = family == 6 ? next_hop6(skb, ip, length, table, &answer)
						    : next_hop4(skb, ip, length, table, &answer);
				if (found)
					return send_on(skb, arrival, family, found);
			}
		}
	}
	if (table == 0)
		return hand_up(skb, arrival, family);
	if (arrival->ours_alone && kernel_has_a_say(device, 4))
		count(COUNT_SRV6_DECAP_NO_IPV4_HOOK);
	return leave(arrival, COUNT_SRV6_DECAP_LEFT);
}

#endif
