// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Headers of tunnels other than IP in IP, between two packets (walk.h): MPLS label stacks, GRE, VXLAN, Ethernet. Also
// defines which tunnels the walk does not look into.
#ifndef CNPD_WIRE_WALK_SHIMS_H
#define CNPD_WIRE_WALK_SHIMS_H

#include "wire/walk-ip.h"

// Tunnels that the walk does not look into.
static __always_inline int is_opaque(__u8 protocol)
{
	return protocol == IPPROTO_ESP || protocol == IPPROTO_ETHERIP || protocol == IPPROTO_L2TP;
}

static __always_inline int is_opaque_port(__be16 dport)
{
	return dport == bpf_htons(GENEVE_UDP_PORT) || dport == bpf_htons(VXLAN_GPE_UDP_PORT) ||
	       dport == bpf_htons(VXLAN_OLD_UDP_PORT) || dport == bpf_htons(L2TP_UDP_PORT) ||
	       dport == bpf_htons(GTP_UDP_PORT) || dport == bpf_htons(ESP_UDP_PORT);
}

static __always_inline __u8 tunnel_of_port(__be16 dport)
{
	return dport == bpf_htons(GENEVE_UDP_PORT) ? TUNNEL_GENEVE
	       : dport == bpf_htons(ESP_UDP_PORT)  ? TUNNEL_ESP
						   : TUNNEL_OTHER;
}

static __always_inline int is_tag(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

static __always_inline int is_mpls(__be16 type)
{
	return type == bpf_htons(ETH_P_MPLS_UC) || type == bpf_htons(ETH_P_MPLS_MC);
}

// --- Shims ---

static __always_inline void walk_shim(struct headers *h, __u8 kind, __u32 context)
{
	h->tunnel = kind;
	h->shims |= SHIM_PRESENT | (kind == TUNNEL_MPLS && !h->outer ? SHIM_OUTER_MPLS : 0);
	h->context = (h->context ^ context ^ kind) * 0x9e3779b1u;
}

// Moves `*offset` from the Ethernet type, or the first tag, to the payload. Returns its protocol number as an IP header
// would have it. 0 (hop-by-hop options, which cannot follow Ethernet): a type that is not walked.
static __always_inline __u8 walk_ethertype(struct __sk_buff *skb, __u32 *offset)
{
	__be16 type = 0;
	for (int tags = 0; tags <= WALK_VLAN_TAGS; tags++) {
		const __u8 *at = walk_at(skb, *offset, 2);
		if (!at)
			return 0;
		type = walk_be16(at);
		*offset += 2;
		if (!is_tag(type))
			break;
		*offset += 2;
	}
	return type == bpf_htons(ETH_P_IPV6) ? IPPROTO_IPV6
	       : type == bpf_htons(ETH_P_IP) ? IPPROTO_IPIP
	       : is_mpls(type)		     ? IPPROTO_MPLS
					     : 0;
}

// Returns the protocol number of the IPv4 or IPv6 header at `offset`; 0: there is none; -1: too few bytes. An IPv4
// header must be without options for its checksum to be verified. Ethernet frames in pseudowires (RFC 4448) may begin
// with any address; a control word begins with 0 or 1 (RFC 4385). The length must fit the enclosing packet, which ends
// at `end` by its own header: a notice holds only the beginning of that. Without an enclosing IP header the frame is
// the limit.
__noinline int walk_guess_ip(struct __sk_buff *skb, __u32 offset, __u32 end)
{
	offset &= WALK_OFFSET_MASK;
	const __u8 *ip = walk_at(skb, offset, IPV4_HLEN);
	if (!ip)
		return -1;
	if (end == WALK_NO_END)
		end = skb->len;
	__u32 available = end < offset ? 0 : end - offset;
	if (ip[0] >> 4 == 6)
		return bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH)) + IPV6_HLEN <= available &&
				       ip[IPV6_HOP_LIMIT] != 0
			       ? IPPROTO_IPV6
			       : 0;
	if (ip[0] >> 4 != 4 || (ip[0] & 15) < 5 || bpf_ntohs(walk_be16(ip + IPV4_LENGTH)) > available ||
	    ip[IPV4_TTL] == 0)
		return 0;
	if (ip[0] != 0x45) // options: the routers that forward it verify the checksum
		return IPPROTO_IPIP;
	__u32 sum = 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < IPV4_HLEN; i += 2)
		sum += walk_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? IPPROTO_IPIP : 0;
}

// Walks the label stack at `offset` and mixes its labels into `h->context`. Returns its end. 0: more than MPLS_LABELS
// labels; -1: the packet ends first.
__noinline int walk_labels(struct __sk_buff *skb, struct headers *h, __u32 offset)
{
	if (!h)
		return 0;
	volatile __u32 at = offset, mix = 0;
	for (int i = 0; i < MPLS_LABELS; i++) {
		const __u8 *label = walk_at(skb, at, 4);
		if (!label)
			return -1;
		__u32 entry = bpf_ntohl(*(const __u32 *)label);
		at = (at + 4) & WALK_OFFSET_MASK;
		mix = (mix ^ entry >> 12) * 0x85ebca6bu;
		if (entry & MPLS_BOTTOM) {
			walk_shim(h, TUNNEL_MPLS, mix);
			return at;
		}
	}
	return 0;
}

