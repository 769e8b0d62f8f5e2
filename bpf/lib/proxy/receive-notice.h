// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A Congestion Notification to Proxy (PNC §4, layout: decisions D1-D4) at the proxy. It is checked, then turned in
// place into the standard CNP for the sender's Queue Pair, which the kernel routes. A failed check is counted, and the
// notice dropped. The checks, in order: source on the allow-list; lengths and checksum; reverse path; tuple and
// invoking packet agree; sender and Queue Pair known; rate limits. The 3-bit level has no place in a CNP.
#ifndef CNPD_PROXY_RECEIVE_NOTICE_H
#define CNPD_PROXY_RECEIVE_NOTICE_H

#include "wire/cnp.h"
#include "proxy/admit-notice.h"
#include "proxy/check-notice.h"
#include "proxy/order-notification.h"

static __always_inline int notice_drop(int problem)
{
	if (problem >= 0 && problem < COUNTERS_MAX)
		count(problem);
	return TC_DROP;
}

// Writes the header of the tunnel to the END.CON from which the invoking packet's tunnel comes (FCN §4.2.2). 0: the
// proxy has no IPv6 address.
static __always_inline int notice_put_tunnel(struct __sk_buff *skb, const struct notice *notice, __u32 *outer)
{
	struct proxy_config *config = proxy_configuration();
	if (!config)
		return 0;
	const struct address *own =
		address_family(config->address.halves) == 6 ? &config->address : &config->other_address;
	__u32 length = notice->family == 6 ? CNP_WORDS_IPV6 * 4 : CNP_WORDS_IPV4 * 4;
	if (address_family(own->halves) != 6 || !(own->halves[0] | own->halves[1]))
		return 0;
	outer[0] = bpf_htonl(6u << 28 | CNP_TRAFFIC_CLASS << 20);
	outer[1] = bpf_htonl(length << 16 | (notice->family == 6 ? IPPROTO_IPV6 : IPPROTO_IPIP) << 8 | CNP_HOP_LIMIT);
	__builtin_memcpy(outer + 2, own->words, 16);
	return bpf_skb_load_bytes(skb, notice->outer + IPV6_SOURCE, outer + 6, 16) == 0;
}

// Rewrites the frame as the CNP, in the tunnel of its tenant if another router has that. Returns 0, or the counter of
// the failure.
static __always_inline int notice_become_cnp(struct __sk_buff *skb, struct notice *notice, __u32 sender_qpn)
{
	struct proxy_scratch *scratch = proxy_memory();
	struct cnp cnp = {
		.source = notice->flow.receiver,
		.destination = notice->flow.sender,
		.qpn = sender_qpn,
		.sport = notice->sport,
		.pkey = notice->pkey,
	};
	if (!scratch)
		return COUNT_PROXY_CNP_FAILED;
	int wrapped = notice_is_tunneled(notice) && notice->flow.tenant & TENANT_PASSING;
	if (wrapped && !notice_put_tunnel(skb, notice, scratch->cnp))
		return COUNT_PROXY_TENANT_UNREACHABLE;
	__u32 family = wrapped ? 6 : notice->family,
	      length = notice->family == 6 ? CNP_WORDS_IPV6 * 4 : CNP_WORDS_IPV4 * 4;
	__be16 type = bpf_htons(family == 6 ? ETH_P_IPV6 : ETH_P_IP);
	if (notice->carrier != family &&
	    (bpf_skb_change_proto(skb, type, 0) < 0 || bpf_skb_store_bytes(skb, 12, &type, 2, 0) < 0))
		return COUNT_PROXY_CNP_FAILED;
	if (notice->family == 6)
		cnp_build_ipv6(scratch->cnp + IPV6_HLEN / 4, &cnp);
	else
		cnp_build_ipv4(scratch->cnp + IPV6_HLEN / 4, &cnp);
	if (wrapped)
		length += IPV6_HLEN;
	opaque(length);
	if (length < CNP_WORDS_IPV4 * 4 || length > IPV6_HLEN + CNP_WORDS_IPV6 * 4)
		return COUNT_PROXY_CNP_FAILED;
	if (bpf_skb_change_tail(skb, ETH_HLEN + length, 0) < 0)
		return COUNT_PROXY_CNP_FAILED;
	int stored = wrapped ? bpf_skb_store_bytes(skb, ETH_HLEN, scratch->cnp, length, BPF_F_INVALIDATE_HASH)
			     : bpf_skb_store_bytes(skb, ETH_HLEN, scratch->cnp + IPV6_HLEN / 4,
						   length > CNP_WORDS_IPV6 * 4 ? CNP_WORDS_IPV6 * 4 : length,
						   BPF_F_INVALIDATE_HASH);
	return stored < 0 ? COUNT_PROXY_CNP_FAILED : 0;
}

