// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The notification that a sender gets instead of a standard CNP (PNC §1): a Fast CNP or a Long-haul CNP, as its
// declared prefix says. The notice is reduced to the innermost packet that it carries. If the sender is behind a
// tenant's tunnel, the packet stays in that tunnel, through which the builder then sends (FCN §4.2.2). It goes with an
// order to the builder of the congested node (builder/notice.h) on the loopback interface, like the clone of a trigger:
// each format has one builder. A table of the agent's maps the notice's level to the content of a Long-haul CNP
// (docs/explanation/decisions.md). Limits and Queue Pairs are those of a CNP (receive-notice.h).
#ifndef CNPD_PROXY_ORDER_NOTIFICATION_H
#define CNPD_PROXY_ORDER_NOTIFICATION_H

#include "builder/order.h"
#include "proxy/invoking-packet.h"
#include "proxy/layout.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct proxy_instructions);
} proxy_instructions SEC(".maps");

// Reduces the frame to that packet, as far as the notice carries it. Its Ethernet addresses belong to no host: without
// a builder the kernel drops it as another host's.
static __always_inline int notice_strip(struct __sk_buff *skb, const struct notice *notice)
{
	__u8 ethernet[ETH_HLEN] = { 2, [6] = 2 };
	int is_ipv6 = notice->family == 6 || notice_is_tunneled(notice);
	ethernet[12] = is_ipv6 ? ETH_P_IPV6 >> 8 : ETH_P_IP >> 8;
	ethernet[13] = is_ipv6 ? ETH_P_IPV6 & 255 : ETH_P_IP & 255;
	if (bpf_skb_adjust_room(skb, ETH_HLEN - (__s32)notice->outer, BPF_ADJ_ROOM_MAC, 0) < 0)
		return -1;
	return bpf_skb_store_bytes(skb, 0, ethernet, sizeof(ethernet), 0);
}

// Returns the verdict of the program. The level is the upper three bits of the tuple's last octet (PNC-4-f).
static __always_inline int notice_order(struct __sk_buff *skb, const struct notice *notice, __u32 sender_qpn)
{
	__u8 level;
	__u32 zero = 0, tuple = ETH_HLEN + (notice->carrier == 6 ? IPV6_HLEN : IPV4_HLEN) + UDP_HLEN;
	struct proxy_instructions *table = bpf_map_lookup_elem(&proxy_instructions, &zero);
	if (!table ||
	    bpf_skb_load_bytes(skb, tuple + (notice->family == 6 ? TUPLE_SIZE_IPV6 : TUPLE_SIZE_IPV4) - 1, &level, 1) <
		    0 ||
	    notice_strip(skb, notice) < 0) {
		count(COUNT_PROXY_CNP_FAILED);
		return TC_DROP;
	}
	// At an END.CON of this router the kernel decapsulates with End.DT6, which drops IPv4.
	if (notice_is_tunneled(notice) && notice->family == 4 && !(notice->flow.tenant & TENANT_PASSING)) {
		count(COUNT_PROXY_TENANT_UNREACHABLE);
		return TC_DROP;
	}
	__u32 n = level >> 5 & (PNC_LEVELS - 1), format = notice->format;
	int says = format != FORMAT_FAST_CNP;
	skb->mark = MARK_TRIGGER;
	skb->cb[CB_WORD_TAG] = CB_TAG;
	skb->cb[CB_WORD_IFINDEX] = skb->ifindex;
	skb->cb[CB_WORD_ORDER] = ORDER(format, 0, says ? table->of[n].action : 0, says ? table->of[n].level : 0,
				       says ? table->of[n].parameter : 0);
	skb->cb[CB_WORD_METRIC] = 0; // a notice does not contain the queue depth
	skb->cb[CB_WORD_SOURCE_QPN] = sender_qpn;
	count(format == FORMAT_FAST_CNP		  ? COUNT_PROXY_FAST_CNP
	      : format == FORMAT_LONG_HAUL_ICMPV6 ? COUNT_PROXY_LONG_HAUL_ICMPV6
						  : COUNT_PROXY_LONG_HAUL_ROCE);
	return bpf_redirect(LOOPBACK_IFINDEX, BPF_F_INGRESS);
}

#endif
