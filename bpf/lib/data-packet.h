// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Recognises a RoCEv2 packet that carries data and takes from it what the congested node needs (LHCNP-5.2-a): the innermost flow (PNC-4-c), its PSN, and
// the congestion field and, of a tunnel, the place of the outermost header. The plain packet is read in a few instructions, and so is one in an SRv6
// tunnel; anything else is walked through.
#ifndef CNPD_DATA_PACKET_H
#define CNPD_DATA_PACKET_H

#include "counters.h"
#include "flows.h"
#include "roce.h"
#include "walk.h"

struct data_packet {
	struct flow_key key;
	__u32 psn;
	__be16 sport; // with the P_Key, what a Resume has to repeat (LHCNP-6.2.3-g)
	__be16 pkey;
	__u8 ecn;	     // of the outermost header
	__u8 tunnel_family;  // of the outermost header when the flow is inside another packet, 4 or 6; 0: it is not
	__u16 outer_offset;  // of the outermost header in the frame
};

enum parsed { PARSED_DATA, PARSED_OTHER, PARSED_UNKNOWN };

static __always_inline enum parsed parse_bth(const struct bth *bth, struct data_packet *packet)
{
	packet->key.qpn = BTH_QPN(bth->qpn);
	packet->psn = BTH_PSN(bth->psn);
	packet->pkey = bth->pkey;
	return roce_carries_data(bth->opcode) && packet->key.qpn >= FIRST_DATA_QPN ? PARSED_DATA : PARSED_OTHER;
}

// Whether a packet without options has its BTH, by its own length: what follows in the frame is padding.
static __always_inline int has_bth6(const __u8 *ip)
{
	return bpf_ntohs(*(__be16 *)(ip + 4)) >= UDP_HLEN + BTH_SIZE;
}

static __always_inline int has_bth4(const __u8 *ip)
{
	return bpf_ntohs(*(__be16 *)(ip + 2)) >= IPV4_HLEN + UDP_HLEN + BTH_SIZE;
}

static __always_inline enum parsed parse_udp(const __u8 *udp, struct data_packet *packet)
{
	if (*(__be16 *)(udp + 2) != bpf_htons(ROCE_UDP_PORT))
		return PARSED_OTHER;
	packet->sport = *(__be16 *)udp;
	return parse_bth((const struct bth *)(udp + UDP_HLEN), packet);
}

// Addresses of the flow, from its IPv6 header.
static __always_inline void read_ipv6_flow(const __u8 *ip, struct data_packet *packet)
{
	packet->key.source[0] = *(__u64 *)(ip + 8);
	packet->key.source[1] = *(__u64 *)(ip + 16);
	packet->key.destination[0] = *(__u64 *)(ip + 24);
	packet->key.destination[1] = *(__u64 *)(ip + 32);
}

// The plain packet: Ethernet, IPv6 or IPv4 without options, UDP, BTH, in linear memory. Anything that needs a walk is UNKNOWN.
static __always_inline enum parsed parse_plain(struct __sk_buff *skb, struct data_packet *packet)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *udp;

	packet->tunnel_family = 0;
	packet->outer_offset = ETH_HLEN;
	if (data + ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE > end)
		return skb->len < ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE ? PARSED_OTHER : PARSED_UNKNOWN;
	__be16 type = *(__be16 *)(data + 12);
	const __u8 *ip = data + ETH_HLEN;
	if (type == bpf_htons(ETH_P_IPV6)) {
		if (ip[6] != IPPROTO_UDP)
			return ip[6] == IPPROTO_IPV6 || ip[6] == IPPROTO_IPIP || is_extension(ip[6]) ? PARSED_UNKNOWN : PARSED_OTHER;
		if (ip + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end)
			return PARSED_UNKNOWN;
		if (!has_bth6(ip))
			return PARSED_OTHER;
		udp = ip + IPV6_HLEN;
		read_ipv6_flow(ip, packet);
		packet->ecn = (ip[1] >> 4) & 3;
	} else if (type == bpf_htons(ETH_P_IP)) {
		if (ip[9] != IPPROTO_UDP)
			return ip[9] == IPPROTO_IPV6 || ip[9] == IPPROTO_IPIP || ip[9] == IPPROTO_AH ? PARSED_UNKNOWN : PARSED_OTHER;
		if (ip[0] != 0x45 || (*(__be16 *)(ip + 6) & bpf_htons(0x1fff)))
			return PARSED_UNKNOWN;
		if (!has_bth4(ip))
			return PARSED_OTHER;
		udp = ip + IPV4_HLEN;
		packet->key.source[0] = 0;
		packet->key.source[1] = MAPPED_HALF(*(__u32 *)(ip + 12));
		packet->key.destination[0] = 0;
		packet->key.destination[1] = MAPPED_HALF(*(__u32 *)(ip + 16));
		packet->ecn = ip[1] & 3;
	} else {
		return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD) ? PARSED_UNKNOWN : PARSED_OTHER;
	}
	return parse_udp(udp, packet);
}

