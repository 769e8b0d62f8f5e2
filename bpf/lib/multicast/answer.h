// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Answers on their way up the tree: what receivers and children send is checked (RMC-9-b), aggregated, and sent on to
// the parent or the source.
#ifndef CNPD_MULTICAST_ANSWER_H
#define CNPD_MULTICAST_ANSWER_H

#include "multicast/upstream.h"
#include "multicast/windows.h"

#define ROCE_OPCODE_ACK 0x11 // RC: ACK, NAK and RNR NAK, by the AETH

static __always_inline int answer_has_syndrome(__u8 syndrome)
{
	__u32 kind = syndrome & AETH_KIND;
	return !(syndrome & 0x80) &&
	       (kind == AETH_ACK || kind == AETH_RNR || (kind == AETH_NAK && syndrome <= AETH_FATAL_LAST));
}

// Reads an answer of exactly `size` octets at `offset`. 0: the packet is shorter.
static __always_inline int answer_read(struct __sk_buff *skb, __u32 offset, struct multicast_answer *answer)
{
	__u8 opcode;
	if (bpf_skb_load_bytes(skb, offset + ANSWER_BTH * 4, &opcode, 1) < 0)
		return 0;
	answer->is_cnp = opcode == ROCE_OPCODE_CNP;
	return answer->is_cnp ? bpf_skb_load_bytes(skb, offset, answer->words, CNP_WORDS_IPV6 * 4) == 0
			      : opcode == ROCE_OPCODE_ACK &&
					bpf_skb_load_bytes(skb, offset, answer->words, ANSWER_WORDS * 4) == 0;
}

// Whether the answer is one, byte by byte: plain IPv6 and UDP, lengths exact, BTH of this group. Counted. The ICRC is
// verified, for it is computed anew: damage must not become valid.
static __always_inline int answer_is_valid(struct __sk_buff *skb, __u32 offset, struct multicast_answer *answer,
					   const struct multicast_group *group)
{
	const __u32 *words = answer->words;
	__u32 length = answer_size(answer) - IPV6_HLEN, bth = bpf_ntohl(words[ANSWER_BTH]);
	if (bpf_ntohl(words[0]) >> 28 != 6 || bpf_ntohl(words[1]) >> 8 != (length << 8 | IPPROTO_UDP) ||
	    (bpf_ntohl(words[ANSWER_UDP]) & 0xffff) != ROCE_UDP_PORT ||
	    bpf_ntohl(words[ANSWER_UDP + 1]) >> 16 != length || (bth >> 16 & BTH_VERSION) ||
	    BTH_QPN(words[ANSWER_BTH + 1]) != group->designated_qpn ||
	    (!answer->is_cnp && !answer_has_syndrome(bpf_ntohl(words[ANSWER_AETH]) >> 24))) {
		count(COUNT_MC_ANSWER_MALFORMED);
		return 0;
	}
	__u32 crc = answer_icrc(answer);
	if (crc != (answer->is_cnp ? words[CNP_WORDS_IPV6 - 1] : words[ANSWER_WORDS - 1])) {
		count(COUNT_MC_ANSWER_ICRC);
		return 0;
	}
	return 1;
}

// RMC-9-b: the host's route leads to the port at which its packet came, or both are core ports. A route into a tunnel
// leads into the core.
static __always_inline int came_from(struct __sk_buff *skb, const struct address *host, const struct address *proxy,
				     __u32 port)
{
	// With a length of its own the look-up does not check whether the packet at hand fits the MTU of that route.
	struct bpf_fib_lookup fib = { .family = AF_INET6, .tot_len = 1, .ifindex = port };
	__builtin_memcpy(fib.ipv6_src, proxy, 16);
	__builtin_memcpy(fib.ipv6_dst, host, 16);
	int found = bpf_fib_lookup(skb, &fib, sizeof(fib), 0);
	if (found == BPF_FIB_LKUP_RET_UNSUPP_LWT)
		return multicast_is_core(port);
	if (found != BPF_FIB_LKUP_RET_SUCCESS && found != BPF_FIB_LKUP_RET_NO_NEIGH)
		return 0;
	return fib.ifindex == port || (multicast_is_core(fib.ifindex) && multicast_is_core(port));
}

