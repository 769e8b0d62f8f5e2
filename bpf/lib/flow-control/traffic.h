// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads a packet as flow control knows it: its outermost header and priority, which is all that pausing a service or a
// priority needs, and the innermost flow, if it is a RoCEv2 packet. The plain packet and the usual SRv6 tunnel are read
// in a few instructions; anything else takes a walk. In front of the outermost header there may be VLAN tags. Behind an
// MPLS label stack no IP header is the outermost one of the link: such packets are not read.
#ifndef CNPD_FLOW_CONTROL_TRAFFIC_H
#define CNPD_FLOW_CONTROL_TRAFFIC_H

#include "flow-control/maps.h"
#include "wire/roce.h"
#include "wire/walk.h"

enum traffic_parsed { TRAFFIC_UNKNOWN, TRAFFIC_ROCE, TRAFFIC_OTHER };

struct traffic {
	struct outermost outermost;
	struct flow_control_flow flow;
	__u16 offset; // of the outermost header; 0: not read yet
	__u8 family;
	__u8 parsed; // enum traffic_parsed: whether there is a flow
};

#define IPV4_FRAGMENTED 0x3fff // more to come, or an offset
#define PCP_SHIFT 13

// Offset of what follows the Ethernet type, which goes to `type`; behind tags. 0: the frame is too short, or has more
// tags than the walk passes. `tci`: of the outermost tag, if there is one.
static __always_inline __u32 traffic_ethertype(struct __sk_buff *skb, __be16 *type, __u32 *tci)
{
	__u32 offset = 12;
#pragma clang loop unroll(full)
	for (int tags = 0; tags <= WALK_VLAN_TAGS; tags++) {
		const __u8 *at = walk_at(skb, offset, 4);
		if (!at)
			return 0;
		*type = walk_be16(at);
		if (likely(!is_tag(*type)))
			return offset + 2;
		if (tags == 0)
			*tci = bpf_ntohs(walk_be16(at + 2));
		offset += 4;
	}
	return 0;
}

// The tag's priority, as the link has it; without a tag what the DSCP stands for.
static __always_inline __u8 traffic_priority(const struct __sk_buff *skb, const struct flow_control_config *config,
					     __u32 tci, __u32 traffic_class)
{
	if (unlikely(skb->vlan_present))
		return skb->vlan_tci >> PCP_SHIFT & 7;
	if (unlikely(tci != ~0u))
		return tci >> PCP_SHIFT & 7;
	return config->priorities[traffic_class >> 2 & 63] & 7;
}

// The outermost IP header. Returns 0 if there is none.
static __always_inline int traffic_read(struct __sk_buff *skb, const struct flow_control_config *config,
					struct traffic *packet)
{
	struct outermost *outermost = &packet->outermost;
	__be16 type = 0;
	__u32 tci = ~0u, traffic_class;
	if (packet->offset)
		return 1;
	if (unlikely(skb->data + ETH_HLEN + IPV6_HLEN > skb->data_end) && skb->len > skb->data_end - skb->data)
		bpf_skb_pull_data(skb, skb->len);
	__u32 offset = traffic_ethertype(skb, &type, &tci);
	if (!offset)
		return 0;
	if (type == bpf_htons(ETH_P_IPV6)) {
		const __u8 *ip = walk_at(skb, offset, IPV6_HLEN);
		if (!ip || ip[0] >> 4 != 6)
			return 0;
		packet->family = 6;
		traffic_class = bpf_ntohs(walk_be16(ip)) >> 4 & 0xff;
		outermost->protocol = ip[IPV6_NEXT_HEADER];
		address_load(&outermost->source, ip + IPV6_SOURCE, 6);
		address_load(&outermost->destination, ip + IPV6_DESTINATION, 6);
	} else if (type == bpf_htons(ETH_P_IP)) {
		const __u8 *ip = walk_at(skb, offset, IPV4_HLEN);
		if (!ip || ip[0] >> 4 != 4)
			return 0;
		packet->family = 4;
		traffic_class = ip[1];
		outermost->protocol = ip[IPV4_PROTOCOL];
		address_load(&outermost->source, ip + IPV4_SOURCE, 4);
		address_load(&outermost->destination, ip + IPV4_DESTINATION, 4);
	} else {
		return 0;
	}
	outermost->priority = traffic_priority(skb, config, tci, traffic_class);
	packet->offset = offset;
	return 1;
}

static __always_inline int is_tunnel_protocol(__u8 protocol)
{
	return protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_ROUTING;
}

// The UDP header, for which there is memory; its IP header leaves `available` bytes for it.
static __always_inline enum traffic_parsed traffic_udp(const __u8 *udp, __u32 available, struct traffic *packet)
{
	__be16 dport = walk_be16(udp + UDP_DESTINATION);
	if (dport != bpf_htons(ROCE_UDP_PORT))
		return dport == bpf_htons(VXLAN_UDP_PORT) || dport == bpf_htons(MPLS_UDP_PORT) ? TRAFFIC_UNKNOWN
											       : TRAFFIC_OTHER;
	if (!roce_fits(bpf_ntohs(walk_be16(udp + UDP_LENGTH)), available))
		return TRAFFIC_OTHER;
	packet->flow.ports = (__u32)bpf_ntohs(walk_be16(udp)) << 16 | ROCE_UDP_PORT;
	return TRAFFIC_ROCE;
}

