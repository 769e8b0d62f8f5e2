// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Turns a clone of the congesting packet into the notification that the detector ordered, on the loopback interface's
// tc ingress: notice-to-proxy.h, fast-cnp.h, long-haul-cnp.h. The packet is put together in a per-CPU buffer and
// stored over the clone, which then enters the loopback interface again: that gives it the right protocol and packet
// type, and lets the proxy's program on this interface see it if this router is itself the proxy. At its second arrival
// IPv6 is left to the kernel's routing, so that ECMP, SRv6 and the rest apply. The kernel would call an IPv4 packet
// from one of its own addresses a martian, so an IPv4 notice is routed here and sent to its neighbor.
//
// Nobody answers a notice, so no state is kept about it. The rate limits, the choice of the format and the check of a
// tunnel's source are in egress.bpf.c.
#ifndef CNPD_BUILDER_NOTICE_H
#define CNPD_BUILDER_NOTICE_H

#include "builder/fast-cnp.h"
#include "builder/long-haul-cnp.h"
#include "builder/notice-to-proxy.h"

static __always_inline int read_noticed(struct __sk_buff *skb, struct noticed *about)
{
	struct headers *h = &about->h;
	if (walk_headers(skb, h) != WALK_TRANSPORT || !walk_is_roce(h))
		return -1;
	about->order = skb->cb[CB_WORD_ORDER];
	about->metric = skb->cb[CB_WORD_METRIC];
	about->source_qpn = skb->cb[CB_WORD_SOURCE_QPN];
	about->tunneled = h->outer != h->inner;
	if (bpf_skb_load_bytes(skb, h->transport + UDP_HLEN, &about->bth, BTH_SIZE) < 0)
		return -1;
	about->spread = (about->bth.qpn * 0x9e3779b1u ^ h->sport * 0x85ebca6bu) >> 8;
	return 0;
}

// First arrival: the clone becomes a notice.
static __noinline int notice_build(struct __sk_buff *skb)
{
	struct noticed about = {};
	__u32 zero = 0;
	if (checksum_is_partial(skb))
		return notice_refuse(COUNT_NOTICE_CHECKSUM_PARTIAL);
	struct notice_buffer *buffer = bpf_map_lookup_elem(&notice_buffer, &zero);
	if (!buffer || read_noticed(skb, &about) < 0)
		return notice_refuse(COUNT_NOTICE_UNPARSEABLE);
	__u32 format = ORDER_FORMAT(about.order);
	if (format == FORMAT_PROXY)
		return notice_to_proxy(skb, &about, buffer);
	if (about.tunneled && about.h.outer_family != 6)
		return notice_refuse(COUNT_NOTICE_TUNNEL);
	if (format == FORMAT_FAST_CNP)
		return notice_fast_cnp(skb, &about, buffer);
	if (format == FORMAT_LONG_HAUL_ICMPV6)
		return notice_long_haul_icmpv6(skb, &about, buffer);
	if (format == FORMAT_LONG_HAUL_ROCE)
		return notice_long_haul_roce(skb, &about, buffer);
	return notice_refuse(COUNT_NOTICE_FORMAT_OFF);
}

// An IPv4 notice: routed as the router's own packet would be. A local destination is left to the programs behind this
// one.
static __always_inline int notice_route_ipv4(struct __sk_buff *skb)
{
	struct bpf_fib_lookup route = {
		.family = AF_INET, .l4_protocol = IPPROTO_UDP, .ifindex = LOOPBACK_IFINDEX, .tos = NOTICE_TRAFFIC_CLASS
	};
	struct bpf_redir_neigh neighbor = {};
	if (bpf_skb_load_bytes(skb, ETH_HLEN + IPV4_SOURCE, &route.ipv4_src, 4) < 0 ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + IPV4_DESTINATION, &route.ipv4_dst, 4) < 0 ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + IPV4_HLEN, &route.sport, 4) < 0)
		return notice_refuse(COUNT_NOTICE_UNPARSEABLE);
	long result = fib_lookup_route(skb, &route, 0);
	if (result == BPF_FIB_LKUP_RET_NOT_FWDED) {
		count(COUNT_NOTICE_NOT_FORWARDED);
		return TC_NEXT; // local: for the proxy's program, wherever it is in the chain
	}
	if (result != BPF_FIB_LKUP_RET_SUCCESS)
		return notice_refuse(COUNT_NOTICE_NO_ROUTE);
	neighbor.nh_family = route.family;
	if (route.family == AF_INET)
		neighbor.ipv4_nh = route.ipv4_dst;
	else
		__builtin_memcpy(neighbor.ipv6_nh, route.ipv6_dst, 16); // RFC 5549
	count(COUNT_NOTICE_ROUTED);
	skb->cb[CB_WORD_TAG] = 0;
	return bpf_redirect_neigh(route.ifindex, &neighbor, sizeof(neighbor), 0);
}

static __always_inline int notice_on_loopback(struct __sk_buff *skb)
{
	__u32 mark = skb->mark;
	if (likely(mark != MARK_TRIGGER && mark != MARK_NOTICE))
		return TC_NEXT;
	if (skb->cb[CB_WORD_TAG] != CB_TAG) {
		count(COUNT_NOTICE_FOREIGN_MARK);
		return TC_NEXT;
	}
	if (mark == MARK_TRIGGER)
		return notice_build(skb);
	// The tag stays: by it the proxy's program behind this one knows that the notice is from here (order.h).
	skb->mark = 0;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return notice_route_ipv4(skb);
	count(COUNT_NOTICE_ROUTED);
	return TC_NEXT;
}

#endif
