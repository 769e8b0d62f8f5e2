// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// For the bench only: packets into the kernel's receive path without a wire (BPF_PROG_TEST_RUN of `arrive` with live
// frames), and out of it at the next port, where `sink` counts them by congestion field and drops them. What lies
// between is what one packet costs the router.
#include "kernel.h"

LICENSE;

#define XDP_PASS 2
#define HEADERS 256
#define ETHERNET 14
#define NEXT_HEADER 6
#define UDP 17
#define IPV6 41
#define ROUTING 43

struct xdp_md {
	__u32 data;
	__u32 data_end;
	__u32 data_meta;
	__u32 ingress_ifindex;
	__u32 rx_queue_index;
	__u32 egress_ifindex;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32); // congestion field
	__type(value, __u64);
} sunk SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next_port SEC(".maps");

// The headers of the packet. The kernel reuses a frame unchanged, so they are written anew each time.
struct headers {
	__u8 bytes[HEADERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct headers);
} template SEC(".maps");

// Where in the template 16 bits are counted up, so that every packet is of another flow; 0: nowhere.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} counted_at SEC(".maps");

SEC("xdp")
int arrive(struct xdp_md *context)
{
	__u32 zero = 0;
	struct headers *headers = bpf_map_lookup_elem(&template, &zero);
	__u32 *counted = bpf_map_lookup_elem(&counted_at, &zero);
	__u8 *data = (void *)(long)context->data, *end = (void *)(long)context->data_end;
	if (headers && counted && *counted > 0 && *counted <= HEADERS - 2)
		(*(__u16 *)(headers->bytes + *counted))++;
	if (headers && data + HEADERS <= end)
		__builtin_memcpy(data, headers, HEADERS);
	return XDP_PASS;
}

// At the ingress of the first port, to the next port at once: what receiving and sending cost without anything between.
SEC("tc")
int hand_over(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u32 *port = bpf_map_lookup_elem(&next_port, &zero);
	return port && *port ? bpf_redirect(*port, 0) : TC_NEXT;
}

SEC("tc")
int sink(struct __sk_buff *skb)
{
	__u8 ip[NEXT_HEADER + 1] = {};
	bpf_skb_load_bytes(skb, ETHERNET, ip, sizeof(ip));
	__u32 field = ip[1] >> 4 & 3;
	__u64 *packets = bpf_map_lookup_elem(&sunk, &field);
	__u8 next = ip[NEXT_HEADER];
	if (packets && (next == UDP || next == IPV6 || next == ROUTING)) // neighbor discovery comes by too
		(*packets)++;
	return TC_DROP;
}
