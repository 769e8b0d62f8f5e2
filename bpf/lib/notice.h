// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Builds the Congestion Notification to Proxy message (PNC-4-a, PNC-4-b, PNC-4-f, PNC-4-g; layout: decisions D1-D4) out of a clone of the congesting packet, on the loopback
// interface's tc ingress. The frame is put together in a per-CPU buffer and stored over the clone, which then enters the loopback interface
// again: that gives it the right protocol and packet type, and lets the proxy's program on this interface see it if this router is itself the
// proxy. At its second arrival IPv6 is left to the kernel's routing, so that ECMP, SRv6 and the rest apply. The kernel would call an IPv4 packet
// from one of its own addresses a martian, so an IPv4 notice is routed here and sent to its neighbour.
//
// A notice is answered by nobody, so nothing is kept of it. It does not rate-limit: egress.bpf.c has.
#ifndef CNPD_NOTICE_H
#define CNPD_NOTICE_H

#include "checksum.h"
#include "egress-maps.h"
#include "flows.h"
#include "roce.h"
#include "walk.h"

#define NOTICE_MAX_IPV4 576  // whole IP packet (decision D4)
#define NOTICE_MAX_IPV6 1280
#define NOTICE_TRAFFIC_CLASS (48 << 2) // CS6, Not-ECT
#define NOTICE_HOP_LIMIT 64
#define TUPLE_SIZE_IPV4 14 // addresses, protocol, ports, level octet
#define TUPLE_SIZE_IPV6 38

// Ethernet at offset 2, so that the IP header and the UDP header lie on 4-byte boundaries.
#define BUFFER_ETHERNET 2
#define BUFFER_IP (BUFFER_ETHERNET + ETH_HLEN)
struct notice_buffer {
	__u8 bytes[4096]; // more than a notice, so that the verifier can add two bounds
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct notice_buffer);
} notice_buffer SEC(".maps");

static __always_inline struct egress_config *notice_config(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&egress_config, &zero);
}

// PNC-5-c. The proxy of a sender, by longest match on its address. Null: none, or the longest match has none.
static __always_inline struct sender_proxy *notice_proxy(const struct address *source)
{
	struct prefix_key key = {.length = 128, .address = *source};
	struct sender_proxy *proxy = bpf_map_lookup_elem(&sender_proxies, &key);
	__u8 family = source->halves[0] == 0 && source->halves[1] == MAPPED_HALF(source->words[3]) ? 4 : 6;
	if (!proxy || proxy->proxy_family == 0 || proxy->prefix_family != family)
		return 0;
	return proxy;
}

// Five-tuple and level, as on the wire.
struct tuple {
	struct address source;
	__u8 size;
	__u8 bytes[TUPLE_SIZE_IPV6];
};

static __always_inline int read_tuple(struct __sk_buff *skb, const struct headers *h, __u32 level, struct tuple *tuple)
{
	__u8 *rest;
	if (h->inner_family == 6) {
		if (bpf_skb_load_bytes(skb, h->inner + 8, tuple->bytes, 16) < 0 || bpf_skb_load_bytes(skb, h->destination, tuple->bytes + 16, 16) < 0)
			return -1;
		__builtin_memcpy(tuple->source.bytes, tuple->bytes, 16);
		rest = tuple->bytes + 32;
		tuple->size = TUPLE_SIZE_IPV6;
	} else {
		__u32 source;
		if (bpf_skb_load_bytes(skb, h->inner + 12, tuple->bytes, 4) < 0 || bpf_skb_load_bytes(skb, h->destination, tuple->bytes + 4, 4) < 0)
			return -1;
		__builtin_memcpy(&source, tuple->bytes, 4);
		address_map_ipv4(&tuple->source, source);
		rest = tuple->bytes + 8;
		tuple->size = TUPLE_SIZE_IPV4;
	}
	rest[0] = h->protocol;
	__builtin_memcpy(rest + 1, &h->sport, 2);
	__builtin_memcpy(rest + 3, &h->dport, 2);
	rest[5] = level << 5;
	return 0;
}

// Spreads the notices of different flows over equal paths; one flow's notices stay in order.
static __always_inline __u32 entropy(const struct tuple *tuple)
{
	__u32 h = 0x811c9dc5;
#pragma clang loop unroll(full)
	for (int i = 0; i < TUPLE_SIZE_IPV6 - 2; i += 4) {
		__u32 word;
		__builtin_memcpy(&word, tuple->bytes + i, 4);
		if (i < TUPLE_SIZE_IPV4 - 2 || tuple->size == TUPLE_SIZE_IPV6)
			h = (h ^ word) * 0x9e3779b1u;
	}
	return h ^ (h >> 15);
}

