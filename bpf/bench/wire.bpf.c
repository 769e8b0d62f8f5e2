// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: how long a router takes from a notice's arrival to the CNP's departure. `arrived` is first at the
// tc ingress of the notices' port, `left` at the tc egress of the senders' port; the program under test is between
// them. Matched by Queue Pair.
#include "kernel.h"
#include "wire/roce.h"
#include "wire/walk.h"

LICENSE;

#define SLOTS 4096
// An IPv6 notice about an IPv6 flow: tuple and level are 38 bytes.
#define NOTICE_UDP (ETH_HLEN + IPV6_HLEN)
#define INVOKING_BTH (NOTICE_UDP + UDP_HLEN + 38 + IPV6_HLEN + UDP_HLEN)
#define CNP_BTH (ETH_HLEN + IPV6_HLEN + UDP_HLEN)
#define NOTICE_PORT 1021

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} arrived_at SEC(".maps");

// Nanoseconds; 0: nothing has left yet.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} taken SEC(".maps");

static __always_inline int slot_at(struct __sk_buff *skb, __u32 bth_at, __u32 *slot, __u8 *opcode)
{
	struct bth bth;
	if (bpf_skb_load_bytes(skb, bth_at, &bth, sizeof(bth)) < 0)
		return -1;
	*slot = BTH_QPN(bth.qpn) & (SLOTS - 1);
	*opcode = bth.opcode;
	return 0;
}

SEC("tc")
int arrived(struct __sk_buff *skb)
{
	__u32 slot;
	__u8 opcode;
	__be16 port;
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || bpf_skb_load_bytes(skb, NOTICE_UDP + 2, &port, 2) < 0 ||
	    port != bpf_htons(NOTICE_PORT))
		return TC_NEXT;
	if (slot_at(skb, INVOKING_BTH, &slot, &opcode) < 0)
		return TC_NEXT;
	__u64 *at = bpf_map_lookup_elem(&arrived_at, &slot);
	if (at)
		*at = bpf_ktime_get_ns();
	return TC_NEXT;
}

SEC("tc")
int left(struct __sk_buff *skb)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 slot;
	__u8 opcode;
	if (skb->protocol != bpf_htons(ETH_P_IPV6) || slot_at(skb, CNP_BTH, &slot, &opcode) < 0 ||
	    opcode != ROCE_OPCODE_CNP)
		return TC_NEXT;
	__u64 *at = bpf_map_lookup_elem(&arrived_at, &slot);
	__u64 *ns = bpf_map_lookup_elem(&taken, &slot);
	if (at && ns && *at)
		*ns = now - *at;
	return TC_NEXT;
}
