// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy (PNC §3, §4), at the tc ingress of its ports and of the loopback interface (for notices that this router
// itself has sent). RoCEv2 packets teach it which Queue Pairs belong together (proxy/cm.h, proxy/reverse-traffic.h); a
// Congestion Notification to Proxy becomes a CNP (proxy/receive-notice.h). On a congested node that is no proxy it only
// learns, for Long-haul CNPs (proxy/queue-pair-lookup.h).
//
// It drops nothing but notices addressed to the proxy, and changes nothing else. A packet that is neither costs the
// look at its headers. It sees through IP tunnels for learning, and through VLAN tags where nobody looks at routes
// back; a notice must come without options, extension headers and fragmentation.
#include "kernel.h"

// How many IP headers there are: more than two are a tunnel in a tunnel.
#define WALK_VISIT(skb, h, protocol, offset) ((h)->visited += (protocol) == IPPROTO_IPV6 || (protocol) == IPPROTO_IPIP)

#include "proxy/cm.h"
#include "proxy/maps.h"
#include "builder/order.h"
#include "proxy/receive-notice.h"
#include "proxy/reverse-traffic.h"
#include "wire/roce.h"
#include "wire/tunnel-ended.h"
#include "wire/walk.h"

LICENSE;

// A RoCEv2 packet that is looked at: `ip` is the offset of its IP header. Its flow and its origin are known.
static __always_inline void roce_arrived(struct __sk_buff *skb, struct arrival *a, const struct bth *bth, __u32 ip,
					 __u32 family, __u32 tunnel)
{
	a->flow.receiver_qpn = BTH_QPN(bth->qpn);
	a->opcode = bth->opcode;
	a->psn = BTH_PSN(bth->psn);
	a->asks = !!(bth->psn & bpf_htonl(0x80000000u)) | (ASKING_OPS >> (bth->opcode & 31) & 1);
	a->now = bpf_ktime_get_coarse_ns();
	a->length = skb->len;
	a->port = skb->ifindex | tunnel;
	if (a->opcode == ROCE_OPCODE_UD_SEND) {
		cm_packet(skb, a, ip, family);
		return;
	}
	struct queue_pair *pair = queue_pair_learned(&a->flow);
	if (pair && queue_pair_seen(skb, a, pair) == QP_FITS)
		return;
	if (a->opcode >> 5 != TRANSPORT_UC) // nobody answers UC
		learn_from_traffic(skb, a);
}

// Whether there is something to learn from a packet: CM, and a selection of connected traffic. Never a CNP:
// srv6/forward.h sends some past this program.
static __always_inline int is_instructive(struct __sk_buff *skb, const struct bth *bth, __u32 qpn)
{
	__u32 transport = bth->opcode >> 5;
	// What is on the loopback interface comes from this router, whatever source it names: any user may take one
	// (IPV6_FREEBIND), and have the kernel send the packet on from there (a routing header).
	if (!roce_is_version0(bth) || skb->ifindex == LOOPBACK_IFINDEX)
		return 0;
	if (bth->opcode == ROCE_OPCODE_UD_SEND)
		return qpn == CM_QPN;
	if (transport != TRANSPORT_RC && transport != TRANSPORT_UC && transport != TRANSPORT_XRC)
		return 0;
	return is_looked_at(bth->opcode, BTH_PSN(bth->psn), bth->psn & bpf_htonl(0x80000000u));
}

// Whether it is looked at where a packet comes from (proxy/port-roles.h).
static __always_inline int is_checked(void)
{
	struct proxy_config *config = proxy_configuration();
	return config && config->reverse_path_check;
}

#define VLAN_ID_MASK 0x0fff

