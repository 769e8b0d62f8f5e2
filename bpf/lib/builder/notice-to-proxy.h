// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Congestion Notification to Proxy message (PNC-4-a, PNC-4-b, PNC-4-f, PNC-4-g; layout: decisions D1-D4): a UDP
// datagram with the innermost flow's five-tuple, the level, and as much of the packet, from its outermost header, as
// fits. It goes straight to the proxy, also about a packet in a tunnel (PNC-1-b).
#ifndef CNPD_BUILDER_NOTICE_TO_PROXY_H
#define CNPD_BUILDER_NOTICE_TO_PROXY_H

#include "builder/frame.h"
#include "wire/notice-to-proxy.h"

// What has been learned about a sender's prefix, by longest match on its address.
static __always_inline struct sender_proxy *learned_about(const struct prefix_key *source)
{
	struct sender_proxy *proxy = bpf_map_lookup_elem(&sender_proxies, source);
	const __u32 *words = source->address.words;
	__u8 family = words[0] == 0 && words[1] == 0 && words[2] == bpf_htonl(0xffff) ? 4 : 6;
	return proxy && proxy->prefix_family == family ? proxy : 0;
}

// PNC-5-c. The proxy of a sender. Null: none, or the longest match has none.
static __always_inline struct sender_proxy *notice_proxy(const struct address *source)
{
	struct prefix_key key = { .length = 128, .address = *source };
	struct sender_proxy *proxy = learned_about(&key);
	return proxy && proxy->proxy_family != 0 ? proxy : 0;
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
		if (bpf_skb_load_bytes(skb, h->inner + IPV6_SOURCE, tuple->bytes, 16) < 0 ||
		    bpf_skb_load_bytes(skb, h->destination, tuple->bytes + 16, 16) < 0)
			return -1;
		__builtin_memcpy(tuple->source.bytes, tuple->bytes, 16);
		rest = tuple->bytes + 32;
		tuple->size = TUPLE_SIZE_IPV6;
	} else {
		__u32 source;
		if (bpf_skb_load_bytes(skb, h->inner + IPV4_SOURCE, tuple->bytes, 4) < 0 ||
		    bpf_skb_load_bytes(skb, h->destination, tuple->bytes + 4, 4) < 0)
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

// The IP header; returns the UDP pseudo-header's partial sum. `length`: UDP header and payload.
static __always_inline __u32 put_proxy_ip(__u32 *ip, const struct egress_config *config,
					  const struct sender_proxy *proxy, __u32 length, __u32 flow_label)
{
	if (proxy->proxy_family == 6) {
		put_ipv6(ip, IPPROTO_UDP, length, NOTICE_HOP_LIMIT + 1, flow_label);
		put_address(ip + 2, config->source6);
		put_address(ip + 6, proxy->proxy.bytes);
		return csum_add_bytes(ip + 2, 32, bpf_htonl(length + IPPROTO_UDP));
	}
	put_ipv4(ip, *(const __u32 *)config->source4, proxy->proxy.words[3], length);
	return csum_add_bytes(ip + 3, 8, bpf_htonl(length + IPPROTO_UDP));
}

static __always_inline void put16(__u8 *at, __u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

// Puts the notice together in the buffer and returns the IP packet's length, or 0.
static __always_inline __u32 put_proxy_notice(struct __sk_buff *skb, const struct headers *h, const struct tuple *tuple,
					      const struct egress_config *config, const struct sender_proxy *proxy,
					      struct notice_buffer *buffer)
{
	__u32 v6 = proxy->proxy_family == 6;
	__u32 header_size = v6 ? IPV6_HLEN : IPV4_HLEN;
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
	__u8 *header = (__u8 *)buffer + BUFFER_IP + header_size, *at = header + UDP_HLEN;

	put16(header, 0xc000 | (spread & 0x3fff));
	__builtin_memcpy(header + 2, &config->udp_port, 2);
	put16(header + 4, length);
	put16(header + 6, 0);
	// A constant-size copy; the packet behind it overwrites what a 14-byte tuple leaves.
	__builtin_memcpy(at, tuple->bytes, TUPLE_SIZE_IPV6);
	if (bpf_skb_load_bytes(skb, h->outer, at + tuple_size, invoking) < 0)
		return 0;
	__builtin_memset(at + tuple_size + invoking, 0, 4); // the checksum helper reads whole words

	__u32 sum = put_proxy_ip(buffer->words + BUFFER_IP / 4, config, proxy, length, spread >> 12);
	__u16 check = csum_fold(csum_add_bytes(header, length, sum));
	if (check == 0)
		check = 0xffff;
	__builtin_memcpy(header + 6, &check, 2);
	return header_size + length;
}

static __noinline int notice_to_proxy(struct __sk_buff *skb, const struct noticed *about, struct notice_buffer *buffer)
{
	struct tuple tuple = {};
	if (read_tuple(skb, &about->h, ORDER_PNC_LEVEL(about->order), &tuple) < 0)
		return notice_refuse(COUNT_NOTICE_UNPARSEABLE);
	struct egress_config *config = egress_configuration();
	struct sender_proxy *proxy = notice_proxy(&tuple.source);
	if (!config || !proxy)
		return notice_refuse(COUNT_NOTICE_NO_PROXY);
	__u32 family = proxy->proxy_family == 6 ? 6 : 4;
	__u32 length = put_proxy_notice(skb, &about->h, &tuple, config, proxy, buffer);
	return notice_store(skb, (__u8 *)buffer + BUFFER_IP, family, length, COUNT_NOTICE_PROXY);
}

#endif
