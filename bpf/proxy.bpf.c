// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy (PNC §3, §4), at the tc ingress of its ports and of the loopback interface (for notices that this router
// itself has sent). RoCEv2 packets teach it which Queue Pairs belong together (proxy/cm.h, proxy/reverse-traffic.h). It
// turns a Congestion Notification to Proxy into a CNP (proxy/receive-notice.h). On a congested node without a proxy it
// only learns, for Long-haul CNPs (proxy/queue-pair-lookup.h).
//
// It drops only notices addressed to the proxy, and changes no other packet. A packet that is neither RoCEv2 nor a
// notice costs only a header parse. It learns inside IP tunnels too, and behind VLAN tags if reverse paths are not
// checked. A notice must have no options, extension headers or fragments.
#include "kernel.h"

// Counts the IP headers: more than two are a tunnel in a tunnel.
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

// Learns from a RoCEv2 packet. `ip` is the offset of its IP header. Flow and origin in `a` are set.
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
	if (a->opcode >> 5 != TRANSPORT_UC) // UC has no acknowledgements
		learn_from_traffic(skb, a);
}

// Whether the packet can teach something: CM, and a selection of connected traffic. Never a CNP: srv6/forward.h
// redirects some of them past this program.
static __always_inline int is_instructive(struct __sk_buff *skb, const struct bth *bth, __u32 qpn)
{
	__u32 transport = bth->opcode >> 5;
	// A packet on the loopback interface comes from this router, whatever its source. Any local user may choose a
	// source (IPV6_FREEBIND) and have the kernel forward the packet from there (a routing header).
	if (!roce_is_version0(bth) || skb->ifindex == LOOPBACK_IFINDEX)
		return 0;
	if (bth->opcode == ROCE_OPCODE_UD_SEND)
		return qpn == CM_QPN;
	if (transport != TRANSPORT_RC && transport != TRANSPORT_UC && transport != TRANSPORT_XRC)
		return 0;
	return is_looked_at(bth->opcode, BTH_PSN(bth->psn), bth->psn & bpf_htonl(0x80000000u));
}

// Whether reverse paths are checked (proxy/port-roles.h).
static __always_inline int is_checked(void)
{
	struct proxy_config *config = proxy_configuration();
	return config && config->reverse_path_check;
}

// Whether a packet is to be ignored at the port that sees it. At a trunk nothing is known about the VLAN behind a tag:
// the packet is seen again at the VLAN's own interface. A packet that this router has sent to a multicast group loops
// back at its egress port without an Ethernet header. There the sender controls the bytes at which headers are parsed.
static __always_inline int is_elsewhere(struct __sk_buff *skb)
{
	if (unlikely(skb->pkt_type == PACKET_LOOPBACK))
		return 1;
	return is_of_vlan(skb) && is_checked();
}

static __always_inline int is_proxy(const struct address *destination, __be16 port)
{
	struct proxy_config *config = proxy_configuration();
	// Without a UDP port this node only learns.
	return config && port && config->udp_port == port &&
	       (same_address(&config->address, destination) || same_address(&config->other_address, destination));
}

static __noinline int walked(struct __sk_buff *skb);

// Parses UDP in linear memory that holds at least a UDP header. `ip` and `udp` point to the packet's headers.
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
		a->origin_destination = a->flow.receiver;
		roce_arrived(skb, a, bth, ETH_HLEN, family, 0);
		return TC_NEXT;
	}
	address_load(&to, ip + destination, family);
	return is_proxy(&to, port) ? notice_arrived(skb, family) : TC_NEXT;
}

// Too large for a program's stack beside those of the functions that it calls.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct headers);
} proxy_headers SEC(".maps");

// A packet other than RoCEv2 after the walk: a notice must have no options, extension headers or fragments.
static __always_inline int walked_notice(struct __sk_buff *skb, const struct headers *h, const struct address *to,
					 __u32 family)
{
	if (h->inner != h->outer || h->shims || !is_proxy(to, h->dport))
		return TC_NEXT;
	if (h->outer == ETH_HLEN && !h->fragmented && h->transport - h->outer == (family == 6 ? IPV6_HLEN : IPV4_HLEN))
		return notice_arrived(skb, family); // its bytes were only paged
	count(COUNT_PROXY_NOTICES);
	return notice_drop(h->fragmented ? COUNT_PROXY_FRAGMENT : COUNT_PROXY_EXTENSION);
}

// Parses all packets that need a walk: VLAN tags in the frame, options, extension headers, fragments, tunnels, paged
// packets.
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
	if (h->dport != bpf_htons(ROCE_UDP_PORT))
		return walked_notice(skb, h, &a->flow.receiver, family);
	const struct bth *bth = (const struct bth *)walk_at(skb, h->transport + UDP_HLEN, BTH_SIZE);
	if (!bth || !walk_is_roce(h) || h->shims) // MPLS, GRE and VXLAN do not identify the tenant
		return TC_NEXT;
	if (!is_instructive(skb, bth, BTH_QPN(bth->qpn)))
		return TC_NEXT;
	// The origin is the source of the outermost packet.
	__u32 size = h->outer_family == 6 ? 16 : 4;
	const __u8 *outer = walk_at(skb, h->outer + address_source_at(h->outer_family), 32);
	if (!outer)
		return TC_NEXT;
	address_load(&a->origin, outer, h->outer_family);
	address_load(&a->origin_destination, outer + size, h->outer_family);
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
	// A detector's clone is no traffic.
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
