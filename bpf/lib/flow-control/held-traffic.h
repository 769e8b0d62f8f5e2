// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Puts a packet into the class of the traffic that the neighbor behind the port has asked to pause (FCN §4.1.2).
#ifndef CNPD_FLOW_CONTROL_HELD_TRAFFIC_H
#define CNPD_FLOW_CONTROL_HELD_TRAFFIC_H

#include "flow-control/traffic.h"
#include "hold/class.h"

#define IPPROTO_OSPF 89

enum held {
	HELD_NOT,
	HELD_IN_CLASS,
	HELD_IN_FULL_CLASS,
};

// What routers need to know of each other: Neighbor Discovery, and OSPF, also of those behind this one. A link must not
// fail because a priority is paused, in which they are, too.
static __always_inline int keeps_the_link(const struct outermost *outermost)
{
	return outermost->protocol == IPPROTO_ICMPV6 || outermost->protocol == IPPROTO_OSPF;
}

// What this router itself sends, as ARNs and what its routing protocols say. A tunnel takes from a packet where it
// arrived, but gives it no socket.
static __always_inline int is_of_this_router(const struct __sk_buff *skb)
{
	return !skb->ingress_ifindex && skb->sk;
}

// All packets of a service and of a priority are held, whatever is in them; of flows, RoCEv2 packets.
static __always_inline enum held hold_traffic(struct __sk_buff *skb, const struct flow_control_config *config,
					      __u32 root, struct traffic *packet)
{
	__u32 zero = 0, kind = config->kind, ifindex = skb->ifindex;
	const struct hold_state *state = bpf_map_lookup_elem(&hold_state, &zero);
	struct hold_record *record;
	struct hold_key key;
	__u64 now;
	if (!state || kind >= HOLD_KINDS || likely(!state->holds[kind]))
		return HELD_NOT;
	if (!traffic_read(skb, config, packet) || (kind == HOLD_TUPLE && !traffic_read_flow(skb, packet)))
		return HELD_NOT;
	if (kind == HOLD_PRIORITY && (keeps_the_link(&packet->outermost) || is_of_this_router(skb)))
		return HELD_NOT;
	traffic_key(&key, kind, &packet->outermost, &packet->flow, ifindex);
	const struct hold *hold = bpf_map_lookup_elem(&holds, &key);
	if (!hold || !is_in_force(hold, &record, &now) || has_left(hold, record, now))
		return HELD_NOT;
	put_into_class(skb, root, hold, record, now);
	__u64 *bytes = bpf_map_lookup_elem(&hold_port_bytes, &ifindex);
	if (bytes)
		__sync_fetch_and_add(bytes, skb->wire_len);
	return hold->full ? HELD_IN_FULL_CLASS : HELD_IN_CLASS;
}

#endif
