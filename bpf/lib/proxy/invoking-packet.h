// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The invoking packet inside a notice (PNC §4, decisions D2 and D3): finds it, walks it, compares it with the
// five-tuple, and reads its BTH. The packet may be truncated anywhere.
#ifndef CNPD_PROXY_INVOKING_PACKET_H
#define CNPD_PROXY_INVOKING_PACKET_H

#include "proxy/port-roles.h"
#include "proxy/queue-pairs.h"
#include "wire/roce.h"
#include "proxy/tenant-maps.h"
#include "wire/notice-to-proxy.h"
#include "wire/walk.h"

// A check returns this, or the index of the counter for the reason to drop.
#define NOTICE_GOOD -1

// The content of a notice.
struct notice {
	struct qp_flow flow;
	struct address source, destination; // of the notice itself
	__be16 sport;
	__be16 pkey;
	__u16 end;	    // of the UDP datagram in the frame
	__u32 datagram_qpn; // the sender's Queue Pair, as a datagram names it (DETH); 0: the flow is a connection
	__u8 carrier;	    // 4 or 6: IP version of the notice
	__u8 family;	    // of the flow
	__u8 format;	    // of the notification that its sender gets
	__u16 inner;	    // where the innermost packet begins in the frame
	__u16 outer; // where the enclosing packet begins; equal to `inner`: none, or its tunnel ends in the main table
};

// Whether the sender is reached through the tunnel of its tenant: in the main table its address may be another host's.
static __always_inline int notice_is_tunneled(const struct notice *notice)
{
	return notice->outer != notice->inner;
}

// The invoking packet, by its headers.
struct invoking {
	struct headers h;
	__u32 end; // where the notice or the packet ends, whichever is first
};

// The readings with a tuple of either family: too large for a program's stack.
struct notice_readings {
	struct invoking as_ipv4, as_ipv6;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct notice_readings);
} notice_readings SEC(".maps");

// Walks the headers of the invoking packet at `offset`, as wire/walk.h walks those of a frame. Its first nibble is the
// outermost IP version. The notice ends at `end` of the frame.
__noinline int notice_walk(struct __sk_buff *skb, struct invoking *invoking, __u32 offset, __u32 end)
{
	if (!invoking)
		return WALK_NOT_IP;
	struct headers *h = &invoking->h;
	__builtin_memset(h, 0, sizeof(*h));
	h->end = WALK_NO_END;
	invoking->end = end;
	offset &= WALK_OFFSET_MASK;
	const __u8 *first = walk_at(skb, offset, 1);
	if (!first)
		return WALK_TRUNCATED;
	h->transport = offset;
	h->protocol = (*first >> 4) == 6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
	for (int depth = 0; depth < WALK_DEPTH; depth++) {
		reread();
		offset = h->transport & WALK_OFFSET_MASK;
		__u8 next = h->protocol;
		if (!is_walked(next) &&
		    !(next == IPPROTO_UDP && offset + UDP_HLEN <= end && walk_is_tunnel(skb, offset))) {
			if (h->end < end)
				invoking->end = h->end;
			return WALK_TRANSPORT;
		}
		int result = walk_step(skb, h);
		if (result != WALK_TRANSPORT)
			return result;
		if (h->transport > end || h->transport > h->end)
			return WALK_TRUNCATED;
	}
	return WALK_TOO_DEEP;
}

// Protocols whose header begins with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
static __always_inline int has_ports(__u8 protocol)
{
	return protocol == 6 || protocol == IPPROTO_UDP || protocol == 33 || protocol == 132 || protocol == 136;
}

// Whether the `size` bytes at `offset` of the frame equal those at `tuple`, and lie inside the packet: bytes that
// follow it in the frame do not count.
static __always_inline int notice_same(struct __sk_buff *skb, __u32 offset, const __u8 *tuple, __u32 size, __u32 end)
{
	const __u32 *at = (const __u32 *)walk_at(skb, offset, size), *expected = (const __u32 *)tuple;
	if (!at || offset + size > end)
		return 0;
	if (at[0] != expected[0])
		return 0;
	return size == 4 || (at[1] == expected[1] && at[2] == expected[2] && at[3] == expected[3]);
}

// Whether the tuple of `family`, at the start of the payload, names the innermost flow of the packet behind it.
static __always_inline int notice_tuple_found(struct __sk_buff *skb, const __u8 *tuple, struct invoking *invoking,
					      __u32 family)
{
	struct headers *h = &invoking->h;
	__u32 size = family == 6 ? 16 : 4;
	const __u8 *rest = tuple + 2 * size;
	if (h->inner_family != family || h->protocol != rest[0])
		return 0;
	if (!notice_same(skb, h->inner + address_source_at(family), tuple, size, invoking->end) ||
	    !notice_same(skb, h->destination, tuple + size, size, invoking->end))
		return 0;
	__u16 sport = 0, dport = 0;
	if (has_ports(h->protocol)) {
		const __u8 *ports = walk_at(skb, h->transport, 4);
		if (!ports || h->transport + 4 > invoking->end)
			return 0;
		sport = walk_be16(ports);
		dport = walk_be16(ports + 2);
	}
	// The ports are at an odd offset of the tuple.
	return bpf_htons(rest[1] << 8 | rest[2]) == sport && bpf_htons(rest[3] << 8 | rest[4]) == dport;
}

static __always_inline int notice_reads_as(struct __sk_buff *skb, struct notice *notice, const __u8 *tuple,
					   struct invoking *invoking, __u32 family)
{
	__u32 payload = ETH_HLEN + (notice->carrier == 6 ? IPV6_HLEN : IPV4_HLEN) + UDP_HLEN;
	return notice_walk(skb, invoking, payload + (family == 6 ? TUPLE_SIZE_IPV6 : TUPLE_SIZE_IPV4), notice->end) ==
		       WALK_TRANSPORT &&
	       notice_tuple_found(skb, tuple, invoking, family);
}

