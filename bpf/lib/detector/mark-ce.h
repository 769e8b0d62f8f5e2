// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Marks CE in the outermost IP header of a data packet above K_min (LHCNP-5.4-a), and counts why it does not.
#ifndef CNPD_DETECTOR_MARK_CE_H
#define CNPD_DETECTOR_MARK_CE_H

#include "detector/congestion.h"
#include "wire/ecn.h"

// Marks a packet whose VLAN tags precede its header. The helper would take a tag for the header, because it uses the
// kernel's offset.
static __noinline int set_ce_behind_tags(struct __sk_buff *skb, __u32 offset)
{
	__be16 before, after;
	if (bpf_skb_load_bytes(skb, offset, &before, sizeof(before)) < 0)
		return 0;
	if (bpf_ntohs(before) >> 12 == 6) {
		after = before | bpf_htons(ECN_CE << 4);
		return bpf_skb_store_bytes(skb, offset, &after, sizeof(after), 0) == 0;
	}
	after = before | bpf_htons(ECN_CE);
	return bpf_l3_csum_replace(skb, offset + 10, before, after, sizeof(after)) == 0 &&
	       bpf_skb_store_bytes(skb, offset, &after, sizeof(after), 0) == 0;
}

// The helper rejects a packet whose header is shared; pulling makes a private copy.
static __always_inline int set_ce(struct __sk_buff *skb, __u32 offset)
{
	if (unlikely(skb->protocol == bpf_htons(ETH_P_8021Q) || skb->protocol == bpf_htons(ETH_P_8021AD)))
		return set_ce_behind_tags(skb, offset);
	return bpf_skb_ecn_set_ce(skb) == 1 || (bpf_skb_pull_data(skb, 0) == 0 && bpf_skb_ecn_set_ce(skb) == 1);
}

// RFC 3168: Not-ECT is not marked. A sender that gets and understands Fast CNPs is not notified a second time through
// the receiver (FCNP-4-b).
static __always_inline void mark_ce(struct __sk_buff *skb, const struct congestion *c)
{
	__u8 ecn = c->packet->ecn;
	if (ecn == 0) {
		count(COUNT_EGRESS_NOT_ECT);
		return;
	}
	if (ecn == 3) {
		count(COUNT_EGRESS_CE_ALREADY);
	} else if ((__s64)(c->flow->ce_exempt_until - c->now) >= 0) {
		count(COUNT_EGRESS_CE_EXEMPT);
		return;
	} else if (c->packet->shims & SHIM_OUTER_MPLS) {
		// RFC 5129 would mark the label stack, but its TC may not be ECN, and the header below belongs to the
		// customer.
		count(COUNT_EGRESS_ECN_MPLS);
		return;
	} else if (set_ce(skb, c->packet->outer_offset)) {
		count(COUNT_EGRESS_CE_MARKED);
		c->stats->ce_marked++;
	} else {
		count(COUNT_EGRESS_CE_FAILED);
		return;
	}
	c->stats->left_with_ce++;
}

#endif
