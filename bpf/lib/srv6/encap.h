// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tunnel entry (FCN §4.2). It corrects the outer header of a packet that this router has just encapsulated, by the
// kernel's H.Encaps or otherwise. The outer source becomes END.CON (FCN-4.2.2-c), the outer ECN field follows RFC 6040
// §4.1 (the kernel writes 0 over inner IPv4), and the outer DSCP follows RFC 2983. The program does not encapsulate.
#ifndef CNPD_SRV6_ENCAP_H
#define CNPD_SRV6_ENCAP_H

#include "wire/ecn.h"
#include "wire/roce.h"
#include "srv6/maps.h"
#include "wire/walk.h"

#define SRH_TLV_PAD1 0
#define SRH_TLV_HMAC 5
// Limit for the TLVs of an SRH. Linux puts the HMAC last; other stacks need not.
#define SRH_TLVS 16

struct tunnel {
	__u16 inner; // offset of the inner header
	__u8 inner_family;
	__u8 has_hmac;
};

// RFC 8754 §2.1: whether one of the TLVs from `offset` to `end` is an HMAC. A global function: verified once.
__noinline int srh_has_hmac(struct __sk_buff *skb, __u32 offset, __u32 end)
{
	volatile __u32 at = offset;
	for (int i = 0; i < SRH_TLVS && at < end; i++) {
		const __u8 *tlv = walk_at(skb, at, 2);
		if (!tlv)
			return 0;
		if (tlv[0] == SRH_TLV_HMAC)
			return 1;
		at = (at + (tlv[0] == SRH_TLV_PAD1 ? 1 : 2 + tlv[1])) & WALK_OFFSET_MASK;
	}
	return 0;
}

// Parses the outer header's chain as encapsulation makes it: at most an SRH, then IPv4 or IPv6. 0: no tunnel.
static __always_inline int parse_tunnel(struct __sk_buff *skb, __u8 next, struct tunnel *tunnel)
{
	__u32 offset = ETH_HLEN + IPV6_HLEN;
	tunnel->has_hmac = 0;
	if (next == IPPROTO_ROUTING) {
		const __u8 *srh = walk_at(skb, offset, 8);
		if (!srh || srh[2] != ROUTING_TYPE_SRH)
			return 0;
		__u32 size = (srh[1] + 1) * 8, tlvs = 8 + (srh[4] + 1) * 16;
		next = srh[0];
		if (tlvs < size)
			tunnel->has_hmac = srh_has_hmac(skb, offset + tlvs, offset + size);
		offset += size;
	}
	if (next != IPPROTO_IPV6 && next != IPPROTO_IPIP)
		return 0;
	tunnel->inner = offset;
	tunnel->inner_family = next == IPPROTO_IPV6 ? 6 : 4;
	return 1;
}

// Whether the packet in the tunnel is RoCEv2 with data. Writes its innermost source to `key`.
static __always_inline int carries_roce(struct __sk_buff *skb, const struct tunnel *tunnel, struct port_source_key *key)
{
	struct headers h = { .inner = tunnel->inner, .inner_family = tunnel->inner_family };
	__u32 hlen = tunnel->inner_family == 6 ? IPV6_HLEN : IPV4_HLEN,
	      needed = tunnel->inner + hlen + UDP_HLEN + BTH_SIZE;
	if (needed > skb->len)
		return 0;
	// The linear memory of a long packet may hold only the bytes that the kernel has read so far.
	if (!walk_at(skb, needed, 0) && bpf_skb_pull_data(skb, needed) < 0)
		return 0;
	const __u8 *ip = walk_at(skb, h.inner, IPV4_HLEN);
	if (!ip)
		return 0;
	__u8 next = tunnel->inner_family == 6 ? ip[IPV6_NEXT_HEADER] : ip[IPV4_PROTOCOL];
	h.transport = h.inner + hlen;
	if (next != IPPROTO_UDP ||
	    (tunnel->inner_family == 4 && (ip[0] != 0x45 || walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)))) {
		if (next != IPPROTO_UDP && next != IPPROTO_IPV6 && next != IPPROTO_IPIP && !is_extension(next))
			return 0;
		if (walk_headers(skb, &h) != WALK_TRANSPORT || !walk_is_roce(&h) || h.shims)
			return 0;
	}
	const __u8 *udp = walk_at(skb, h.transport, UDP_HLEN + BTH_SIZE);
	ip = walk_at(skb, h.inner, IPV6_HLEN);
	if (!udp || !ip || walk_be16(udp + UDP_DESTINATION) != bpf_htons(ROCE_UDP_PORT) ||
	    !roce_carries_data(udp[UDP_HLEN]) || udp[UDP_HLEN + 1] & BTH_VERSION)
		return 0;
	__u32 end = h.inner_family == 6 ? h.inner + IPV6_HLEN + bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH))
					: h.inner + bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
	if (end < h.transport || !roce_fits(bpf_ntohs(walk_be16(udp + UDP_LENGTH)), end - h.transport))
		return 0;
	key->family = h.inner_family;
	if (h.inner_family == 6)
		__builtin_memcpy(key->source, ip + IPV6_SOURCE, 16);
	else
		__builtin_memcpy(key->source, ip + IPV4_SOURCE, 4);
	return 1;
}