// Decision D2: the notice does not say whether its tuple is IPv4 or IPv6. Exactly one reading must match the invoking
// packet.
static __always_inline int notice_decide(struct __sk_buff *skb, struct proxy_scratch *scratch, struct notice *notice,
					 struct notice_readings *readings)
{
	const __u8 *tuple = scratch->datagram + UDP_HLEN;
	int found4 = notice_reads_as(skb, notice, tuple, &readings->as_ipv4, 4);
	int found6 = notice_reads_as(skb, notice, tuple, &readings->as_ipv6, 6);
	if (found4 && found6)
		return COUNT_PROXY_TUPLE_AMBIGUOUS;
	if (!found4 && !found6)
		return COUNT_PROXY_TUPLE_NOT_FOUND;
	notice->family = found4 ? 4 : 6;
	return NOTICE_GOOD;
}

// Decision D3: the outermost header of the flow determines the tenant. Labels, GRE keys and VXLAN networks are numbers
// of other routers.
//
// A flow in a tunnel counts only if a named router began the tunnel (port-roles.h): any host may wrap packets of others
// until a port congests. The proxy checks this, because accept-from belongs to the proxy, and a congested node knows
// only END.CON SIDs. It also checks the notices of its own congested ports. A label stack has no source, and a notice
// does not contain an outermost one: the router that sends the notice vouches for it.
static __always_inline int notice_tenant(struct __sk_buff *skb, struct notice *notice, const struct invoking *invoking)
{
	const struct headers *h = &invoking->h;
	struct address source;
	__u32 tenant;
	if (h->outer == h->inner && !h->shims) {
		// Notices of this router itself concern ports of its main table (detector/policy.h).
		tenant = skb->ifindex == LOOPBACK_IFINDEX
				 ? TENANT_MAIN
				 : tenant_of_port(skb->ifindex, &notice->source, notice->carrier | TENANT_OF_NOTICE);
	} else {
		const __u8 *at = walk_at(skb, h->outer + address_source_at(h->outer_family), 16);
		if (!at)
			return COUNT_PROXY_TUNNEL_UNKNOWN;
		address_load(&source, at, h->outer_family);
		if (!is_tunnel_known(&source, h->visited))
			return COUNT_PROXY_TUNNEL_UNKNOWN;
		int is_srv6 = !h->shims && h->outer_family == 6;
		tenant = is_srv6 ? tenant_of_source(&source) : tenant_otherwise();
		if (is_srv6 && tenant != TENANT_MAIN)
			notice->outer = h->outer;
	}
	notice->flow.tenant = tenant;
	return tenant == TENANT_UNKNOWN ? COUNT_PROXY_TENANT_UNKNOWN : NOTICE_GOOD;
}

// PNC-4-d, PNC-4-e: the sender from the tuple, the Queue Pair from the invoking packet's BTH.
static __always_inline int notice_flow(struct __sk_buff *skb, struct proxy_scratch *scratch, struct notice *notice,
				       struct invoking *invoking)
{
	const __u32 *tuple = (const __u32 *)(scratch->datagram + UDP_HLEN);
	__u32 transport = invoking->h.transport;
	notice->inner = notice->outer = invoking->h.inner;
	if (notice->family == 6) {
		__builtin_memcpy(notice->flow.sender.words, tuple, 16);
		__builtin_memcpy(notice->flow.receiver.words, tuple + 4, 16);
	} else {
		address_map_ipv4(&notice->flow.sender, tuple[0]);
		address_map_ipv4(&notice->flow.receiver, tuple[1]);
	}
	if (invoking->h.protocol != IPPROTO_UDP)
		return COUNT_PROXY_NOT_ROCE;
	const __u8 *ports = walk_at(skb, transport, 4); // compared with the tuple already
	if (!ports || walk_be16(ports + 2) != bpf_htons(ROCE_UDP_PORT))
		return COUNT_PROXY_NOT_ROCE;
	ports = walk_at(skb, transport, 6);
	if (!ports || transport + 6 > invoking->end)
		return COUNT_PROXY_NO_BTH;
	if (invoking->h.fragmented || transport > invoking->h.end ||
	    !roce_fits(bpf_ntohs(walk_be16(ports + 4)), invoking->h.end - transport))
		return COUNT_PROXY_NOT_ROCE;
	const __u8 *udp = walk_at(skb, transport, UDP_HLEN + BTH_SIZE);
	if (!udp || transport + UDP_HLEN + BTH_SIZE > invoking->end)
		return COUNT_PROXY_NO_BTH;
	const struct bth *bth = (const struct bth *)(udp + UDP_HLEN);
	notice->sport = walk_be16(udp);
	notice->pkey = bth->pkey;
	notice->flow.receiver_qpn = BTH_QPN(bth->qpn);
	if (bth->opcode == ROCE_OPCODE_CNP || !roce_is_version0(bth) || notice->flow.receiver_qpn < FIRST_DATA_QPN)
		return COUNT_PROXY_NOT_DATA;
	if (roce_is_datagram(bth->opcode)) {
		const __u8 *deth = walk_at(skb, transport + UDP_HLEN + BTH_SIZE, DETH_SIZE);
		if (!deth || transport + UDP_HLEN + BTH_SIZE + DETH_SIZE > invoking->end)
			return COUNT_PROXY_NO_DETH;
		notice->datagram_qpn = BTH_QPN(*(const __u32 *)(deth + 4));
		if (notice->datagram_qpn < FIRST_DATA_QPN)
			return COUNT_PROXY_NOT_DATA;
	}
	return notice_tenant(skb, notice, invoking);
}

#endif
