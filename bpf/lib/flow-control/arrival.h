// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Remembers how the packets of a flow arrive. The map is written when that changes, and so that it shows that the flow
// still arrives: a flow that has gone over to another interface must not be asked for at the former one.
//
// Anybody can write the addresses and ports of a flow, and tenants may have the same ones. So a packet takes along how
// it arrived itself: as tc_index, which tunnels, VRFs and bridges leave as it is. Where it leaves, a packet of another
// arrival than the latest of its flow is not reported. A tc filter that ends with `ok` clears tc_index; then only the
// interface is compared.
#ifndef CNPD_FLOW_CONTROL_ARRIVAL_H
#define CNPD_FLOW_CONTROL_ARRIVAL_H

#include "flow-control/traffic.h"

#define ARRIVAL_REFRESH_NS 10000000ULL
// Between arriving and leaving a packet spends far less.
#define ARRIVAL_LIFE_NS 1000000000ULL

static __always_inline int same_mac(const __u8 a[6], const __u8 b[6])
{
	__u8 different = 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < 6; i++)
		different |= a[i] ^ b[i];
	return !different;
}

static __always_inline int same_arrival(const struct flow_control_arrival *a, const struct flow_control_arrival *b)
{
	return a->ifindex == b->ifindex && same_address(&a->outermost.source, &b->outermost.source) &&
	       same_address(&a->outermost.destination, &b->outermost.destination) &&
	       a->outermost.protocol == b->outermost.protocol && a->outermost.priority == b->outermost.priority &&
	       a->outermost.is_tunnel == b->outermost.is_tunnel && same_mac(a->source_mac, b->source_mac);
}

static __always_inline __u32 mixed(__u32 hash, __u32 word)
{
	hash = (hash ^ word) * 0x9e3779b1;
	return hash ^ hash >> 15;
}

static __always_inline __u16 arrival_id(const struct flow_control_arrival *arrival)
{
	const struct outermost *outermost = &arrival->outermost;
	const __u8 *mac = arrival->source_mac;
	__u32 hash =
		mixed(arrival->ifindex, outermost->protocol << 16 | outermost->priority << 8 | outermost->is_tunnel);
#pragma clang loop unroll(full)
	for (int i = 0; i < 4; i++)
		hash = mixed(mixed(hash, outermost->source.words[i]), outermost->destination.words[i]);
	hash = mixed(hash, mac[0] << 24 | mac[1] << 16 | mac[2] << 8 | mac[3]);
	hash = mixed(hash, mac[4] << 8 | mac[5]);
	return hash >> 16 ? hash >> 16 : 1;
}

static __always_inline int came_by(const struct __sk_buff *skb, const struct flow_control_arrival *arrival)
{
	return skb->tc_index ? skb->tc_index == arrival->id : skb->ingress_ifindex == arrival->ifindex;
}

static __always_inline void flow_control_learn(struct __sk_buff *skb, const struct traffic *packet)
{
	struct flow_control_arrival now = { .outermost = packet->outermost,
					    .ifindex = skb->ifindex,
					    .seen_ns = bpf_ktime_get_ns() };
	const __u8 *macs = walk_at(skb, 0, ETH_HLEN);
	if (!macs)
		return;
	__builtin_memcpy(now.source_mac, macs + sizeof(now.source_mac), sizeof(now.source_mac));
	struct flow_control_arrival *before = bpf_map_lookup_elem(&flow_control_arrivals, &packet->flow);
	if (before && same_arrival(before, &now)) {
		skb->tc_index = before->id;
		if (now.seen_ns - before->seen_ns > ARRIVAL_REFRESH_NS)
			before->seen_ns = now.seen_ns;
		return;
	}
	now.id = arrival_id(&now);
	skb->tc_index = now.id;
	if (bpf_map_update_elem(&flow_control_arrivals, &packet->flow, &now, BPF_ANY) < 0)
		count(COUNT_FLOW_CONTROL_ARRIVAL_LOST);
	else
		count(COUNT_FLOW_CONTROL_ARRIVALS);
}

#endif
