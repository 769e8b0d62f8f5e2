// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tunnel exit (FCN §4.2.1), in front of the kernel's seg6local, which ignores the outer ECN field. At a local SID
// that decapsulates, the inner ECN field is set by RFC 6040 figure 4, or the packet is dropped as the figure requires.
// The program forwards the packet as End.DT4 and End.DT6 would (RFC 8986 §4.6, §4.7) where it can, because that saves a
// look-up. In every other case the kernel does the rest.
#ifndef CNPD_SRV6_DECAP_H
#define CNPD_SRV6_DECAP_H

#include "wire/ecn.h"
#include "srv6/forward.h"
#include "srv6/maps.h"
#include "wire/walk.h"

// Headers between the outer IPv6 header and the packet inside.
#define TUNNEL_HEADERS 4
// Enough for all tunnels in use and the header inside.
#define TUNNEL_LINEAR 256

#define ICMPV6_PACKET_TOO_BIG 2
#define ICMPV6_INFORMATIONAL 128

// Pulls up to `size` bytes of the packet into linear memory: drivers may leave them elsewhere. 0: failed.
static __always_inline int pull(struct __sk_buff *skb, __u32 size)
{
	if (size > skb->len)
		size = skb->len;
	return skb->data_end - skb->data >= size || bpf_skb_pull_data(skb, size) == 0;
}

// 0: the chain ends beyond the packet. `arrival->protocol` may still be an extension header: the chain is then longer
// than any in use.
static __always_inline int parse_arrival(struct __sk_buff *skb, __u8 next, struct arrival *arrival)
{
	__u32 offset = ETH_HLEN + IPV6_HLEN;
	*arrival = (struct arrival){ .is_plain = 1 };
	for (int i = 0; i < TUNNEL_HEADERS; i++) {
		if (next != IPPROTO_ROUTING && next != IPPROTO_HOPOPTS && next != IPPROTO_DSTOPTS)
			break;
		const __u8 *header = walk_at(skb, offset, 8);
		if (!header)
			return 0;
		if (next == IPPROTO_ROUTING && header[2] == ROUTING_TYPE_SRH) {
			arrival->has_srh = 1;
			arrival->segments_left |= header[3];
			if (header[1] != (header[4] + 1) * 2)
				arrival->is_plain = 0; // an HMAC may be among the TLVs
		} else {
			arrival->is_plain = 0;
		}
		next = header[0];
		offset += (header[1] + 1) * 8;
	}
	arrival->inner = offset;
	arrival->protocol = next;
	return 1;
}

// Decision E6: the SID is the source of tunnels, so it receives their ICMPv6 errors. The stack must not get them.
static __always_inline int consume_icmpv6(struct __sk_buff *skb, const struct arrival *arrival)
{
	const __u8 *icmp = walk_at(skb, arrival->inner, 4);
	if (!icmp || icmp[0] >= ICMPV6_INFORMATIONAL)
		return TC_NEXT;
	count(COUNT_SRV6_DECAP_ICMPV6);
	if (icmp[0] == ICMPV6_PACKET_TOO_BIG)
		count(COUNT_SRV6_DECAP_TOO_BIG);
	return TC_DROP;
}

static __always_inline void count_ecn(__u32 inner, __u32 outer, __u32 result)
{
	if (ecn_unused(inner, outer))
		count(COUNT_SRV6_DECAP_UNUSED);
	if (result == ECN_DROP)
		count(COUNT_SRV6_DECAP_DROPPED);
	else if (result != inner)
		count(result == ECN_CE ? COUNT_SRV6_DECAP_CE : COUNT_SRV6_DECAP_ECT1);
}

// Writes the traffic class of the inner packet. Updates a driver's checksum over the whole packet (CHECKSUM_COMPLETE).
static __always_inline void set_inner_class(struct __sk_buff *skb, __u8 *ip, __u8 family, __u32 traffic_class)
{
	__be16 from = walk_be16(ip), to;
	if (family == 4) {
		ip[1] = traffic_class;
		to = walk_be16(ip);
		// The sum over the header is unchanged.
		*(__be16 *)(ip + IPV4_CHECKSUM) = checksum_replace(walk_be16(ip + IPV4_CHECKSUM), from, to);
	} else {
		set_traffic_class6(ip, traffic_class);
		to = walk_be16(ip);
		bpf_csum_update(skb, (__u32)to + (__u16)~from);
	}
}

