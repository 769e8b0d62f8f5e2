// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Recognizes a RoCEv2 packet that carries data and extracts the congested node's inputs (LHCNP-5.2-a): the innermost
// flow (PNC-4-c), its PSN, and the congestion field and, in a tunnel, the offset of the outermost header. The plain
// packet is read in a few instructions, and so is one in an SRv6 tunnel; anything else takes a walk through the
// headers.
#ifndef CNPD_DETECTOR_DATA_PACKET_H
#define CNPD_DETECTOR_DATA_PACKET_H

#include "counters.h"
#include "detector/flows.h"
#include "wire/roce.h"
#include "wire/walk.h"

struct data_packet {
	struct flow_key key;
	__u32 psn;
	__be16 sport; // with the P_Key, repeated in a Resume (LHCNP-6.2.3-g)
	__be16 pkey;
	__u8 ecn;	    // of the outermost header
	__u8 tunnel_family; // of the outermost header when the flow is inside another packet, 4 or 6; 0: it is not
	__u8 shims;	    // SHIM_…: the flow's headers other than IP
	__u16 outer_offset; // of the outermost IP header in the frame
};

enum parsed { PARSED_DATA, PARSED_OTHER, PARSED_UNKNOWN };

// The BTH, at which `available` bytes of linear memory begin, in a datagram that fits its packet. UNKNOWN: its DETH is
// not there.
static __always_inline enum parsed parse_bth(const struct bth *bth, const __u8 *end, __u32 length,
					     struct data_packet *packet)
{
	packet->key.qpn = BTH_QPN(bth->qpn);
	packet->key.source_qpn = 0;
	packet->psn = BTH_PSN(bth->psn);
	packet->pkey = bth->pkey;
	if (!roce_carries_data(bth->opcode) || packet->key.qpn < FIRST_DATA_QPN || !roce_is_version0(bth))
		return PARSED_OTHER;
	if (unlikely(roce_is_datagram(bth->opcode))) {
		const __u8 *deth = (const __u8 *)(bth + 1);
		if (length < UDP_HLEN + BTH_SIZE + DETH_SIZE + ICRC_SIZE)
			return PARSED_OTHER;
		if (deth + DETH_SIZE > end)
			return PARSED_UNKNOWN;
		packet->key.qpn |= FLOW_DATAGRAM;
		packet->key.source_qpn = BTH_QPN(*(const __u32 *)(deth + 4));
	}
	return PARSED_DATA;
}

// Tunnels over UDP take a walk. Most other ports differ from all of theirs in the upper octet.
#define UPPER_BIT(port) (1ULL << ((port) >> 8))
#define TUNNEL_UPPER_BITS                                                                                              \
	(UPPER_BIT(VXLAN_UDP_PORT) | UPPER_BIT(MPLS_UDP_PORT) | UPPER_BIT(GENEVE_UDP_PORT) |                           \
	 UPPER_BIT(VXLAN_OLD_UDP_PORT) | UPPER_BIT(L2TP_UDP_PORT) | UPPER_BIT(GTP_UDP_PORT) | UPPER_BIT(ESP_UDP_PORT))

static __always_inline int is_tunnel_port(__be16 dport)
{
	if (likely(!(TUNNEL_UPPER_BITS >> (dport & 63) & 1)))
		return 0;
	return dport == bpf_htons(VXLAN_UDP_PORT) || dport == bpf_htons(MPLS_UDP_PORT) || is_opaque_port(dport);
}

// The UDP header, for which and for a BTH there is memory; its IP header leaves `available` bytes for it.
static __always_inline enum parsed parse_udp(const __u8 *udp, const __u8 *end, __u32 available,
					     struct data_packet *packet)
{
	__be16 dport = *(__be16 *)(udp + UDP_DESTINATION);
	if (dport != bpf_htons(ROCE_UDP_PORT))
		return unlikely(is_tunnel_port(dport)) ? PARSED_UNKNOWN : PARSED_OTHER;
	__u32 length = bpf_ntohs(*(__be16 *)(udp + UDP_LENGTH));
	if (!roce_fits(length, available))
		return PARSED_OTHER;
	packet->sport = *(__be16 *)udp;
	return parse_bth((const struct bth *)(udp + UDP_HLEN), end, length, packet);
}

