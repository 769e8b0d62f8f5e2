// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which packets concern End.MT, and what becomes of them.
#ifndef CNPD_MULTICAST_ARRIVAL_H
#define CNPD_MULTICAST_ARRIVAL_H

#include "multicast/answer.h"
#include "multicast/progress.h"

static __always_inline int multicast_arrive(struct __sk_buff *skb)
{
	struct multicast_config *config;
	__u32 zero = 0;
	config = bpf_map_lookup_elem(&multicast_config, &zero);
	if (!config || !config->enabled)
		return TC_NEXT;
	if (multicast_is_core(skb->ifindex))
		return multicast_answer_from_child(skb);
	multicast_router_of(config);
	multicast_note(0, 0, 0, 0, 0);
	bpf_map_lookup_elem(&multicast_router_sids, &zero);
	bpf_map_lookup_elem(&multicast_destinations, config);
	bpf_map_lookup_elem(&multicast_list_ids, config);
	bpf_map_lookup_elem(&multicast_members, config);
	multicast_list_at(0);
	multicast_branch_at(0);
	multicast_record_at(0);
	return multicast_answer_from_host(skb, 0);
}

static __always_inline int multicast_begin(struct __sk_buff *skb)
{
	return TC_DROP;
}

#endif