// Whether a packet is no business of the port at which it is seen. At a trunk nothing is known about the VLAN behind a
// tag: it comes once more, at the VLAN's own interface, and is judged there. VLAN 0 is none: such a tag has a priority
// alone. What this router has sent to a multicast group comes back at the port by which it left, without an Ethernet
// header, so that whoever sent it says what stands where headers are looked for.
static __always_inline int is_elsewhere(struct __sk_buff *skb)
{
	if (unlikely(skb->pkt_type == PACKET_LOOPBACK))
		return 1;
	return unlikely(skb->vlan_present) && skb->vlan_tci & VLAN_ID_MASK && is_checked();
}

static __always_inline int is_proxy(const struct address *destination, __be16 port)
{
	struct proxy_config *config = proxy_configuration();
	// Without a port this node only learns.
	return config && port && config->udp_port == port &&
	       (same_address(&config->address, destination) || same_address(&config->other_address, destination));
}

static __noinline int walked(struct __sk_buff *skb);

// UDP in linear memory with at least a UDP header. `ip`, `udp` are where its headers are.
static __always_inline int udp_arrived(struct __sk_buff *skb, const __u8 *ip, const __u8 *udp, const __u8 *end,
				       __u32 family)
{
	struct address to;
	__be16 port = walk_be16(udp + UDP_DESTINATION);
	__u32 source = address_source_at(family), destination = family == 6 ? IPV6_DESTINATION : IPV4_DESTINATION;
	if (port == bpf_htons(ROCE_UDP_PORT)) {
		const struct bth *bth = (const struct bth *)(udp + UDP_HLEN);
		__u32 length = family == 6 ? IPV6_HLEN + bpf_ntohs(walk_be16(ip + IPV6_PAYLOAD_LENGTH))
					   : bpf_ntohs(walk_be16(ip + IPV4_LENGTH));
		if ((const __u8 *)(bth + 1) > end || length < udp - ip ||
		    !roce_fits(bpf_ntohs(walk_be16(udp + UDP_LENGTH)), length - (udp - ip)))
			return TC_NEXT;
		if (!is_instructive(skb, bth, BTH_QPN(bth->qpn)))
			return TC_NEXT;
		if (unlikely(skb->cb[0] == CB_TUNNEL_ENDED))
			return walked(skb);
		struct arrival *a = arrival_memory();
		if (!a)
			return TC_NEXT;
		address_load(&a->flow.sender, ip + source, family);
		address_load(&a->flow.receiver, ip + destination, family);
		a->flow.tenant =
			tenants_have_rows() ? tenant_of_port(skb->ifindex, &a->flow.sender, family) : TENANT_MAIN;
		a->origin = a->flow.sender;
		a->origin_goal = a->flow.receiver;
		roce_arrived(skb, a, bth, ETH_HLEN, family, 0);
		return TC_NEXT;
	}
	address_load(&to, ip + destination, family);
	return is_proxy(&to, port) ? notice_arrived(skb, family) : TC_NEXT;
}

// Too large for a program's stack, with that of what learns below it.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct headers);
} proxy_headers SEC(".maps");

