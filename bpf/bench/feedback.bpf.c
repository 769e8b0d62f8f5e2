// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: when the first notice leaves the congested router, the first marked packet reaches the receiver, and the first CNP of either way
// reaches the sender. CLOCK_MONOTONIC, the same in every namespace. A time is noted once, until the bench writes 0.
#include "kernel.h"
#include "roce.h"
#include "walk.h"

LICENSE;

#define NOTICE_PORT 1021
// CNPs start with 64: the proxy is the sender's own leaf, the receiver is behind four routers.
#define HOP_LIMIT_OF_RECEIVER 61

enum { AT_NOTICE, AT_CNP_OF_PROXY, AT_MARKED, AT_CNP_OF_RECEIVER, EVENTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EVENTS);
	__type(key, __u32);
	__type(value, __u64);
} seen_at SEC(".maps");

struct start {
	__u8 ip[IPV6_HLEN];
	__be16 sport, dport;
	__be16 length, checksum;
	__u8 opcode;
} __attribute__((packed));

static __always_inline void note(__u32 event)
{
	__u64 *at = bpf_map_lookup_elem(&seen_at, &event);
	if (at && *at == 0)
		*at = bpf_ktime_get_ns();
}

static __always_inline int is_udp(struct __sk_buff *skb, struct start *packet, __u16 port)
{
	return skb->protocol == bpf_htons(ETH_P_IPV6) && bpf_skb_load_bytes(skb, ETH_HLEN, packet, sizeof(*packet)) == 0 &&
	       packet->ip[6] == IPPROTO_UDP && packet->dport == bpf_htons(port);
}

SEC("tc")
int notice_left(struct __sk_buff *skb)
{
	struct start packet;
	if (is_udp(skb, &packet, NOTICE_PORT))
		note(AT_NOTICE);
	return TC_NEXT;
}

SEC("tc")
int cnp_arrived(struct __sk_buff *skb)
{
	struct start packet;
	if (is_udp(skb, &packet, ROCE_UDP_PORT) && packet.opcode == ROCE_OPCODE_CNP)
		note(packet.ip[7] > HOP_LIMIT_OF_RECEIVER ? AT_CNP_OF_PROXY : AT_CNP_OF_RECEIVER);
	return TC_NEXT;
}

SEC("tc")
int mark_arrived(struct __sk_buff *skb)
{
	struct start packet;
	if (is_udp(skb, &packet, ROCE_UDP_PORT) && (packet.ip[1] >> 4 & 3) == 3)
		note(AT_MARKED);
	return TC_NEXT;
}