// IPv6 at the beginning of the frame: plain, or around IPv6 with nothing or one SRH between.
static __always_inline enum traffic_parsed traffic_ipv6(struct __sk_buff *skb, struct traffic *packet)
{
	const __u8 *ip = (const __u8 *)(long)skb->data + ETH_HLEN, *end = (void *)(long)skb->data_end;
	__u8 next = packet->outermost.protocol;
	__u32 taken = 0;
	if (ip + IPV6_HLEN + 8 > end)
		return TRAFFIC_UNKNOWN;
	__u32 available = bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH));
	if (next == IPPROTO_ROUTING && ip[IPV6_HLEN + 2] == ROUTING_TYPE_SRH) {
		next = ip[IPV6_HLEN];
		taken = (ip[IPV6_HLEN + 1] + 1) * 8;
	}
	if (next == IPPROTO_IPV6) {
		ip += IPV6_HLEN + taken;
		taken += IPV6_HLEN;
		if (ip + IPV6_HLEN + UDP_HLEN > end || ip[0] >> 4 != 6)
			return TRAFFIC_UNKNOWN;
		next = ip[IPV6_NEXT_HEADER];
		__u32 length = bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH));
		if (length + taken > available) // the tunnel's packet ends before the packet inside does
			return TRAFFIC_UNKNOWN;
		available = length;
		packet->outermost.is_tunnel = 1;
	} else if (taken) {
		return TRAFFIC_UNKNOWN; // the destination is in the SRH
	}
	if (next != IPPROTO_UDP || ip + IPV6_HLEN + UDP_HLEN > end)
		return next == IPPROTO_UDP || is_walked(next) ? TRAFFIC_UNKNOWN : TRAFFIC_OTHER;
	address_load(&packet->flow.source, ip + IPV6_SOURCE, 6);
	address_load(&packet->flow.destination, ip + IPV6_DESTINATION, 6);
	return traffic_udp(ip + IPV6_HLEN, available, packet);
}

static __always_inline enum traffic_parsed traffic_ipv4(struct __sk_buff *skb, struct traffic *packet)
{
	const __u8 *ip = (const __u8 *)(long)skb->data + ETH_HLEN, *end = (void *)(long)skb->data_end;
	__u8 next = packet->outermost.protocol;
	if (next != IPPROTO_UDP)
		return is_walked(next) ? TRAFFIC_UNKNOWN : TRAFFIC_OTHER;
	if (ip + IPV4_HLEN + UDP_HLEN > end || ip[0] != 0x45 ||
	    (walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(IPV4_FRAGMENTED)))
		return TRAFFIC_UNKNOWN;
	__u32 length = bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
	if (length < IPV4_HLEN)
		return TRAFFIC_UNKNOWN;
	packet->flow.source = packet->outermost.source;
	packet->flow.destination = packet->outermost.destination;
	return traffic_udp(ip + IPV4_HLEN, length - IPV4_HLEN, packet);
}

// Tags in the frame, options, extension headers, other tunnels, paged packets.
static __noinline int traffic_walk(struct __sk_buff *skb, struct traffic *packet)
{
	struct headers h;
	int result = walk_headers(skb, &h);
	if (result == WALK_NOT_IP || result == WALK_OPAQUE)
		return TRAFFIC_OTHER;
	if (result == WALK_FRAGMENT || (result == WALK_TRANSPORT && h.fragmented)) {
		count(COUNT_FLOW_CONTROL_FRAGMENT);
		return TRAFFIC_OTHER;
	}
	if (result != WALK_TRANSPORT) {
		count(COUNT_FLOW_CONTROL_UNPARSEABLE);
		return TRAFFIC_OTHER;
	}
	if (!walk_is_roce(&h))
		return TRAFFIC_OTHER;
	packet->flow.ports = (__u32)bpf_ntohs(h.sport) << 16 | bpf_ntohs(h.dport);
	packet->outermost.is_tunnel = h.outer != h.inner && is_tunnel_protocol(packet->outermost.protocol);
	// 16 bytes for IPv4 as well: a UDP header and a BTH follow.
	const __u8 *source = walk_at(skb, h.inner + address_source_at(h.inner_family), 16);
	if (!source)
		return TRAFFIC_OTHER;
	address_load(&packet->flow.source, source, h.inner_family);
	const __u8 *destination = walk_at(skb, h.destination, 16);
	if (!destination)
		return TRAFFIC_OTHER;
	address_load(&packet->flow.destination, destination, h.inner_family);
	return TRAFFIC_ROCE;
}

// The innermost flow, after traffic_read(). Returns 0 unless it is a RoCEv2 packet. The second call finds the same.
static __always_inline int traffic_read_flow(struct __sk_buff *skb, struct traffic *packet)
{
	if (packet->parsed == TRAFFIC_UNKNOWN && packet->offset == ETH_HLEN)
		packet->parsed = packet->family == 6 ? traffic_ipv6(skb, packet) : traffic_ipv4(skb, packet);
	if (packet->parsed == TRAFFIC_UNKNOWN)
		packet->parsed = traffic_walk(skb, packet);
	return packet->parsed == TRAFFIC_ROCE;
}

// Of the kind that is configured, where it leaves or arrives.
static __always_inline void traffic_key(struct hold_key *key, __u32 kind, const struct outermost *outermost,
					const struct flow_control_flow *flow, __u32 ifindex)
{
	__builtin_memset(key, 0, sizeof(*key));
	key->kind = kind;
	key->ifindex = ifindex;
	if (kind == HOLD_PRIORITY) {
		key->id = outermost->priority;
	} else if (kind == HOLD_SERVICE) {
		key->source = outermost->source;
		key->destination = outermost->destination;
		key->protocol = outermost->protocol;
	} else {
		key->source = flow->source;
		key->destination = flow->destination;
		key->id = flow->ports;
		key->protocol = IPPROTO_UDP;
	}
}

#endif
