// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The packet that goes up: IPv6 in IPv6 to the parent, or at the root an ordinary RC answer to the source
// (RMC-5.3.1-e, RMC-5.3.3-e). The kernel routes it.
#ifndef CNPD_MULTICAST_UPSTREAM_H
#define CNPD_MULTICAST_UPSTREAM_H

#include "multicast/aggregate.h"
#include "wire/cnp.h"

// Words of an answer, from its IPv6 header: UDP header at 10, BTH at 12.
#define ANSWER_UDP 10
#define ANSWER_BTH 12
#define ANSWER_AETH 15
#define ANSWER_WORDS 17	    // of ACK and NAK: 68 octets; a CNP has CNP_WORDS_IPV6
#define ANSWER_HOP_LIMIT 65 // routing decrements it

// An answer, without what is around it.
struct multicast_answer {
	__u32 words[CNP_WORDS_IPV6];
	__u16 is_cnp;
	__u16 outer; // octets in front of it behind Ethernet: 0 or 40
};

static __always_inline __u32 answer_size(const struct multicast_answer *answer)
{
	return (answer->is_cnp ? CNP_WORDS_IPV6 : ANSWER_WORDS) * 4;
}

static __always_inline __u32 answer_icrc(const struct multicast_answer *answer)
{
	return answer->is_cnp ? icrc(answer->words, ICRC_MASK_IPV6, CNP_WORDS_IPV6 - 1)
			      : icrc(answer->words, ICRC_MASK_IPV6, ANSWER_WORDS - 1);
}

static __always_inline void answer_seal(struct multicast_answer *answer, __u32 hop_limit)
{
	answer->words[1] = (answer->words[1] & bpf_htonl(0xffffff00)) | bpf_htonl(hop_limit);
	answer->words[ANSWER_UDP + 1] &= bpf_htonl(0xffff0000); // no UDP checksum: the ICRC covers the packet
	__u32 crc = answer_icrc(answer);
	if (answer->is_cnp)
		answer->words[CNP_WORDS_IPV6 - 1] = crc;
	else
		answer->words[ANSWER_WORDS - 1] = crc;
}

static __always_inline int up_dropped(enum counter why)
{
	count(why);
	return TC_DROP;
}

// Makes room for, or removes, the outer header, and the padding of the frame. 0: the kernel refuses.
static __always_inline int up_resize(struct __sk_buff *skb, const struct multicast_answer *answer, __u32 outer)
{
	__u32 size = ETH_HLEN + answer->outer + answer_size(answer);
	__s32 difference = (__s32)outer - answer->outer;
	if (skb->len != size && bpf_skb_change_tail(skb, size, 0) < 0)
		return 0;
	return difference == 0 || bpf_skb_adjust_room(skb, difference, BPF_ADJ_ROOM_MAC, 0) == 0;
}

static __always_inline int up_store(struct __sk_buff *skb, const struct multicast_answer *answer, __u32 at)
{
	return answer->is_cnp ? bpf_skb_store_bytes(skb, at, answer->words, CNP_WORDS_IPV6 * 4, BPF_F_INVALIDATE_HASH)
			      : bpf_skb_store_bytes(skb, at, answer->words, ANSWER_WORDS * 4, BPF_F_INVALIDATE_HASH);
}

// At the root. RMC-5.3.3-e: a CNP gets the 16 reserved octets of a standard one.
static __always_inline int up_to_source(struct __sk_buff *skb, struct multicast_answer *answer,
					const struct multicast_group *group)
{
	if (group->source_qpn == 0)
		return up_dropped(COUNT_MC_NO_SOURCE);
	__builtin_memcpy(answer->words + 2, &group->proxy, 16);
	__builtin_memcpy(answer->words + 6, &group->source, 16);
	answer->words[ANSWER_BTH + 1] =
		(answer->words[ANSWER_BTH + 1] & bpf_htonl(0xff000000)) | bpf_htonl(group->source_qpn & 0xffffff);
	answer_seal(answer, ANSWER_HOP_LIMIT);
	if (!up_resize(skb, answer, 0) || up_store(skb, answer, ETH_HLEN) < 0)
		return up_dropped(COUNT_MC_UP_FAILED);
	return TC_NEXT;
}

static __always_inline int up_to_parent(struct __sk_buff *skb, struct multicast_answer *answer,
					const struct address *own, const struct address *parent, __u32 epoch)
{
	__u32 outer[IPV6_HLEN / 4];
	outer[0] = bpf_htonl(6u << 28 | CNP_TRAFFIC_CLASS << 20 | epoch);
	outer[1] = bpf_htonl(answer_size(answer) << 16 | IPPROTO_IPV6 << 8 | ANSWER_HOP_LIMIT);
	__builtin_memcpy(outer + 2, own, 16);
	__builtin_memcpy(outer + 6, parent, 16);
	answer_seal(answer, ANSWER_HOP_LIMIT - 1);
	if (!up_resize(skb, answer, IPV6_HLEN) ||
	    bpf_skb_store_bytes(skb, ETH_HLEN, outer, IPV6_HLEN, BPF_F_INVALIDATE_HASH) < 0 ||
	    up_store(skb, answer, ETH_HLEN + IPV6_HLEN) < 0)
		return up_dropped(COUNT_MC_UP_FAILED);
	return TC_NEXT;
}

// Sends the answer up from the role `state`, whose `current` it was made of. Returns a verdict. A global function.
__noinline int multicast_send_up(struct __sk_buff *skb, struct multicast_answer *answer, __u32 state, __u64 current)
{
	__u32 parent = CURRENT_PARENT(current);
	const struct multicast_group *group = multicast_group_at(state >> 1);
	if (!answer || !group)
		return TC_DROP;
	if (parent == 0)
		return group->flags & MULTICAST_ROOT ? up_to_source(skb, answer, group)
						     : up_dropped(COUNT_MC_NO_PARENT);
	const struct address *sid = bpf_map_lookup_elem(&multicast_router_sids, &parent);
	if (!sid || (sid->halves[0] | sid->halves[1]) == 0)
		return up_dropped(COUNT_MC_NO_PARENT);
	int is_edge = (state & 1) == MULTICAST_AS_EDGE;
	return up_to_parent(skb, answer, is_edge ? &group->edge : &group->replication, sid, CURRENT_EPOCH(current));
}

#endif
