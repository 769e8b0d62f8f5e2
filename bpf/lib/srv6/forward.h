// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What becomes of a packet at the end of its tunnel. Three ways, the first that is possible:
// clang-format off
//   forwarded   decapsulated, one look-up, to its next hop: past the kernel's routing, so only where that would do
//               nothing else with it (no netfilter hook, no IPsec policy, nobody behind us on the hook), and only for a
//               packet that needs nothing else (no error to send)
//   handed up   decapsulated and left to the kernel's routing, where the look-up is that of any packet: END.CON in the
//               main table; other SIDs of the main table when somebody is behind us, the packet is not for this router,
//               and no policy rule has a say
//   left        to the kernel's seg6local, tunnel and all. At an END.CON that is the end of IPv4: its action there is
//               End.DT6, for the kernel has none that takes both families and looks up in a plain table (End.DT4 and
//               End.DT46 want a VRF)
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

// A packet at one of our SIDs.
struct arrival {
	__u16 inner;   // offset of the packet inside
	__u8 protocol; // what is inside
	__u8 is_plain; // nothing but an SRH without TLVs is between, so nothing there that the kernel would have to
		       // look at
	__u8 has_srh;
	__u8 segments_left;
	__u8 ours_alone; // seg6local would drop what is inside: IPv4 at an END.CON
};

// The kernel structures that say whether anybody else has a hand in forwarding (kernel.h explains CO-RE; a suffix
// behind ___ is no part of the name).
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
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	return (struct net_device___srv6 *)kernel->dev;
}

// A firewall sees the outer packet before seg6local and the inner one when it is forwarded. Where there is one, it must
// see both.
static __always_inline int kernel_has_a_say(struct net_device___srv6 *device, __u8 family)
{
	if (bpf_core_field_exists(device->nf_hooks_ingress) && device->nf_hooks_ingress)
		return 1;
	struct net *net = device->nd_net.net;
	if (!net)
		return 1;
	if (bpf_core_field_exists(net->nf)) {
		if (net->nf.hooks_ipv6[HOOK_PRE_ROUTING] || net->nf.hooks_ipv6[HOOK_FORWARD] ||
		    net->nf.hooks_ipv6[HOOK_POST_ROUTING])
			return 1;
		if (family == 4 && (net->nf.hooks_ipv4[HOOK_FORWARD] || net->nf.hooks_ipv4[HOOK_POST_ROUTING]))
			return 1;
	}
	if (bpf_core_field_exists(net->xfrm.policy_count))
		return net->xfrm.policy_count[POLICY_IN] || net->xfrm.policy_count[POLICY_OUT] ||
		       net->xfrm.policy_count[POLICY_FORWARD];
	return 0;
}

// Whether the kernel's routing would do with an IPv6 packet what a look-up in this table does: no policy rule, and no
// delivery to this router.
static __always_inline int is_routed_by(struct net_device___srv6 *device, __u32 table, const __u8 *ip)
{
	struct net *net = device->nd_net.net;
	if (table != RT_TABLE_MAIN || !net ||
	    (bpf_core_field_exists(net->ipv6.fib6_has_custom_rules) && net->ipv6.fib6_has_custom_rules))
		return 0;
	return !bpf_map_lookup_elem(&srv6_local_sources, ip + IPV6_DESTINATION);
}

// net.ipv6.conf.*.seg6_require_hmac: an SRH without HMAC is then the kernel's to drop.
static __always_inline int requires_hmac(struct net_device___srv6 *device)
{
	struct inet6_dev *idev = device->ip6_ptr;
	if (!idev || !bpf_core_field_exists(idev->cnf.seg6_require_hmac))
		return 1;
	return idev->cnf.seg6_require_hmac > 0;
}

// Sources and destinations that a router does not forward, or only after a closer look.
static __always_inline int is_ordinary6(const __u8 *address)
{
	return address[0] != 0 && address[0] < 0xfe;
}

static __always_inline int is_ordinary4(const __u8 *address)
{
	return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

// The length of the packet inside by its own header; 0 when that asks for more than forwarding.
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

// To the kernel's seg6local; `why` is counted.
static __always_inline int leave(const struct arrival *arrival, enum counter why)
{
	count(why);
	if (arrival->ours_alone)
		count(COUNT_SRV6_DECAP_NO_IPV4);
	return TC_NEXT;
}

// Takes the outer headers off. 0 when the kernel does not let us (IPv4 inside before Linux 6.3).
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
		return leave(arrival, COUNT_SRV6_DECAP_FAILED); // it was there before
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
	// The helper takes it from the stack.
	struct bpf_redir_neigh gateway = next_hop->gateway;
	__u32 ifindex = next_hop->ifindex;
	if (!decapsulate(skb, arrival, family))
		return TC_NEXT;
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, IPV4_HLEN);
	if (!ip)
		return TC_DROP; // it was there before
	if (family == 6) {
		ip[IPV6_HOP_LIMIT]--;
		bpf_csum_update(skb, (__u16)~bpf_htons(1)); // what a driver summed up is one less
	} else {
		__be16 from = walk_be16(ip + IPV4_TTL);
		ip[IPV4_TTL]--;
		*(__be16 *)(ip + IPV4_CHECKSUM) =
			checksum_replace(walk_be16(ip + IPV4_CHECKSUM), from, walk_be16(ip + IPV4_TTL));
	}
	count(COUNT_SRV6_DECAP_FORWARDED);
	return bpf_redirect_neigh(ifindex, &gateway, sizeof(gateway), 0);
}

// A CNP or a Long-haul CNP, over IPv4 without options. `ip` has room for the headers that such a packet has, which are
// as long as IPv6's.
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
		const __u8 *ip = walk_at(skb, arrival->inner,
					 IPV6_HLEN); // IPv4 with a transport header is as long, or goes the other way
		__u32 length = ip ? ordinary_length(ip, family) : 0;
		if (ip && length > 0 && arrival->inner + length <= skb->len) {
			// All packets of a flow go one way, or they would overtake each other. The others on the hook
			// have nothing to learn from CNPs, which are what END.CON is for.
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