static __always_inline enum walk_result walk_mpls(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	int end = walk_labels(skb, h, *offset);
	if (end <= 0 || walk_is_cut(h, *offset, end - *offset))
		return end == 0 ? WALK_TOO_DEEP : WALK_TRUNCATED;
	*offset = end & WALK_OFFSET_MASK;
	int ip = walk_guess_ip(skb, *offset, h->end);
	if (ip < 0)
		return skb->len < *offset + IPV4_HLEN ? WALK_OPAQUE : WALK_TRUNCATED;
	*next = ip;
	return ip ? WALK_TRANSPORT : WALK_OPAQUE;
}

static __always_inline enum walk_result walk_gre(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	const __u8 *gre = walk_at(skb, *offset, 4);
	if (!gre || walk_is_cut(h, *offset, 4))
		return WALK_TRUNCATED;
	__u32 flags = bpf_ntohs(walk_be16(gre)), size = 4, key = 0;
	__be16 type = walk_be16(gre + 2);
	if (flags & GRE_CHECKSUM)
		size += 4;
	if (flags & GRE_KEY) {
		const __u8 *at = walk_at(skb, *offset + size, 4);
		if (!at)
			return WALK_TRUNCATED;
		key = *(const __u32 *)at;
		size += 4;
	}
	if (flags & GRE_SEQUENCE)
		size += 4;
	walk_shim(h, TUNNEL_GRE, key);
	*offset += size;
	*next = type == bpf_htons(ETH_P_IPV6)  ? IPPROTO_IPV6
		: type == bpf_htons(ETH_P_IP)  ? IPPROTO_IPIP
		: is_mpls(type)		       ? IPPROTO_MPLS
		: type == bpf_htons(ETH_P_TEB) ? IPPROTO_ETHERNET
					       : 0;
	if (flags & GRE_UNKNOWN || *next == 0)
		return WALK_OPAQUE;
	return WALK_TRANSPORT;
}

// Walks an Ethernet frame inside a packet. A frame without IP is WALK_NOT_IP.
static __always_inline enum walk_result walk_inner_ethernet(struct __sk_buff *skb, struct headers *h, __u32 *offset,
							    __u8 *next)
{
	__u32 at = *offset + 12;
	if (!walk_at(skb, at, 2) || walk_is_cut(h, *offset, ETH_HLEN))
		return WALK_TRUNCATED;
	*next = walk_ethertype(skb, &at);
	*offset = at;
	h->shims |= SHIM_PRESENT;
	return *next ? WALK_TRANSPORT : WALK_NOT_IP;
}

// Whether the UDP datagram at `offset` belongs to a tunnel.
static __always_inline int walk_is_tunnel(struct __sk_buff *skb, __u32 offset)
{
	const __u8 *udp = walk_at(skb, offset, 4);
	if (!udp)
		return 0;
	__be16 dport = walk_be16(udp + UDP_DESTINATION);
	return dport == bpf_htons(VXLAN_UDP_PORT) || dport == bpf_htons(MPLS_UDP_PORT) || is_opaque_port(dport);
}

// Walks the UDP header of a tunnel at `*offset`.
static __always_inline enum walk_result walk_udp(struct __sk_buff *skb, struct headers *h, __u32 *offset, __u8 *next)
{
	const __u8 *udp = walk_at(skb, *offset, UDP_HLEN);
	if (!udp || walk_is_cut(h, *offset, UDP_HLEN))
		return WALK_TRUNCATED;
	__be16 dport = walk_be16(udp + UDP_DESTINATION);
	if (is_opaque_port(dport)) {
		h->tunnel = tunnel_of_port(dport);
		return WALK_OPAQUE;
	}
	if (dport == bpf_htons(MPLS_UDP_PORT)) {
		*offset += UDP_HLEN;
		*next = IPPROTO_MPLS;
	} else if (dport == bpf_htons(VXLAN_UDP_PORT)) {
		const __u8 *vxlan = walk_at(skb, *offset + UDP_HLEN, VXLAN_HLEN);
		if (!vxlan || walk_is_cut(h, *offset + UDP_HLEN, VXLAN_HLEN))
			return WALK_TRUNCATED;
		walk_shim(h, TUNNEL_VXLAN, *(const __u32 *)(vxlan + 4));
		if (!(vxlan[0] & VXLAN_HAS_VNI))
			return WALK_OPAQUE;
		*offset += UDP_HLEN + VXLAN_HLEN;
		*next = IPPROTO_ETHERNET;
	}
	return WALK_TRANSPORT;
}

#endif
