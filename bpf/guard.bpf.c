// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The border guard. At the tc ingress and egress of a border port it drops congestion notifications that come from
// outside (PNC-6-c, FCNP-5-d, LHCNP-9-a) or would leave the domain (PNC-6-d, FCNP-5-e). These are Congestion
// Notifications to Proxy, Fast CNPs, Long-haul CNPs in both forms, and Adaptive Routing Notifications of any hop limit;
// over IPv4 and IPv6; behind VLAN tags, options and extension headers; in a first fragment; and inside IP tunnels.
// Dropping the first fragment is enough: the others cannot be reassembled. Sources and destinations on the allow-lists
// pass. So does a standard CNP, which is end to end.
// From outside it also drops packets sent to a SID of the domain, or to the Proxy Address of a group.
//
// A packet built to hide its transport header is dropped too. Its first fragment ends within the header chain (RFC 7112
// §5) or before the fields that identify a notification, or its chain is longer than any in use. A packet ends where
// its IP headers say; bytes behind that in the frame do not belong to it. All other packets pass untouched. The guard
// looks inside MPLS, GRE and VXLAN. Packets in other tunnels (ESP, Geneve, pseudowires …) are counted by kind: their
// far end must be a border too. The guard does not check the UDP length or the BTH version: a notification that is
// wrong there must not reach an adapter that does not check them either.
#include "kernel.h"
#include "guard/walk.h"
#include "wire/roce.h"

LICENSE;

#define BTH_FLAGS 4
#define BTH_EXTENDED 0x20 // E, LHCNP §6.2

// The value of a kind is the counter of its drops at ingress. The counter of its drops at egress is the next one.
enum kind {
	KIND_OTHER = 0,
	KIND_PROXY = COUNT_GUARD_IN_DROPPED,
	KIND_FAST_CNP = COUNT_GUARD_IN_FAST_CNP,
	KIND_LONG_HAUL_ICMPV6 = COUNT_GUARD_IN_LH_ICMPV6,
	KIND_LONG_HAUL_ROCE = COUNT_GUARD_IN_LH_ROCE,
	KIND_ARN = COUNT_GUARD_IN_ARN,
};
#define SIDE(ingress_counter, inbound) ((enum counter)((ingress_counter) + !(inbound)))

// Parses the plain packet: Ethernet, IP without options or extension headers. WALK_TRANSPORT: `h` is filled in as by
// the walk. WALK_NOT_IP: no IP. WALK_TRUNCATED: the packet needs the walk.
static __always_inline enum walk_result look_plain(struct __sk_buff *skb, struct headers *h)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *ip = data + ETH_HLEN, *udp;

	if (ip + IPV4_HLEN > end)
		return WALK_TRUNCATED;
	__be16 type = walk_be16(data + 12);
	h->inner = ETH_HLEN;
	if (type == bpf_htons(ETH_P_IPV6)) {
		h->protocol = ip[IPV6_NEXT_HEADER];
		h->inner_family = 6;
		h->destination = ETH_HLEN + IPV6_DESTINATION;
		h->transport = ETH_HLEN + IPV6_HLEN;
		udp = ip + IPV6_HLEN;
	} else if (type == bpf_htons(ETH_P_IP)) {
		h->protocol = ip[IPV4_PROTOCOL];
		h->inner_family = 4;
		h->destination = ETH_HLEN + IPV4_DESTINATION;
		h->transport = ETH_HLEN + IPV4_HLEN;
		if (h->protocol == IPPROTO_UDP &&
		    (ip[0] != 0x45 || (walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff))))
			return WALK_TRUNCATED;
		udp = ip + IPV4_HLEN;
	} else {
		return is_tag(type) || is_mpls(type) ? WALK_TRUNCATED : WALK_NOT_IP;
	}
	if (is_walked(h->protocol) || is_opaque(h->protocol))
		return WALK_TRUNCATED;
	if (h->protocol != IPPROTO_UDP)
		return WALK_TRANSPORT;
	if (udp + UDP_HLEN > end)
		return WALK_TRUNCATED;
	h->dport = walk_be16(udp + UDP_DESTINATION);
	return walk_is_tunnel(skb, h->transport) ? WALK_TRUNCATED : WALK_TRANSPORT;
}

// Returns `size` bytes from `offset` on, pulled into linear memory if necessary. Null: the packet is shorter.
static __always_inline const __u8 *reach(struct __sk_buff *skb, __u32 offset, __u32 size)
{
	const __u8 *at = walk_at(skb, offset, size);
	if (at || skb->len < offset + size)
		return at;
	bpf_skb_pull_data(skb, offset + size);
	return walk_at(skb, offset, size);
}