// Addresses of the flow, from its IPv6 header.
static __always_inline void read_ipv6_flow(const __u8 *ip, struct data_packet *packet)
{
	packet->key.source[0] = *(__u64 *)(ip + IPV6_SOURCE);
	packet->key.source[1] = *(__u64 *)(ip + IPV6_SOURCE + 8);
	packet->key.destination[0] = *(__u64 *)(ip + IPV6_DESTINATION);
	packet->key.destination[1] = *(__u64 *)(ip + IPV6_DESTINATION + 8);
}

// The plain packet: Ethernet, IPv6 or IPv4 without options, UDP, BTH, in linear memory. Anything that needs a walk is
// UNKNOWN.
static __always_inline enum parsed parse_plain(struct __sk_buff *skb, struct data_packet *packet)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	packet->tunnel_family = 0;
	packet->shims = 0;
	packet->outer_offset = ETH_HLEN;
	packet->key.tunnel[0] = packet->key.tunnel[1] = 0;
	packet->key.context = 0;
	if (data + ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE > end)
		return skb->len < ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE ? PARSED_OTHER : PARSED_UNKNOWN;
	__be16 type = *(__be16 *)(data + 12);
	const __u8 *ip = data + ETH_HLEN;
	if (type == bpf_htons(ETH_P_IPV6)) {
		if (ip[IPV6_NEXT_HEADER] != IPPROTO_UDP)
			return is_walked(ip[IPV6_NEXT_HEADER]) || is_opaque(ip[IPV6_NEXT_HEADER]) ? PARSED_UNKNOWN
												  : PARSED_OTHER;
		if (ip + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end)
			return PARSED_UNKNOWN;
		read_ipv6_flow(ip, packet);
		packet->ecn = (ip[1] >> 4) & 3;
		return parse_udp(ip + IPV6_HLEN, end, bpf_ntohs(*(__be16 *)(ip + IPV6_PAYLOAD_LENGTH)), packet);
	}
	if (type != bpf_htons(ETH_P_IP))
		return is_tag(type) || is_mpls(type) ? PARSED_UNKNOWN : PARSED_OTHER;
	if (ip[IPV4_PROTOCOL] != IPPROTO_UDP)
		return is_walked(ip[IPV4_PROTOCOL]) || is_opaque(ip[IPV4_PROTOCOL]) ? PARSED_UNKNOWN : PARSED_OTHER;
	if (ip[0] != 0x45 || (*(__be16 *)(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)))
		return PARSED_UNKNOWN;
	packet->key.source[0] = 0;
	packet->key.source[1] = MAPPED_HALF(*(__u32 *)(ip + IPV4_SOURCE));
	packet->key.destination[0] = 0;
	packet->key.destination[1] = MAPPED_HALF(*(__u32 *)(ip + IPV4_DESTINATION));
	packet->ecn = ip[1] & 3;
	__u32 length = bpf_ntohs(*(__be16 *)(ip + IPV4_LENGTH));
	return length < IPV4_HLEN ? PARSED_OTHER : parse_udp(ip + IPV4_HLEN, end, length - IPV4_HLEN, packet);
}

