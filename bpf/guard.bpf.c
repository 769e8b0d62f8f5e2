// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The border guard (PNC §6): at the tc ingress and egress of a border port it drops Congestion Notifications to Proxy, whether they come from
// outside (PNC-6-c) or would leave the domain (PNC-6-d), over IPv4 and IPv6, behind VLAN tags, options and extension headers, in the first fragment
// and inside IP tunnels. Dropping the first fragment is enough: the others never make a packet.
//
// A packet built so that the transport header cannot be seen is dropped too: a first fragment that ends within its header chain (RFC 7112 §5), or
// a chain longer than any that is in use. Everything else passes untouched. It does not look inside ESP, GRE or UDP tunnels: their far end
// has to be a border of its own.
#include "lib/kernel.h"
#include "lib/guard-maps.h"
#include "lib/walk.h"

LICENSE;

struct verdict_counters {
	enum counter dropped, evasive;
};

enum seen { SEEN_OTHER, SEEN_UDP, SEEN_WALK };

// The plain packet: Ethernet, IP without options or extension headers. `dport` is set for SEEN_UDP.
static __always_inline enum seen look_plain(struct __sk_buff *skb, __be16 *dport)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *ip = data + ETH_HLEN, *udp;
	__u8 protocol;

	if (ip + IPV4_HLEN > end)
		return SEEN_WALK;
	__be16 type = walk_be16(data + 12);
	if (type == bpf_htons(ETH_P_IPV6)) {
		protocol = ip[6];
		udp = ip + IPV6_HLEN;
	} else if (type == bpf_htons(ETH_P_IP)) {
		protocol = ip[9];
		if (protocol == IPPROTO_UDP && (ip[0] != 0x45 || (walk_be16(ip + 6) & bpf_htons(0x1fff))))
			return SEEN_WALK;
		udp = ip + IPV4_HLEN;
	} else {
		return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD) ? SEEN_WALK : SEEN_OTHER;
	}
	if (protocol != IPPROTO_UDP)
		return protocol == IPPROTO_IPV6 || protocol == IPPROTO_IPIP || is_extension(protocol) ? SEEN_WALK : SEEN_OTHER;
	if (udp + UDP_HLEN > end)
		return SEEN_WALK;
	*dport = walk_be16(udp + 2);
	return SEEN_UDP;
}

static __always_inline int guard(struct __sk_buff *skb, struct verdict_counters counters)
{
	__u32 ifindex = skb->ifindex;
	struct headers h = {};
	enum walk_result result = WALK_TRANSPORT;
	__be16 dport = 0;
	enum seen seen = look_plain(skb, &dport);
	if (seen == SEEN_WALK) {
		result = walk_headers(skb, &h);
		seen = result == WALK_TRANSPORT && h.protocol == IPPROTO_UDP ? SEEN_UDP : SEEN_OTHER;
		dport = h.dport;
	}
	int evasive = result == WALK_TOO_DEEP || (result == WALK_TRUNCATED && h.fragmented);
	if (seen == SEEN_OTHER && !evasive)
		return TC_NEXT;
	struct guard_port *port = bpf_map_lookup_elem(&guard_ports, &ifindex);
	if (!port) {
		count(COUNT_GUARD_UNCONFIGURED);
		return TC_NEXT;
	}
	if (evasive) {
		count(counters.evasive);
		return TC_DROP;
	}
	if (dport != port->udp_port)
		return TC_NEXT;
	count(counters.dropped);
	return TC_DROP;
}

SEC("tc")
int guard_ingress(struct __sk_buff *skb)
{
	return guard(skb, (struct verdict_counters){COUNT_GUARD_IN_DROPPED, COUNT_GUARD_IN_EVASIVE});
}

SEC("tc")
int guard_egress(struct __sk_buff *skb)
{
	return guard(skb, (struct verdict_counters){COUNT_GUARD_OUT_DROPPED, COUNT_GUARD_OUT_EVASIVE});
}