// Everything that needs a walk: VLAN tags in the frame, options, extension headers, fragments, tunnels, paged packets.
static __noinline int walked(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct headers *h = bpf_map_lookup_elem(&proxy_headers, &zero);
	struct arrival *a = arrival_memory();
	if (!h || !a || walk_headers(skb, h) != WALK_TRANSPORT || h->protocol != IPPROTO_UDP)
		return TC_NEXT;
	if (h->outer != ETH_HLEN && is_checked())
		return TC_NEXT; // in a VLAN: is_elsewhere()
	__u32 family = h->inner_family;
	const __u8 *source = walk_at(skb, h->inner + address_source_at(family), 16);
	if (!source)
		return TC_NEXT;
	address_load(&a->flow.sender, source, family);
	const __u8 *destination = walk_at(skb, h->destination, 16);
	if (!destination)
		return TC_NEXT;
	address_load(&a->flow.receiver, destination, family);
	if (h->dport != bpf_htons(ROCE_UDP_PORT)) {
		if (h->inner != h->outer || h->shims || !is_proxy(&a->flow.receiver, h->dport))
			return TC_NEXT;
		if (h->outer == ETH_HLEN && !h->fragmented &&
		    h->transport - h->outer == (family == 6 ? IPV6_HLEN : IPV4_HLEN))
			return notice_arrived(skb, family); // it was only paged
		count(COUNT_PROXY_NOTICES);
		return notice_drop(h->fragmented ? COUNT_PROXY_FRAGMENT : COUNT_PROXY_EXTENSION);
	}
	const struct bth *bth = (const struct bth *)walk_at(skb, h->transport + UDP_HLEN, BTH_SIZE);
	if (!bth || !walk_is_roce(h) || h->shims) // whose it is in MPLS, GRE and VXLAN, nobody says
		return TC_NEXT;
	if (!is_instructive(skb, bth, BTH_QPN(bth->qpn)))
		return TC_NEXT;
	// Whoever sent the outermost packet is who brought it.
	__u32 size = h->outer_family == 6 ? 16 : 4;
	const __u8 *outer = walk_at(skb, h->outer + address_source_at(h->outer_family), 32);
	if (!outer)
		return TC_NEXT;
	address_load(&a->origin, outer, h->outer_family);
	address_load(&a->origin_goal, outer + size, h->outer_family);
	a->flow.tenant = h->outer == h->inner ? tenant_of_port(skb->ifindex, &a->flow.sender, family)
					      : tenant_of_tunnel(skb, h->outer, h->outer_family);
	if (a->flow.tenant == TENANT_UNKNOWN) {
		count(COUNT_QP_TENANT_UNKNOWN);
		return TC_NEXT;
	}
	int ended = tunnel_ended(skb, &a->origin), in_tunnel = ended || h->inner != h->outer;
	if (in_tunnel && !is_tunnel_known(&a->origin, h->visited + ended)) {
		count(COUNT_QP_TUNNEL_UNKNOWN);
		return TC_NEXT;
	}
	bth = (const struct bth *)walk_at(skb, h->transport + UDP_HLEN, BTH_SIZE);
	if (bth)
		roce_arrived(skb, a, bth, h->inner, family, in_tunnel ? PORT_TUNNEL : 0);
	return TC_NEXT;
}

SEC("tc")
int proxy(struct __sk_buff *skb)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const __u8 *ip = data + ETH_HLEN;
	// It is a copy of traffic, not traffic.
	if (unlikely(skb->mark == MARK_TRIGGER && skb->cb[CB_WORD_TAG] == CB_TAG))
		return TC_NEXT;
	if (is_elsewhere(skb))
		return TC_NEXT;
	if (unlikely(ip + IPV4_HLEN + UDP_HLEN > end))
		return skb->len < ETH_HLEN + IPV4_HLEN + UDP_HLEN ? TC_NEXT : walked(skb);
	__be16 type = walk_be16(data + 12);
	if (type == bpf_htons(ETH_P_IPV6)) {
		if (ip[IPV6_NEXT_HEADER] != IPPROTO_UDP)
			return is_walked(ip[IPV6_NEXT_HEADER]) ? walked(skb) : TC_NEXT;
		if (unlikely(ip + IPV6_HLEN + UDP_HLEN + BTH_SIZE > end))
			return walked(skb);
		return udp_arrived(skb, ip, ip + IPV6_HLEN, end, 6);
	}
	if (type == bpf_htons(ETH_P_IP)) {
		if (ip[IPV4_PROTOCOL] != IPPROTO_UDP)
			return is_walked(ip[IPV4_PROTOCOL]) ? walked(skb) : TC_NEXT;
		if (ip[0] != 0x45 || (walk_be16(ip + IPV4_FRAGMENT) & bpf_htons(0x3fff)))
			return walked(skb);
		if (unlikely(ip + IPV4_HLEN + UDP_HLEN + BTH_SIZE > end))
			return walked(skb);
		return udp_arrived(skb, ip, ip + IPV4_HLEN, end, 4);
	}
	return is_tag(type) ? walked(skb) : TC_NEXT;
}