static __always_inline void put16(__u8 *at, __u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

// IP header at BUFFER_IP; returns the UDP pseudo-header's partial sum. `length`: UDP header and payload.
static __always_inline __u32 put_ipv6(__u8 *frame, const struct egress_config *config, const struct sender_proxy *proxy, __u32 length, __u32 flow_label)
{
	__u8 *ip = frame + BUFFER_IP;
	ip[0] = 0x60 | NOTICE_TRAFFIC_CLASS >> 4;
	ip[1] = (NOTICE_TRAFFIC_CLASS & 15) << 4 | ((flow_label >> 16) & 15);
	put16(ip + 2, flow_label);
	put16(ip + 4, length);
	ip[6] = IPPROTO_UDP;
	ip[7] = NOTICE_HOP_LIMIT + 1; // routing takes one off: 64 on the wire
	__builtin_memcpy(ip + 8, config->source6, 16);
	__builtin_memcpy(ip + 24, proxy->proxy.bytes, 16);
	return csum_add_bytes(ip + 8, 32, bpf_htonl(length + IPPROTO_UDP));
}

static __always_inline __u32 put_ipv4(__u8 *frame, const struct egress_config *config, const struct sender_proxy *proxy, __u32 length)
{
	__u8 *ip = frame + BUFFER_IP;
	ip[0] = 0x45;
	ip[1] = NOTICE_TRAFFIC_CLASS;
	put16(ip + 2, length + IPV4_HLEN);
	put16(ip + 4, 0);
	put16(ip + 6, 0x4000); // do not fragment
	ip[8] = NOTICE_HOP_LIMIT;
	ip[9] = IPPROTO_UDP;
	put16(ip + 10, 0);
	__builtin_memcpy(ip + 12, config->source4, 4);
	__builtin_memcpy(ip + 16, proxy->proxy.bytes + 12, 4);
	__u16 check = csum_fold(csum_add_bytes(ip, IPV4_HLEN, 0));
	__builtin_memcpy(ip + 10, &check, 2);
	return csum_add_bytes(ip + 12, 8, bpf_htonl(length + IPPROTO_UDP));
}

static __always_inline int checksum_partial(struct __sk_buff *skb)
{
	struct sk_buff *kernel = bpf_cast_to_kern_ctx(skb);
	return BPF_CORE_READ_BITFIELD(kernel, ip_summed) == CHECKSUM_PARTIAL;
}

// Puts the notice together in the buffer and returns the frame's length, or 0. `h` and `tuple` describe the packet in `skb`.
static __always_inline __u32 put_notice(struct __sk_buff *skb, const struct headers *h, const struct tuple *tuple,
					const struct egress_config *config, const struct sender_proxy *proxy, __u8 *frame)
{
	__u32 v6 = proxy->proxy_family == 6;
	__u32 udp = BUFFER_IP + (v6 ? IPV6_HLEN : IPV4_HLEN);
	__u32 limit = (v6 ? NOTICE_MAX_IPV6 - IPV6_HLEN : NOTICE_MAX_IPV4 - IPV4_HLEN) - UDP_HLEN;
	__u32 tuple_size = tuple->size == TUPLE_SIZE_IPV6 ? TUPLE_SIZE_IPV6 : TUPLE_SIZE_IPV4;
	__u32 invoking = skb->len - h->outer;
	if (invoking > h->outer_length)
		invoking = h->outer_length; // Ethernet padding
	if (invoking > limit - tuple_size)
		invoking = limit - tuple_size;
	opaque(invoking);
	if (invoking < IPV4_HLEN || invoking > NOTICE_MAX_IPV6)
		return 0;
	__u32 length = UDP_HLEN + tuple_size + invoking;
	__u32 spread = entropy(tuple);
	__u8 *header = frame + udp, *at = header + UDP_HLEN;

	__builtin_memset(frame, 0, BUFFER_IP);
	put16(frame + BUFFER_ETHERNET + 12, v6 ? ETH_P_IPV6 : ETH_P_IP);
	put16(header, 0xc000 | (spread & 0x3fff));
	__builtin_memcpy(header + 2, &config->udp_port, 2);
	put16(header + 4, length);
	put16(header + 6, 0);
	// A constant-size copy; what a 14-byte tuple does not use is overwritten by the packet behind it.
	__builtin_memcpy(at, tuple->bytes, TUPLE_SIZE_IPV6);
	if (bpf_skb_load_bytes(skb, h->outer, at + tuple_size, invoking) < 0)
		return 0;
	__builtin_memset(at + tuple_size + invoking, 0, 4); // the checksum helper reads whole words

	__u32 sum = v6 ? put_ipv6(frame, config, proxy, length, spread >> 12) : put_ipv4(frame, config, proxy, length);
	__u16 check = csum_fold(csum_add_bytes(header, length, sum));
	if (check == 0)
		check = 0xffff;
	__builtin_memcpy(header + 6, &check, 2);
	return udp - BUFFER_ETHERNET + length;
}

// Replaces the packet by the frame, and sends it round to arrive again.
static __always_inline int notice_store(struct __sk_buff *skb, const __u8 *frame, __u32 length)
{
	// Accelerated VLAN tags belong to the port the clone came from, two of them at most.
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (bpf_skb_change_tail(skb, length, 0) < 0) {
		count(COUNT_NOTICE_RESIZE_FAILED);
		return TC_DROP;
	}
	if (bpf_skb_store_bytes(skb, 0, frame, length, 0) < 0) {
		count(COUNT_NOTICE_STORE_FAILED);
		return TC_DROP;
	}
	count(COUNT_NOTICE_BUILT);
	skb->mark = MARK_NOTICE;
	return bpf_redirect(LOOPBACK_IFINDEX, BPF_F_INGRESS);
}

// First arrival: the clone becomes a notice.
static __noinline int notice_build(struct __sk_buff *skb)
{
	struct headers h;
	struct tuple tuple = {};
	__u32 zero = 0;
	if (checksum_partial(skb)) {
		count(COUNT_NOTICE_CHECKSUM_PARTIAL);
		return TC_DROP;
	}
	if (walk_headers(skb, &h) != WALK_TRANSPORT || read_tuple(skb, &h, skb->cb[CB_WORD_LEVEL] & 7, &tuple) < 0) {
		count(COUNT_NOTICE_UNPARSEABLE);
		return TC_DROP;
	}
	// What is behind the packet's own end is not the packet; without its BTH nobody can tell which Queue Pair is meant (PNC-4-e).
	if (h.transport + UDP_HLEN + BTH_SIZE > h.outer + h.outer_length) {
		count(COUNT_NOTICE_UNPARSEABLE);
		return TC_DROP;
	}
	struct egress_config *config = notice_config();
	struct notice_buffer *buffer = bpf_map_lookup_elem(&notice_buffer, &zero);
	struct sender_proxy *proxy = notice_proxy(&tuple.source);
	if (!config || !buffer || !proxy) {
		count(COUNT_NOTICE_NO_PROXY);
		return TC_DROP;
	}
	__u32 length = put_notice(skb, &h, &tuple, config, proxy, buffer->bytes);
	opaque(length);
	if (length < ETH_HLEN || length > ETH_HLEN + NOTICE_MAX_IPV6) {
		count(COUNT_NOTICE_UNPARSEABLE);
		return TC_DROP;
	}
	return notice_store(skb, buffer->bytes + BUFFER_ETHERNET, length);
}

// An IPv4 notice: routed as the router's own packet would be. A local destination is left to the programs behind this one.
static __always_inline int notice_route_ipv4(struct __sk_buff *skb)
{
	struct bpf_fib_lookup route = {.family = AF_INET, .l4_protocol = IPPROTO_UDP, .ifindex = LOOPBACK_IFINDEX, .tos = NOTICE_TRAFFIC_CLASS};
	struct bpf_redir_neigh neighbour = {};
	if (bpf_skb_load_bytes(skb, ETH_HLEN + 12, &route.ipv4_src, 4) < 0 || bpf_skb_load_bytes(skb, ETH_HLEN + 16, &route.ipv4_dst, 4) < 0 ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + IPV4_HLEN, &route.sport, 4) < 0) {
		count(COUNT_NOTICE_UNPARSEABLE);
		return TC_DROP;
	}
	long result = bpf_fib_lookup(skb, &route, sizeof(route), BPF_FIB_LOOKUP_SKIP_NEIGH);
	if (result == BPF_FIB_LKUP_RET_NOT_FWDED) {
		count(COUNT_NOTICE_NOT_FORWARDED);
		return TC_NEXT; // local: for the proxy's program, wherever it is in the chain
	}
	if (result != BPF_FIB_LKUP_RET_SUCCESS) {
		count(COUNT_NOTICE_NO_ROUTE);
		return TC_DROP;
	}
	neighbour.nh_family = route.family;
	if (route.family == AF_INET)
		neighbour.ipv4_nh = route.ipv4_dst;
	else
		__builtin_memcpy(neighbour.ipv6_nh, route.ipv6_dst, 16); // RFC 5549
	count(COUNT_NOTICE_ROUTED);
	return bpf_redirect_neigh(route.ifindex, &neighbour, sizeof(neighbour), 0);
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
	skb->mark = 0;
	skb->cb[CB_WORD_TAG] = 0;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return notice_route_ipv4(skb);
	count(COUNT_NOTICE_ROUTED);
	return TC_NEXT;
}

#endif