// The usual tunnel: IPv6 with nothing or one SRH (RFC 8986 §5) around a plain IPv6 packet, in linear memory. Anything else is UNKNOWN.
static __always_inline enum parsed parse_srv6(struct __sk_buff *skb, struct data_packet *packet)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *outer = data + ETH_HLEN, *inner = outer + IPV6_HLEN;
	if (inner + 8 > end || *(__be16 *)(data + 12) != bpf_htons(ETH_P_IPV6))
		return PARSED_UNKNOWN;
	__u8 next = outer[6];
	if (next == IPPROTO_ROUTING) {
		if (inner[2] != ROUTING_TYPE_SRH)
			return PARSED_UNKNOWN;
		next = inner[0];
		inner += (inner[1] + 1) * 8;
	}
	if (next != IPPROTO_IPV6 || inner + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end || inner[0] >> 4 != 6 || inner[6] != IPPROTO_UDP)
		return PARSED_UNKNOWN;
	if (!has_bth6(inner))
		return PARSED_OTHER;
	read_ipv6_flow(inner, packet);
	packet->ecn = (outer[1] >> 4) & 3;
	packet->tunnel_family = 6;
	packet->outer_offset = ETH_HLEN;
	return parse_udp(inner + IPV6_HLEN, packet);
}

static __always_inline int read_address(struct __sk_buff *skb, __u32 offset, __u8 family, __u64 *address)
{
	const __u8 *at = walk_at(skb, offset, 16); // 16 for IPv4 as well: a UDP header and a BTH follow
	if (!at)
		return -1;
	if (family == 6) {
		address[0] = *(const __u64 *)at;
		address[1] = *(const __u64 *)(at + 8);
	} else {
		address[0] = 0;
		address[1] = MAPPED_HALF(*(const __u32 *)at);
	}
	return 0;
}

// Everything else: VLAN tags, options, extension headers, tunnels, paged packets. The flow is the innermost one (PNC §4).
static __noinline int parse_walk(struct __sk_buff *skb, struct data_packet *packet)
{
	struct headers h;
	int result = walk_headers(skb, &h);
	if (result == WALK_NOT_IP || result == WALK_FRAGMENT)
		return PARSED_OTHER;
	if (result != WALK_TRANSPORT) {
		count(COUNT_EGRESS_UNPARSEABLE);
		return PARSED_OTHER;
	}
	if (h.protocol != IPPROTO_UDP || h.dport != bpf_htons(ROCE_UDP_PORT))
		return PARSED_OTHER;
	const __u8 *ip = walk_at(skb, h.outer, 2);
	if (!ip)
		return PARSED_OTHER;
	packet->ecn = (h.outer_family == 6 ? ip[1] >> 4 : ip[1]) & 3;
	packet->tunnel_family = h.outer != h.inner ? h.outer_family : 0;
	packet->outer_offset = h.outer;
	packet->sport = h.sport;
	const struct bth *bth = (const struct bth *)walk_at(skb, h.transport + UDP_HLEN, BTH_SIZE);
	if (bth && h.transport + UDP_HLEN + BTH_SIZE > h.end)
		return PARSED_OTHER;
	if (!bth || read_address(skb, h.inner + (h.inner_family == 6 ? 8 : 12), h.inner_family, packet->key.source) < 0 ||
	    read_address(skb, h.destination, h.inner_family, packet->key.destination) < 0) {
		count(COUNT_EGRESS_UNPARSEABLE);
		return PARSED_OTHER;
	}
	return parse_bth(bth, packet);
}

#endif
