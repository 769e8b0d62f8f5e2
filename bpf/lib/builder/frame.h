// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The common parts of all notices: the buffer in which one is assembled, the packet it is about, IP headers, the outer
// header of a notice that goes back through a tunnel (FCN §4.2.2), and the replacement of the clone by the finished
// frame.
//
// The notice's own IP header is always at the same offset of the buffer; in front of it is headroom for an outer IPv6
// header and for Ethernet.
#ifndef CNPD_BUILDER_FRAME_H
#define CNPD_BUILDER_FRAME_H

#include "wire/checksum.h"
#include "detector/maps.h"
#include "builder/config.h"
#include "wire/roce.h"
#include "wire/walk.h"

#define NOTICE_TRAFFIC_CLASS (48 << 2) // CS6, Not-ECT
#define NOTICE_HOP_LIMIT 64

// Ethernet at an offset that leaves the IP headers on word boundaries.
#define BUFFER_OUTER 16
#define BUFFER_IP (BUFFER_OUTER + IPV6_HLEN)
#define NOTICE_MAX_PACKET 1280

struct notice_buffer {
	__u32 words[1024]; // more than a notice, so that the verifier can add two bounds
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct notice_buffer);
} notice_buffer SEC(".maps");

// The packet that a notice is about.
struct noticed {
	struct headers h;
	struct bth bth;
	__u32 order;	  // ORDER
	__u32 metric;	  // LHCNP §6.1
	__u32 source_qpn; // 0: not known
	__u32 spread;	  // differs from flow to flow, and is one flow's for ever
	__u8 tunneled;	  // the notice goes to the source of the packet's tunnel, inside another
};

static __always_inline struct egress_config *egress_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&egress_config, &zero);
}

static __always_inline struct notice_config *notice_configuration(void)
{
	__u32 zero = 0;
	return bpf_map_lookup_elem(&notice_config, &zero);
}

// --- IP headers ---

// All but the addresses. `length`: what follows the header. Routing takes one off the hop limit, not off an inner
// packet's.
static __always_inline void put_ipv6(__u32 *ip, __u32 next, __u32 length, __u32 hop_limit, __u32 flow_label)
{
	ip[0] = bpf_htonl(6u << 28 | NOTICE_TRAFFIC_CLASS << 20 | (flow_label & 0xfffff));
	ip[1] = bpf_htonl(length << 16 | next << 8 | hop_limit);
}

// Whole, with its checksum.
static __always_inline void put_ipv4(__u32 *ip, __u32 source, __u32 destination, __u32 length)
{
	ip[0] = bpf_htonl(0x45u << 24 | NOTICE_TRAFFIC_CLASS << 16 | (length + IPV4_HLEN));
	ip[1] = bpf_htonl(0x4000); // do not fragment
	ip[2] = bpf_htonl(NOTICE_HOP_LIMIT << 24 | IPPROTO_UDP << 16);
	ip[3] = source;
	ip[4] = destination;
	__u64 sum = (__u64)ip[0] + ip[1] + ip[2] + ip[3] + ip[4];
	ip[2] |= bpf_htonl(bpf_ntohs(csum_fold(sum)));
}

static __always_inline void put_address(__u32 *at, const __u8 *address)
{
	__builtin_memcpy(at, __builtin_assume_aligned(address, 4), 16);
}

// The IPv6 header of a notice to the packet's sender, from this router's loopback address (FCNP-4-c, FCNP-4-d;
// LHCNP-5.5-f).
static __always_inline int put_ipv6_to_sender(struct __sk_buff *skb, const struct noticed *about,
					      const struct egress_config *config, __u32 *ip, __u32 next, __u32 length)
{
	put_ipv6(ip, next, length, about->tunneled ? NOTICE_HOP_LIMIT : NOTICE_HOP_LIMIT + 1, 0);
	put_address(ip + 2, config->source6);
	return bpf_skb_load_bytes(skb, about->h.inner + IPV6_SOURCE, ip + 6, 16);
}

// FCN-4.2.2-d: to the source of the tunnel that the packet came through, which the detector has found to be an END.CON,
// or to have one. No segments.
static __always_inline int put_outer(struct __sk_buff *skb, const struct noticed *about,
				     const struct egress_config *config, __u32 *outer, __u32 length)
{
	put_ipv6(outer, about->h.inner_family == 6 ? IPPROTO_IPV6 : IPPROTO_IPIP, length, NOTICE_HOP_LIMIT + 1,
		 about->spread);
	struct address source;
	put_address(outer + 2, config->source6);
	if (bpf_skb_load_bytes(skb, about->h.outer + IPV6_SOURCE, &source, 16) < 0)
		return -1;
	__builtin_memcpy(outer + 6, end_con_for(source.halves), 16);
	return 0;
}

// --- The frame ---

static __always_inline int notice_refuse(enum counter why)
{
	count(why);
	return TC_DROP;
}

// Replaces the packet by the `length` bytes of a packet of `family` at `ip`, sends it round to arrive again, and counts
// it.
static __always_inline int notice_store(struct __sk_buff *skb, __u8 *ip, __u32 family, __u32 length, enum counter built)
{
	__u8 *frame = ip - ETH_HLEN;
	__builtin_memset(frame, 0, 12);
	frame[12] = family == 6 ? ETH_P_IPV6 >> 8 : ETH_P_IP >> 8;
	frame[13] = family == 6 ? ETH_P_IPV6 & 255 : ETH_P_IP & 255;
	length += ETH_HLEN;
	opaque(length);
	if (length < ETH_HLEN + IPV4_HLEN || length > ETH_HLEN + NOTICE_MAX_PACKET)
		return notice_refuse(COUNT_NOTICE_UNPARSEABLE);
	// Accelerated VLAN tags belong to the port the clone came from, two of them at most.
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	if (bpf_skb_change_tail(skb, length, 0) < 0)
		return notice_refuse(COUNT_NOTICE_RESIZE_FAILED);
	if (bpf_skb_store_bytes(skb, 0, frame, length, 0) < 0)
		return notice_refuse(COUNT_NOTICE_STORE_FAILED);
	count(COUNT_NOTICE_BUILT);
	count(built);
	skb->mark = MARK_NOTICE;
	return bpf_redirect(LOOPBACK_IFINDEX, BPF_F_INGRESS);
}

// Sends a notice of `length` bytes at BUFFER_IP to the packet's sender, through the tunnel if the packet was in one.
static __always_inline int notice_send(struct __sk_buff *skb, const struct noticed *about,
				       const struct egress_config *config, struct notice_buffer *buffer, __u32 length,
				       enum counter built)
{
	__u8 *bytes = (__u8 *)buffer;
	if (!about->tunneled)
		return notice_store(skb, bytes + BUFFER_IP, about->h.inner_family, length, built);
	if (put_outer(skb, about, config, buffer->words + BUFFER_OUTER / 4, length) < 0)
		return notice_refuse(COUNT_NOTICE_STORE_FAILED);
	count(COUNT_NOTICE_WRAPPED);
	return notice_store(skb, bytes + BUFFER_OUTER, 6, length + IPV6_HLEN, built);
}

#endif
