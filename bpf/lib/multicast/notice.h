// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fast CNPs (FCNP §4) about copies behind an edge. Such a copy has the Proxy Address as its source, so a congested
// router sends its Fast CNP there. It names the receiver in its option and the receiver's Queue Pair in its BTH. The
// edge takes it for a CNP of that receiver: it counts in the same window, and comes to the source as a CNP (RMC-1.1-b).
// Everything that the source could not use is left out: the trace of option 2, and the address of the router.
//
// Who is believed (FCNP-5-c): this router's own builder, by the tag that no local user can write (builder/order.h), and
// addresses that routers of the domain advertise, if they are routed to the port at which the packet came. The ICRC is
// not verified. Nothing but the receiver is taken from the packet, and it must be a member with this very Queue Pair.
#ifndef CNPD_MULTICAST_NOTICE_H
#define CNPD_MULTICAST_NOTICE_H

#include "builder/order.h"
#include "multicast/answer.h"

#define NOTICE_OPTIONS (ETH_HLEN + IPV6_HLEN)
#define NOTICE_OPTIONS_MIN 24
#define NOTICE_OPTIONS_MAX 264
#define NOTICE_PADN 1
#define NOTICE_TRACE_MIN 10 // octets in front of the address in option 2

static __always_inline int notice_is_believed(struct __sk_buff *skb, const struct address *source,
					      const struct address *proxy)
{
	if (skb->ifindex == LOOPBACK_IFINDEX)
		return skb->cb[CB_WORD_TAG] == CB_TAG;
	return bpf_map_lookup_elem(&multicast_notifiers, source) && answer_came_from(skb, source, proxy);
}

// Offset of the receiver's address in the Destination Options header that begins with these six octets; 0: there is no
// Fast CNP option.
static __always_inline __u32 notice_receiver_at(const __u8 *options, const struct multicast_config *config)
{
	if (options[2] == config->fast_cnp_option && options[3] == 16)
		return 4;
	if (config->fast_cnp_ioam_option && options[2] == NOTICE_PADN && options[3] == 0 &&
	    options[4] == config->fast_cnp_ioam_option && options[5] >= NOTICE_TRACE_MIN + 16)
		return 6 + options[5] - 16;
	return 0;
}

// Reads what a Fast CNP is about: receiver and Queue Pair, and what a CNP repeats. Returns the length of its options.
// 0: it is none.
static __always_inline __u32 notice_read(struct __sk_buff *skb, struct cnp *cnp)
{
	__u32 zero = 0, udp[CNP_PAYLOAD_WORDS], ip[2];
	__u8 options[6];
	const struct multicast_config *config = bpf_map_lookup_elem(&multicast_config, &zero);
	if (!config || bpf_skb_load_bytes(skb, ETH_HLEN, ip, sizeof(ip)) < 0 ||
	    bpf_skb_load_bytes(skb, NOTICE_OPTIONS, options, sizeof(options)) < 0)
		return 0;
	__u32 size = (options[1] + 1) * 8, at = notice_receiver_at(options, config);
	if (options[0] != IPPROTO_UDP || size < NOTICE_OPTIONS_MIN || size > NOTICE_OPTIONS_MAX || at == 0 ||
	    at + 16 > size || bpf_ntohl(ip[1]) >> 16 != size + CNP_UDP_SIZE)
		return 0;
	if (bpf_skb_load_bytes(skb, NOTICE_OPTIONS + at, &cnp->source, 16) < 0 ||
	    bpf_skb_load_bytes(skb, NOTICE_OPTIONS + size, udp, sizeof(udp)) < 0)
		return 0;
	__u32 bth = bpf_ntohl(udp[2]);
	if ((bpf_ntohl(udp[0]) & 0xffff) != ROCE_UDP_PORT || bpf_ntohl(udp[1]) >> 16 != CNP_UDP_SIZE ||
	    bth >> 24 != ROCE_OPCODE_CNP || (bth >> 16 & BTH_VERSION))
		return 0;
	cnp->qpn = BTH_QPN(udp[3]);
	cnp->sport = bpf_htons(bpf_ntohl(udp[0]) >> 16);
	cnp->pkey = bpf_htons(bth & 0xffff);
	return size;
}

// A packet with Destination Options to the Proxy Address of a group of which this router is an edge. Nothing else about
// it is checked. Returns a verdict. A global function: the verifier checks it once.
__noinline int multicast_notice(struct __sk_buff *skb, __u32 group)
{
	struct multicast_answer answer = { .is_cnp = 1 };
	struct multicast_claim claim = { .state = MULTICAST_STATE(group, MULTICAST_AS_EDGE) };
	const struct multicast_group *own = multicast_group_at(group);
	struct address source;
	struct cnp cnp = {};
	if (!own)
		return TC_DROP;
	__u32 options = notice_read(skb, &cnp);
	if (options == 0)
		return up_dropped(COUNT_MC_PROXY_MALFORMED);
	if (bpf_skb_load_bytes(skb, ETH_HLEN + IPV6_SOURCE, &source, 16) < 0 ||
	    !notice_is_believed(skb, &source, &own->proxy))
		return up_dropped(COUNT_MC_NOTICE_FOREIGN);
	skb->cb[CB_WORD_TAG] = 0;
	if (!claim_of(&claim, &cnp.source))
		return TC_DROP;
	const struct multicast_branch *branch = multicast_branch_at(claim.slot);
	if (!branch || branch->qpn != cnp.qpn)
		return up_dropped(COUNT_MC_ANSWER_STRANGER);
	count(COUNT_MC_NOTICES);
	if (!cnp_climb(&claim, bpf_ktime_get_ns()))
		return TC_DROP;
	// What is left has the length of a CNP. The kernel does not cut off a tail that it takes for the transport
	// header.
	if (bpf_skb_adjust_room(skb, -(__s32)options, BPF_ADJ_ROOM_MAC, 0) < 0)
		return up_dropped(COUNT_MC_UP_FAILED);
	cnp.destination = own->proxy;
	cnp.qpn = own->designated_qpn;
	cnp_build_ipv6(answer.words, &cnp);
	cnp_stand_for(&answer, &claim);
	return multicast_send_up(skb, &answer, claim.state, claim.current);
}

#endif