// The usual tunnel: IPv6 with nothing or one SRH (RFC 8986 §5) around a plain IPv6 packet, in linear memory. Anything
// else is UNKNOWN.
static __always_inline enum parsed parse_srv6(struct __sk_buff *skb, struct data_packet *packet)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *outer = data + ETH_HLEN, *inner = outer + IPV6_HLEN;
	if (inner + 8 > end || *(__be16 *)(data + 12) != bpf_htons(ETH_P_IPV6))
		return PARSED_UNKNOWN;
	__u32 available = bpf_ntohs(*(__be16 *)(outer + IPV6_PAYLOAD_LENGTH)), taken = IPV6_HLEN;
	__u8 next = outer[IPV6_NEXT_HEADER];
	if (next == IPPROTO_ROUTING) {
		if (inner[2] != ROUTING_TYPE_SRH)
			return PARSED_UNKNOWN;
		__u32 size = (inner[1] + 1) * 8;
		next = inner[0];
		inner += size;
		taken += size;
	}
	if (next != IPPROTO_IPV6 || inner + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end || inner[0] >> 4 != 6 ||
	    inner[IPV6_NEXT_HEADER] != IPPROTO_UDP)
		return PARSED_UNKNOWN;
	__u32 length = bpf_ntohs(*(__be16 *)(inner + IPV6_PAYLOAD_LENGTH));
	if (length + taken > available) // the tunnel's packet ends before the packet inside does
		return PARSED_UNKNOWN;
	read_ipv6_flow(inner, packet);
	packet->key.tunnel[0] = *(__u64 *)(outer + IPV6_SOURCE);
	packet->key.tunnel[1] = *(__u64 *)(outer + IPV6_SOURCE + 8);
	packet->ecn = (outer[1] >> 4) & 3;
	packet->tunnel_family = 6;
	packet->outer_offset = ETH_HLEN;
	return parse_udp(inner + IPV6_HLEN, end, length, packet);
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

// Counted by the packet's tunnel, for the whole router and for its port.
static __noinline int count_opaque(__u32 ifindex, __u32 kind)
{
	__u32 slot;
	if (kind == TUNNEL_NONE || kind >= TUNNEL_KINDS)
		return 0;
	count(COUNT_EGRESS_OPAQUE_MPLS + kind - TUNNEL_MPLS);
	if (!find_port(ifindex, &slot))
		return 0;
	struct egress_opaque *opaque_packets = bpf_map_lookup_elem(&egress_opaque, &slot);
	if (opaque_packets)
		opaque_packets->packets[kind & 7]++;
	return 0;
}

// Everything else: VLAN tags, options, extension headers, tunnels, paged packets. The flow is the innermost one (PNC
// §4).
static __noinline int parse_walk(struct __sk_buff *skb, struct data_packet *packet)
{
	struct headers h;
	int result = walk_headers(skb, &h);
	if (result == WALK_OPAQUE)
		count_opaque(skb->ifindex, h.tunnel);
	if (result == WALK_NOT_IP || result == WALK_FRAGMENT || result == WALK_OPAQUE)
		return PARSED_OTHER;
	if (result != WALK_TRANSPORT) {
		count(COUNT_EGRESS_UNPARSEABLE);
		return PARSED_OTHER;
	}
	if (!walk_is_roce(&h))
		return PARSED_OTHER;
	const __u8 *ip = walk_at(skb, h.outer, 2);
	if (!ip)
		return PARSED_OTHER;
	packet->ecn = (h.outer_family == 6 ? ip[1] >> 4 : ip[1]) & 3;
	packet->tunnel_family = h.outer != h.inner ? h.outer_family : 0;
	packet->shims = h.shims;
	packet->outer_offset = h.outer;
	packet->sport = h.sport;
	packet->key.context = h.context;
	packet->key.tunnel[0] = packet->key.tunnel[1] = 0;
	if (packet->tunnel_family &&
	    read_address(skb, h.outer + address_source_at(h.outer_family), h.outer_family, packet->key.tunnel) < 0)
		return PARSED_OTHER;
	const struct bth *bth = (const struct bth *)walk_at(skb, h.transport + UDP_HLEN, BTH_SIZE);
	if (!bth ||
	    read_address(skb, h.inner + address_source_at(h.inner_family), h.inner_family, packet->key.source) < 0 ||
	    read_address(skb, h.destination, h.inner_family, packet->key.destination) < 0) {
		count(COUNT_EGRESS_UNPARSEABLE);
		return PARSED_OTHER;
	}
	return parse_bth(bth, (void *)(long)skb->data_end, h.udp_length, packet);
}

#endif
