// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: the proxy as it would be if the agent did its work. A notice goes into a ring buffer and no
// further; the agent reads it there, builds the CNP and sends it.
#include "kernel.h"
#include "wire/notice-to-proxy.h"
#include "wire/walk.h"

LICENSE;

#define NOTICE_PORT 1021

struct handed {
	__u32 length;
	__u8 packet[NOTICE_MAX_IPV6]; // from its IP header
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} handed SEC(".maps");

SEC("tc")
int handoff(struct __sk_buff *skb)
{
	__be16 port;
	__u32 length = skb->len - ETH_HLEN;
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || bpf_skb_load_bytes(skb, ETH_HLEN + IPV6_HLEN + 2, &port, 2) < 0 ||
	    port != bpf_htons(NOTICE_PORT))
		return TC_NEXT;
	if (length < IPV6_HLEN + UDP_HLEN || length > NOTICE_MAX_IPV6)
		return TC_DROP;
	struct handed *record = bpf_ringbuf_reserve(&handed, sizeof(*record), 0);
	if (!record)
		return TC_DROP;
	record->length = length;
	opaque(length);
	if (length == 0 || length > NOTICE_MAX_IPV6 || bpf_skb_load_bytes(skb, ETH_HLEN, record->packet, length) < 0) {
		bpf_ringbuf_discard(record, 0);
		return TC_DROP;
	}
	bpf_ringbuf_submit(record, 0);
	return TC_DROP;
}
