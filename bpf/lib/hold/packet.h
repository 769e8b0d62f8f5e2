// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Recognizes a packet that may belong to a held flow, and makes the key of the flow. As in the congested node's program
// the plain packet and the usual SRv6 tunnel are read in a few instructions; anything else takes a walk. The filter is
// asked before addresses are read.
//
// What of a flow is held follows from the sequence that its packets are in (IBTA vol. 1 §9.7). Requests share one
// sequence of PSNs, with data or without: SEND, WRITE, READ, atomics, FLUSH. READ responses are in the sequence of the
// answers: an ACK that overtakes one makes the requester ask again. So answers are held only behind READ responses,
// and otherwise pass at once, as feedback should. A CNP is in no sequence and is never held, nor are opcodes of
// manufacturers.
#ifndef CNPD_HOLD_PACKET_H
#define CNPD_HOLD_PACKET_H

#include "hold/maps.h"
#include "wire/roce.h"
#include "wire/walk.h"

enum share { SHARE_NONE, SHARE_REQUEST, SHARE_RESPONSE, SHARE_ANSWER };

// One bit an operation, as in wire/roce.h.
#define REQUESTS_RC 0x30d81fffu // 00-0C, 13, 14 (atomics), 16, 17 (SEND with invalidate), 1C (FLUSH), 1D (atomic WRITE)
#define RESPONSES_RC 0x0001e000u // 0D-10
#define ANSWERS_RC 0x00060000u	 // 11 (ACK, NAK), 12 (of an atomic)

struct held_packet {
	struct hold_key key;
	enum share share;
};

enum parsed { PARSED_FOUND, PARSED_OTHER, PARSED_UNKNOWN };

static __always_inline enum share share_of(__u8 opcode)
{
	__u32 transport = opcode >> 5, bit = 1u << (opcode & 31);
	if (transport == 0 || transport == 5) // RC, XRC
		return bit & REQUESTS_RC    ? SHARE_REQUEST
		       : bit & RESPONSES_RC ? SHARE_RESPONSE
		       : bit & ANSWERS_RC   ? SHARE_ANSWER
					    : SHARE_NONE;
	return roce_carries_data(opcode) ? SHARE_REQUEST : SHARE_NONE;
}

static __always_inline int may_be_held(__u32 qpn)
{
	__u32 word = qpn >> 6 & (HOLD_FILTER_WORDS - 1);
	const __u64 *bits = bpf_map_lookup_elem(&hold_filter, &word);
	return bits && *bits >> (qpn & 63) & 1;
}

// The UDP header, for which and for a BTH there is memory; its IP header leaves `available` bytes for it.
static __always_inline enum parsed parse_udp(const __u8 *udp, __u32 available, struct held_packet *packet)
{
	__be16 dport = walk_be16(udp + UDP_DESTINATION);
	if (dport != bpf_htons(ROCE_UDP_PORT))
		return dport == bpf_htons(VXLAN_UDP_PORT) || dport == bpf_htons(MPLS_UDP_PORT) ? PARSED_UNKNOWN
											       : PARSED_OTHER;
	const struct bth *bth = (const struct bth *)(udp + UDP_HLEN);
	__u32 qpn = BTH_QPN(bth->qpn);
	if (!may_be_held(qpn) || !roce_fits(bpf_ntohs(walk_be16(udp + UDP_LENGTH)), available) ||
	    !roce_is_version0(bth))
		return PARSED_OTHER;
	packet->share = share_of(bth->opcode);
	packet->key.id = qpn;
	return packet->share == SHARE_NONE ? PARSED_OTHER : PARSED_FOUND;
}

static __always_inline enum parsed parse_ipv6(const __u8 *ip, __u32 available, struct held_packet *packet)
{
	enum parsed parsed = parse_udp(ip + IPV6_HLEN, available, packet);
	if (parsed == PARSED_FOUND) {
		address_load(&packet->key.source, ip + IPV6_SOURCE, 6);
		address_load(&packet->key.destination, ip + IPV6_DESTINATION, 6);
	}
	return parsed;
}

