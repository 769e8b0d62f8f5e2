// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A wire that loses packets, for the software RoCE endpoint of the lab. At the tc ingress of the host's interface, one
// of every so many RoCEv2 packets over IPv6 is dropped. Computed, not drawn: a run can be repeated. Which of them it is
// changes: were it always the same, a sender that repeats just as many packets would lose the same one for ever.
#include "kernel.h"
#include "wire/walk.h"

LICENSE;

enum {
	NEXT_HEADER = ETH_HLEN + 6,
	UDP_PORT_AT = ETH_HLEN + IPV6_HLEN + 2,
	ROCE_PORT = 4791,
};

// At least 2. Set before loading.
const volatile __u32 one_in;

struct counts {
	__u32 seen;
	__u32 lost;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} lossy_wire_counts SEC(".maps");

// Which one of the packets of a group is lost: Fibonacci hashing (Knuth, The Art of Computer Programming 6.4).
static __always_inline __u32 lost_place(__u32 group)
{
	return ((group * 2654435769u) >> 16) % one_in;
}

SEC("tc")
int lossy_wire(struct __sk_buff *skb)
{
	const __u8 *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	__u32 zero = 0;

	if (data + UDP_PORT_AT + 2 > end || skb->protocol != bpf_htons(ETH_P_IPV6) ||
	    data[NEXT_HEADER] != IPPROTO_UDP || (data[UDP_PORT_AT] << 8 | data[UDP_PORT_AT + 1]) != ROCE_PORT)
		return TC_NEXT;
	struct counts *counts = bpf_map_lookup_elem(&lossy_wire_counts, &zero);
	if (!counts || one_in == 0)
		return TC_NEXT;
	__u32 seen = __sync_fetch_and_add(&counts->seen, 1);
	if (seen % one_in != lost_place(seen / one_in))
		return TC_NEXT;
	__sync_fetch_and_add(&counts->lost, 1);
	return TC_DROP;
}