// Forwards the CNP by the table of its tenant. The kernel's routing would not choose that table for a packet from the
// core.
static __noinline int notice_to_table(struct __sk_buff *skb, const struct notice *notice)
{
	struct bpf_fib_lookup fib = { .family = notice->family == 6 ? AF_INET6 : AF_INET,
				      .tot_len = CNP_WORDS_IPV6 * 4,
				      .ifindex = skb->ifindex };
	struct bpf_redir_neigh gateway = {};
	if (notice->family == 6) {
		__builtin_memcpy(fib.ipv6_src, notice->flow.receiver.words, 16);
		__builtin_memcpy(fib.ipv6_dst, notice->flow.sender.words, 16);
	} else {
		fib.ipv4_src = notice->flow.receiver.words[3];
		fib.ipv4_dst = notice->flow.sender.words[3];
	}
	fib.tbid = notice->flow.tenant;
	if (fib_lookup_route(skb, &fib, BPF_FIB_LOOKUP_DIRECT | BPF_FIB_LOOKUP_TBID) != BPF_FIB_LKUP_RET_SUCCESS)
		return notice_drop(COUNT_PROXY_TENANT_UNREACHABLE);
	gateway.nh_family = fib.family;
	if (fib.family == AF_INET6)
		__builtin_memcpy(gateway.ipv6_nh, fib.ipv6_dst, 16);
	else
		gateway.ipv4_nh = fib.ipv4_dst;
	count(COUNT_PROXY_CNPS);
	return bpf_redirect_neigh(fib.ifindex, &gateway, sizeof(gateway), 0);
}

static __always_inline void notice_record_latency(__u64 ns)
{
	__u32 octave = 0;
	__u64 rest = ns;
#pragma clang loop unroll(full)
	for (__u32 step = 16; step; step >>= 1) {
		if (rest >> step) {
			rest >>= step;
			octave += step;
		}
	}
	__u32 bucket = octave < 2 ? octave * 4 : octave * 4 + (ns >> (octave - 2) & 3);
	__u64 *tally = bpf_map_lookup_elem(&proxy_latency, &bucket);
	if (tally)
		(*tally)++;
}

// Handles a UDP packet, unfragmented and without options or extension headers, to the proxy's address and port.
static __noinline int notice_arrived(struct __sk_buff *skb, __u32 family)
{
	__u64 entered = bpf_ktime_get_ns();
	struct notice notice = { .carrier = family };
	__u32 sender_qpn = 0;
	int problem = notice_check(skb, &notice);
	count(COUNT_PROXY_NOTICES);
	if (problem == NOTICE_GOOD)
		problem = notice_admit(&notice, &sender_qpn);
	if (problem != NOTICE_GOOD)
		return notice_drop(problem);
	if (notice.format != FORMAT_PROXY)
		return notice_order(skb, &notice, sender_qpn);
	problem = notice_become_cnp(skb, &notice, sender_qpn);
	if (problem)
		return notice_drop(problem);
	if (notice_is_tunneled(&notice) && !(notice.flow.tenant & TENANT_PASSING))
		return notice_to_table(skb, &notice);
	count(COUNT_PROXY_CNPS);
	notice_record_latency(bpf_ktime_get_ns() - entered);
	return TC_NEXT;
}

#endif