// The usual tunnel: IPv6 with nothing or one SRH (RFC 8986 §5) around a plain IPv6 packet. `next`: what follows the
// outer header.
static __always_inline enum parsed parse_srv6(const __u8 *outer, const __u8 *end, __u8 next, struct held_packet *packet)
{
	const __u8 *inner = outer + IPV6_HLEN;
	__u32 taken = IPV6_HLEN, available = bpf_ntohs(walk_be16(outer + IPV6_PAYLOAD_LENGTH));
	if (next == IPPROTO_ROUTING) {
		if (inner + 8 > end || inner[2] != ROUTING_TYPE_SRH)
			return PARSED_UNKNOWN;
		__u32 size = (inner[1] + 1) * 8;
		next = inner[0];
		inner += size;
		taken += size;
	}
	if (next != IPPROTO_IPV6 || inner + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end || inner[0] >> 4 != 6 ||
	    inner[IPV6_NEXT_HEADER] != IPPROTO_UDP)
		return PARSED_UNKNOWN;
	__u32 length = bpf_ntohs(walk_be16(inner + IPV6_PAYLOAD_LENGTH));
	if (length + taken > available) // the tunnel's packet ends before the packet inside does
		return PARSED_UNKNOWN;
	return parse_ipv6(inner, length, packet);
}

static __always_inline enum parsed parse_fast(struct __sk_buff *skb, struct held_packet *packet)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	if (data + ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE > end)
		return skb->len < ETH_HLEN + IPV4_HLEN + UDP_HLEN + BTH_SIZE ? PARSED_OTHER : PARSED_UNKNOWN;
	__be16 type = walk_be16(data + 12);
	const __u8 *ip = data + ETH_HLEN;
	if (type == bpf_htons(ETH_P_IPV6)) {
		__u8 next = ip[IPV6_NEXT_HEADER];
		if (next != IPPROTO_UDP && !is_walked(next))
			return PARSED_OTHER;
		if (ip + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end)
			return PARSED_UNKNOWN;
		if (unlikely(next != IPPROTO_UDP))
			return parse_srv6(ip, end, next, packet);
		return parse_ipv6(ip, bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH)), packet);
	}
	if (type != bpf_htons(ETH_P_IP))
		return is_tag(type) || is_mpls(type) ? PARSED_UNKNOWN : PARSED_OTHER;
	if (ip[IPV4_PROTOCOL] != IPPROTO_UDP)
		return is_walked(ip[IPV4_PROTOCOL]) ? PARSED_UNKNOWN : PARSED_OTHER;
	if (ip[0] != 0x45 || (walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)))
		return PARSED_UNKNOWN;
	__u32 length = bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
	if (length < IPV4_HLEN)
		return PARSED_OTHER;
	enum parsed parsed = parse_udp(ip + IPV4_HLEN, length - IPV4_HLEN, packet);
	if (parsed == PARSED_FOUND) {
		address_load(&packet->key.source, ip + IPV4_SOURCE, 4);
		address_load(&packet->key.destination, ip + IPV4_DESTINATION, 4);
	}
	return parsed;
}

// VLAN tags, options, extension headers, other tunnels, paged packets. The flow is the innermost one (PNC §4).
static __noinline int parse_walk(struct __sk_buff *skb, struct held_packet *packet)
{
	struct headers h;
	int result = walk_headers(skb, &h);
	if (result == WALK_NOT_IP || result == WALK_FRAGMENT || result == WALK_OPAQUE)
		return PARSED_OTHER;
	if (result != WALK_TRANSPORT) {
		count(COUNT_HOLD_UNPARSEABLE);
		return PARSED_OTHER;
	}
	if (!walk_is_roce(&h))
		return PARSED_OTHER;
	const __u8 *udp = walk_at(skb, h.transport, UDP_HLEN + BTH_SIZE);
	if (!udp || parse_udp(udp, h.end - h.transport, packet) != PARSED_FOUND)
		return PARSED_OTHER;
	// 16 bytes for IPv4 as well: a UDP header and a BTH follow.
	const __u8 *source = walk_at(skb, h.inner + address_source_at(h.inner_family), 16);
	if (!source)
		return PARSED_OTHER;
	address_load(&packet->key.source, source, h.inner_family);
	const __u8 *destination = walk_at(skb, h.destination, 16);
	if (!destination)
		return PARSED_OTHER;
	address_load(&packet->key.destination, destination, h.inner_family);
	return PARSED_FOUND;
}

#endif