// Returns which notification the packet is. Sets `hidden` for a first fragment that ends before the deciding fields.
// Bytes behind the end of an unfragmented packet are inspected as well, in case a receiver reads them against the
// rules.
static __always_inline enum kind classify(struct __sk_buff *skb, const struct headers *h, const struct guard_port *port,
					  int *hidden)
{
	if (h->protocol == IPPROTO_UDP && h->dport == port->udp_port)
		return KIND_PROXY;
	if (h->protocol == IPPROTO_UDP && port->arn_udp_port && h->dport == port->arn_udp_port)
		return KIND_ARN;
	if (h->protocol == IPPROTO_UDP && h->dport == bpf_htons(ROCE_UDP_PORT)) {
		const __u8 *bth = reach(skb, h->transport + UDP_HLEN, BTH_SIZE);
		*hidden = h->fragmented && (!bth || walk_is_cut(h, h->transport + UDP_HLEN, BTH_SIZE));
		if (!bth || *hidden)
			return KIND_OTHER;
		if (bth[0] != ROCE_OPCODE_CNP)
			return KIND_OTHER;
		if (h->visited & VISITED_FAST_CNP)
			return KIND_FAST_CNP;
		return port->long_haul_roce && (bth[BTH_FLAGS] & BTH_EXTENDED) ? KIND_LONG_HAUL_ROCE : KIND_OTHER;
	}
	if (h->protocol == IPPROTO_ICMPV6 && h->inner_family == 6 && port->long_haul_icmpv6_type) {
		const __u8 *icmp = reach(skb, h->transport, 1);
		*hidden = h->fragmented && (!icmp || walk_is_cut(h, h->transport, 1));
		return icmp && !*hidden && icmp[0] == port->long_haul_icmpv6_type ? KIND_LONG_HAUL_ICMPV6 : KIND_OTHER;
	}
	return KIND_OTHER;
}

// Whether the address at `offset` is on the allow-list of this direction.
static __always_inline int allowed(struct __sk_buff *skb, __u32 offset, __u8 family, int inbound)
{
	struct address address;
	const __u8 *at = walk_at(skb, offset, 16); // 16 for IPv4 as well: a transport header follows
	if (!at)
		return 0;
	address_load(&address, at, family);
	struct prefix_key key = { .length = 128, .address = address };
	const __u32 *found = inbound ? bpf_map_lookup_elem(&guard_allow_inbound, &key)
				     : bpf_map_lookup_elem(&guard_allow_outbound, &key);
	return found && *found == family;
}

static __always_inline __u32 source_of(__u32 ip, __u8 family)
{
	return ip + address_source_at(family);
}

static __always_inline int guard(struct __sk_buff *skb, int inbound)
{
	__u32 ifindex = skb->ifindex;
	struct guard_port *port = bpf_map_lookup_elem(&guard_ports, &ifindex);
	if (!port) {
		count(COUNT_GUARD_UNCONFIGURED);
		return TC_NEXT;
	}
	struct headers h = {};
	int hidden = 0;
	enum walk_result result = look_plain(skb, &h);
	if (result == WALK_TRUNCATED)
		result = walk_headers(skb, &h);
	else if (result == WALK_TRANSPORT && h.inner_family == 6 && inbound)
		h.visited = guard_is_guarded(skb, ETH_HLEN + IPV6_DESTINATION);

	__u8 outer_family = h.outer ? h.outer_family : 6; // the plain packet to a SID is IPv6
	if (inbound && (h.visited & VISITED_GUARDED) &&
	    !allowed(skb, source_of(h.outer ? h.outer : ETH_HLEN, outer_family), outer_family, 1)) {
		count(COUNT_GUARD_IN_END_CON);
		return TC_DROP;
	}
	if (result == WALK_OPAQUE && h.tunnel > TUNNEL_NONE && h.tunnel < TUNNEL_KINDS)
		count(COUNT_GUARD_OPAQUE_MPLS + h.tunnel - TUNNEL_MPLS);
	enum kind kind = result == WALK_TRANSPORT ? classify(skb, &h, port, &hidden) : KIND_OTHER;
	if (result == WALK_TOO_DEEP || (result == WALK_TRUNCATED && h.fragmented) || hidden ||
	    (h.visited & VISITED_EVASIVE)) {
		count(SIDE(COUNT_GUARD_IN_EVASIVE, inbound));
		return TC_DROP;
	}
	if (kind == KIND_OTHER)
		return TC_NEXT;
	if (allowed(skb, inbound ? source_of(h.inner, h.inner_family) : h.destination, h.inner_family, inbound)) {
		count(SIDE(COUNT_GUARD_IN_ALLOWED, inbound));
		return TC_NEXT;
	}
	count(SIDE(kind, inbound));
	return TC_DROP;
}

SEC("tc")
int guard_ingress(struct __sk_buff *skb)
{
	return guard(skb, 1);
}

SEC("tc")
int guard_egress(struct __sk_buff *skb)
{
	return guard(skb, 0);
}