// Returns the END.CON SID of this tunnel, or null.
static __always_inline const struct address *tunnel_source(struct __sk_buff *skb, struct port_source_key *key,
							   const struct srv6_config *config)
{
	if (config->has_rows) {
		const struct address *found;
		key->length = PORT_SOURCE_KEY_BITS;
		key->ifindex = skb->ingress_ifindex;
		found = bpf_map_lookup_elem(&srv6_tunnel_sources, key);
		if (found)
			return found;
		key->ifindex = 0;
		found = bpf_map_lookup_elem(&srv6_tunnel_sources, key);
		if (found)
			return found;
	}
	return config->has_default ? &config->default_source : 0;
}

// Returns the outer traffic class by RFC 6040 §4.1 and RFC 2983 §3.
static __always_inline __u32 outer_class(__u32 outer, __u32 inner, int is_roce, const struct srv6_config *config)
{
	__u32 dscp = outer & ~(__u32)ECN_MASK;
	if (is_roce && config->uniform)
		dscp = inner & ~(__u32)ECN_MASK;
	else if (is_roce && config->outer_dscp != OUTER_DSCP_AS_WRITTEN)
		dscp = (__u32)config->outer_dscp << 2;
	return (dscp | (config->compatibility ? ECN_NOT_ECT : inner & ECN_MASK)) & 0xff;
}

static __always_inline int srv6_enter_tunnel(struct __sk_buff *skb)
{
	__u8 *ip = (__u8 *)walk_at(skb, ETH_HLEN, IPV6_HLEN);
	// A tag beside the packet: it comes from the VLAN interface on top of this one.
	if (!ip || skb->protocol != bpf_htons(ETH_P_IPV6) || skb->vlan_present)
		return TC_NEXT;
	__u8 next = ip[IPV6_NEXT_HEADER];
	if (next != IPPROTO_ROUTING && next != IPPROTO_IPV6 && next != IPPROTO_IPIP)
		return TC_NEXT;
	__u32 zero = 0;
	const struct srv6_config *config = bpf_map_lookup_elem(&srv6_config, &zero);
	if (!config || !bpf_map_lookup_elem(&srv6_local_sources, ip + IPV6_SOURCE))
		return TC_NEXT;
	struct tunnel tunnel;
	struct port_source_key key = {};
	if (!parse_tunnel(skb, next, &tunnel))
		return TC_NEXT;
	int is_roce = carries_roce(skb, &tunnel, &key);
	const struct address *source = is_roce && !tunnel.has_hmac ? tunnel_source(skb, &key, config) : 0;

	const __u8 *inner = walk_at(skb, tunnel.inner, IPV4_HLEN);
	ip = (__u8 *)walk_at(skb, ETH_HLEN, IPV6_HLEN);
	if (!inner || !ip) {
		count(COUNT_SRV6_ENCAP_UNPARSEABLE);
		return TC_NEXT;
	}
	__u32 before = traffic_class6(ip);
	__u32 after = outer_class(before, tunnel.inner_family == 6 ? traffic_class6(inner) : inner[1], is_roce, config);
	if (before != after) {
		set_traffic_class6(ip, after);
		count(COUNT_SRV6_ENCAP_FIELD);
	}
	if (source) {
		__builtin_memcpy(ip + IPV6_SOURCE, source, 16);
		count(COUNT_SRV6_ENCAP_SOURCE);
	} else if (is_roce) {
		count(tunnel.has_hmac ? COUNT_SRV6_ENCAP_HMAC : COUNT_SRV6_ENCAP_NO_SOURCE);
	}
	return TC_NEXT;
}

#endif