// RFC 6040 §4.2 and RFC 2983 §4. 0: drop the packet.
static __always_inline int leave_tunnel(struct __sk_buff *skb, __u32 outer, __u8 *ip, __u8 family,
					const struct srv6_sid *sid, const struct srv6_config *config)
{
	__u32 inner = family == 6 ? traffic_class6(ip) : ip[1];
	__u32 ecn = ecn_egress(inner & ECN_MASK, outer & ECN_MASK);
	if (((inner ^ outer) & ECN_MASK) != 0)
		count_ecn(inner & ECN_MASK, outer & ECN_MASK, ecn);
	if (ecn == ECN_DROP)
		return 0;
	// END.CON leaves the DSCP of a notification as it was at the tunnel entry.
	__u32 dscp = config->uniform && !sid->end_con ? outer : inner;
	__u32 traffic_class = ((dscp & ~(__u32)ECN_MASK) | ecn) & 0xff;
	if (traffic_class != inner)
		set_inner_class(skb, ip, family, traffic_class);
	return 1;
}

static __always_inline int srv6_leave_tunnel(struct __sk_buff *skb)
{
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || skb->pkt_type != PACKET_HOST || is_of_vlan(skb))
		return TC_NEXT;
	const __u8 *outer = walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!outer)
		outer = pull(skb, ETH_HLEN + IPV6_HLEN) ? walk_at(skb, ETH_HLEN, IPV6_HLEN) : 0;
	if (!outer)
		return TC_NEXT;
	__u8 next = outer[IPV6_NEXT_HEADER];
	if (next != IPPROTO_IPV6 && next != IPPROTO_IPIP && next != IPPROTO_ICMPV6 && !is_extension(next))
		return TC_NEXT;
	const struct srv6_sid *sid = bpf_map_lookup_elem(&srv6_sids, outer + IPV6_DESTINATION);
	if (!sid)
		return TC_NEXT;
	__u32 zero = 0, outer_class = traffic_class6(outer);
	const struct srv6_config *config = bpf_map_lookup_elem(&srv6_config, &zero);
	struct arrival arrival;
	// What leaves has no tag, as what the kernel forwards.
	if (unlikely(skb->vlan_present) && bpf_skb_vlan_pop(skb) < 0)
		return TC_NEXT;
	pull(skb, TUNNEL_LINEAR);
	if (!config || !parse_arrival(skb, next, &arrival)) {
		count(COUNT_SRV6_DECAP_UNPARSEABLE);
		return TC_NEXT;
	}
	if (arrival.segments_left) {
		count(COUNT_SRV6_DECAP_SEGMENTS);
		return TC_NEXT;
	}
	if (arrival.protocol == IPPROTO_ICMPV6)
		return sid->end_con ? consume_icmpv6(skb, &arrival) : TC_NEXT;
	if (arrival.protocol != IPPROTO_IPV6 && arrival.protocol != IPPROTO_IPIP) {
		if (is_extension(arrival.protocol))
			count(COUNT_SRV6_DECAP_UNPARSEABLE);
		return TC_NEXT;
	}
	__u8 family = arrival.protocol == IPPROTO_IPV6 ? 6 : 4;
	__u32 hlen = family == 6 ? IPV6_HLEN : IPV4_HLEN;
	__u8 *ip = (__u8 *)walk_at(skb, arrival.inner, IPV4_HLEN);
	if (!ip && pull(skb, arrival.inner + hlen))
		ip = (__u8 *)walk_at(skb, arrival.inner, IPV4_HLEN);
	if (!ip || ip[0] >> 4 != family) {
		count(COUNT_SRV6_DECAP_UNPARSEABLE);
		return TC_NEXT;
	}
	if (!leave_tunnel(skb, outer_class, ip, family, sid, config))
		return TC_DROP;
	if (!(sid->families & (family == 6 ? SID_IPV6 : SID_IPV4)))
		return TC_NEXT; // the kernel rejects it
	arrival.ours_alone = family == 4 && sid->own_route;
	return srv6_forward(skb, &arrival, family, sid, config);
}

#endif