static __always_inline int answer_came_from(struct __sk_buff *skb, const struct address *host,
					    const struct address *proxy)
{
	return came_from(skb, host, proxy, skb->ifindex);
}

// A CNP through the roles of this router. 1: one leaves it, from claim->state, for the branch claim->slot.
static __always_inline int cnp_climb(struct multicast_claim *claim, __u64 now)
{
	struct multicast_upward up = {};
	int stale = 0;
	if (!multicast_cnp(claim, now))
		return 0;
	up.current = claim->current;
	if (climb_local(claim, &up, &stale))
		return multicast_cnp(claim, now);
	return !stale;
}

// The CNP stands for the branch with the highest count: its address, a receiver's or a child's SID, is the source
// inside, until the root replaces it.
static __always_inline void cnp_stand_for(struct multicast_answer *answer, const struct multicast_claim *claim)
{
	const struct multicast_branch *branch = multicast_branch_at(claim->slot);
	const struct multicast_group *group = multicast_group_at(claim->state >> 1);
	count(COUNT_MC_UP_CNP);
	if (!branch || !group)
		return;
	int is_local = (branch->address.halves[0] | branch->address.halves[1]) == 0;
	__builtin_memcpy(answer->words + 2, is_local ? &group->edge : &branch->address, 16);
}

static __always_inline void answer_heard(__u32 slot, __u64 now)
{
	struct multicast_record *record = multicast_record_at(slot);
	if (record)
		word_write(&record->heard_ns, now);
}

// Takes a checked answer of the branch claim->slot. Returns a verdict.
static __always_inline int answer_take(struct __sk_buff *skb, struct multicast_answer *answer,
				       struct multicast_claim *claim, __u32 psn_delta)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 slot = claim->slot;
	answer_heard(slot, now);
	if (answer->is_cnp) {
		if (!cnp_climb(claim, now))
			return TC_DROP;
		cnp_stand_for(answer, claim);
		return multicast_send_up(skb, answer, claim->state, claim->current);
	}
	struct multicast_upward up = {};
	__u32 aeth = bpf_ntohl(answer->words[ANSWER_AETH]);
	claim->syndrome = aeth >> 24;
	claim->msn = aeth & PSN_MASK;
	claim->next = (BTH_PSN(answer->words[ANSWER_BTH + 2]) - psn_delta + !nak_rank(claim->syndrome)) & PSN_MASK;
	int goes_up = multicast_climb(claim, &up);
	if (claim->slot != slot) // the tree's local branch
		answer_heard(claim->slot, now);
	if (!goes_up)
		return TC_DROP;
	answer->words[ANSWER_BTH + 2] = bpf_htonl(up.psn);
	answer->words[ANSWER_AETH] = bpf_htonl((__u32)up.syndrome << 24 | up.msn);
	return multicast_send_up(skb, answer, claim->state, up.current);
}

// A packet from a host to the Proxy Address of a group of which this router is an edge: IPv6 without extension headers,
// UDP to port 4791, and a whole BTH, at most 40 + 8 + 12 octets behind Ethernet in linear memory. Its opcode is
// ROCE_OPCODE_ACK or ROCE_OPCODE_CNP. Nothing else about it is checked. Returns a verdict. A global function.
__noinline int multicast_answer_from_host(struct __sk_buff *skb, __u32 group)
{
	struct multicast_answer answer = {};
	struct multicast_claim claim = { .state = MULTICAST_STATE(group, MULTICAST_AS_EDGE) };
	const struct multicast_group *own = multicast_group_at(group);
	if (!own)
		return TC_DROP;
	count(COUNT_MC_ANSWERS_HOST);
	if (!answer_read(skb, ETH_HLEN, &answer))
		return up_dropped(COUNT_MC_ANSWER_MALFORMED);
	if (!answer_is_valid(skb, ETH_HLEN, &answer, own))
		return TC_DROP;
	struct address receiver;
	__builtin_memcpy(&receiver, answer.words + 2, 16);
	if (!claim_of(&claim, &receiver))
		return TC_DROP;
	if (!answer_came_from(skb, &receiver, &own->proxy))
		return up_dropped(COUNT_MC_ANSWER_WRONG_PORT);
	const struct multicast_branch *branch = multicast_branch_at(claim.slot);
	return branch ? answer_take(skb, &answer, &claim, branch->psn_delta) : TC_DROP;
}

// A packet without SRH from a core port to this router's own replication SID: the outer IPv6 header, in linear memory,
// has next header 41. Nothing else is checked. Returns a verdict. A global function.
__noinline int multicast_answer_from_child(struct __sk_buff *skb)
{
	struct multicast_answer answer = { .outer = IPV6_HLEN };
	__u32 outer[IPV6_HLEN / 4];
	count(COUNT_MC_ANSWERS_CHILD);
	if (bpf_skb_load_bytes(skb, ETH_HLEN, outer, sizeof(outer)) < 0 ||
	    !answer_read(skb, ETH_HLEN + IPV6_HLEN, &answer) || bpf_ntohl(outer[1]) >> 16 != answer_size(&answer))
		return up_dropped(COUNT_MC_ANSWER_MALFORMED);
	const struct multicast_destination *to = bpf_map_lookup_elem(&multicast_destinations, answer.words + 6);
	const struct multicast_group *own = to && to->kind == MULTICAST_PROXY ? multicast_group_at(to->group) : 0;
	struct address sid, child;
	__builtin_memcpy(&child, outer + 2, 16);
	__builtin_memcpy(&sid, outer + 6, 16);
	if (!own || !same_address(&own->replication, &sid))
		return up_dropped(COUNT_MC_ANSWER_STRANGER);
	if (!answer_is_valid(skb, ETH_HLEN + IPV6_HLEN, &answer, own))
		return TC_DROP;
	struct multicast_claim claim = { .state = MULTICAST_STATE(to->group, MULTICAST_AS_BRANCHING) };
	if (!claim_of(&claim, &child) || !claim_is_of(&claim, bpf_ntohl(outer[0]) & EPOCH_MASK))
		return TC_DROP;
	return answer_take(skb, &answer, &claim, 0);
}

#define WINDOW_PACKET 64
#define WINDOW_SPORT 0xc000

// The program `multicast_close_window`, which the agent runs on a packet that it has made: 14 octets of Ethernet, then
// the number of the group state (MULTICAST_STATE), u32 in the machine's byte order, then zeros up to 64 octets. If the
// window of that state is over, the program makes a CNP of the packet and clones it to the loopback device, from where
// the kernel routes it. Returns TC_NEXT if so, else TC_DROP.
static __always_inline int multicast_window_close(struct __sk_buff *skb)
{
	struct window_result result = {};
	struct multicast_answer answer = { .is_cnp = 1 };
	struct multicast_claim claim = {};
	__be16 type = bpf_htons(ETH_P_IPV6);
	__u64 now = bpf_ktime_get_ns();
	if (bpf_skb_load_bytes(skb, ETH_HLEN, &claim.state, 4) < 0)
		return TC_DROP;
	struct multicast_state *state = multicast_state_at(claim.state);
	const struct multicast_group *group = multicast_group_at(claim.state >> 1);
	if (!state || !group)
		return TC_DROP;
	claim.current = word_read(&state->current);
	if (!window_close(state, claim.current, now, 0, &result))
		return TC_DROP;
	claim.slot = result.slot;
	struct multicast_upward up = { .current = claim.current };
	int stale = 0;
	if (climb_local(&claim, &up, &stale) ? !multicast_cnp(&claim, now) : stale)
		return TC_DROP;
	struct cnp cnp = { .destination = group->proxy,
			   .qpn = group->designated_qpn,
			   .sport = bpf_htons(WINDOW_SPORT),
			   .pkey = bpf_htons(0xffff) };
	cnp_build_ipv6(answer.words, &cnp);
	cnp_stand_for(&answer, &claim);
	// The frame grows at its end: the kernel makes no room within one whose type it did not know.
	answer.outer = CURRENT_PARENT(claim.current) ? IPV6_HLEN : 0;
	if (bpf_skb_store_bytes(skb, 12, &type, sizeof(type), 0) < 0 ||
	    multicast_send_up(skb, &answer, claim.state, claim.current) != TC_NEXT ||
	    bpf_clone_redirect(skb, LOOPBACK_IFINDEX, BPF_F_INGRESS) < 0)
		return TC_DROP;
	return TC_NEXT;
}

#endif
