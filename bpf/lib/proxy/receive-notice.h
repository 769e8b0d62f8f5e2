// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A Congestion Notification to Proxy (PNC §4, layout: decisions D1-D4) at the proxy: checked, then turned in place into
// the standard CNP for the sender's Queue Pair, which the kernel routes on. Whatever does not hold is a counter and a
// drop. The order: who may say it, is it intact, did it come from where its source is, is it true to the packet that it
// carries, do we know the sender and its Queue Pair, is it too soon. The 3-bit level has no place in a CNP.
#ifndef CNPD_PROXY_RECEIVE_NOTICE_H
#define CNPD_PROXY_RECEIVE_NOTICE_H

#include "wire/cnp.h"
#include "wire/notice-to-proxy.h"
#include "wire/tunnel-ended.h"
#include "proxy/invoking-packet.h"
#include "proxy/order-notification.h"

// A tuple of either family is read, so both must have come with this packet.
#define NOTICE_MIN (UDP_HLEN + TUPLE_SIZE_IPV6)

// --- Is it intact? ---

// Reads the datagram of `length` bytes at `offset` into scratch memory and verifies its checksum; `sum` is that of the
// addresses.
static __always_inline int notice_read(struct __sk_buff *skb, struct proxy_scratch *scratch, __u32 offset, __u32 length,
				       __u32 sum)
{
	__u8 *datagram = scratch->datagram;
	opaque(length);
	if (length < NOTICE_MIN || length > NOTICE_MAX_IPV6)
		return COUNT_PROXY_TRUNCATED;
	if (bpf_skb_load_bytes(skb, offset, datagram, length) < 0)
		return COUNT_PROXY_TRUNCATED;
	*(__u32 *)(datagram + length) = 0; // whole words are summed
	sum = csum_add_bytes(datagram, length, sum);
	return csum_fold(sum) == 0 ? NOTICE_GOOD : COUNT_PROXY_BAD_CHECKSUM;
}

static __always_inline int notice_length(struct __sk_buff *skb, __u32 offset, __u32 length, __u32 room, __u32 limit)
{
	if (length > limit)
		return COUNT_PROXY_TOO_LONG;
	return length < NOTICE_MIN || length > room || offset + length > skb->len ? COUNT_PROXY_TRUNCATED : NOTICE_GOOD;
}

static __always_inline int notice_carrier_ipv6(struct __sk_buff *skb, struct proxy_scratch *scratch,
					       struct notice *notice)
{
	__be16 payload, length;
	__u32 udp = ETH_HLEN + IPV6_HLEN, check;
	if (bpf_skb_load_bytes(skb, ETH_HLEN + IPV6_PAYLOAD_LENGTH, &payload, 2) < 0 ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + IPV6_SOURCE, scratch->datagram, 32) < 0 ||
	    bpf_skb_load_bytes(skb, udp + UDP_LENGTH, &check, 4) < 0)
		return COUNT_PROXY_TRUNCATED;
	__builtin_memcpy(&notice->source, scratch->datagram, 16);
	__builtin_memcpy(&notice->goal, scratch->datagram + 16, 16);
	if (!proxy_match(&proxy_sources, &notice->source))
		return COUNT_PROXY_NOT_ALLOWED;
	length = bpf_ntohs(check & 0xffff);
	int problem = notice_length(skb, udp, length, bpf_ntohs(payload), NOTICE_MAX_IPV6);
	if (problem != NOTICE_GOOD)
		return problem;
	if (check >> 16 == 0)
		return COUNT_PROXY_NO_CHECKSUM;
	notice->end = udp + length;
	__u32 sum = csum_add_bytes(scratch->datagram, 32, bpf_htonl(length + IPPROTO_UDP));
	return notice_read(skb, scratch, udp, length, sum);
}

// The header has no options. The kernel has not checked its checksum yet.
static __always_inline int notice_carrier_ipv4(struct __sk_buff *skb, struct proxy_scratch *scratch,
					       struct notice *notice)
{
	__u32 *ip = scratch->words;
	__u32 udp = ETH_HLEN + IPV4_HLEN;
	if (bpf_skb_load_bytes(skb, ETH_HLEN, ip, IPV4_HLEN + UDP_HLEN) < 0)
		return COUNT_PROXY_TRUNCATED;
	address_map_ipv4(&notice->source, ip[3]);
	address_map_ipv4(&notice->goal, ip[4]);
	if (!proxy_match(&proxy_sources, &notice->source))
		return COUNT_PROXY_NOT_ALLOWED;
	if (csum_fold(csum_add_bytes(ip, IPV4_HLEN, 0)) != 0)
		return COUNT_PROXY_BAD_CHECKSUM;
	__u32 total = bpf_ntohl(ip[0]) & 0xffff, length = bpf_ntohl(ip[6]) >> 16;
	int problem = notice_length(skb, udp, length, total < IPV4_HLEN ? 0 : total - IPV4_HLEN, NOTICE_MAX_IPV4);
	if (problem != NOTICE_GOOD)
		return problem;
	notice->end = udp + length;
	if ((bpf_ntohl(ip[6]) & 0xffff) == 0) // "not computed", which IPv4 allows
		return bpf_skb_load_bytes(skb, udp, scratch->datagram, NOTICE_MIN) < 0 ? COUNT_PROXY_TRUNCATED
										       : NOTICE_GOOD;
	__u32 sum = csum_add_bytes(ip + 3, 8, bpf_htonl(length + IPPROTO_UDP));
	return notice_read(skb, scratch, udp, length, sum);
}

// Whether the router that the notice says it is from may have sent it: what this one sends itself its builder has
// tagged, and what comes by a port, or has come in a tunnel that ended here, by the way back.
static __always_inline int notice_bearer(struct __sk_buff *skb, const struct notice *notice)
{
	struct address origin;
	if (skb->ifindex == LOOPBACK_IFINDEX)
		return skb->cb[CB_WORD_TAG] == CB_TAG ? NOTICE_GOOD : COUNT_PROXY_NOT_BUILT;
	if (tunnel_ended(skb, &origin)) {
		if (!is_tunnel_known(&origin, 2))
			return COUNT_PROXY_NOT_ALLOWED;
		if (!is_believed(skb, &origin, &notice->goal, skb->ifindex | PORT_TUNNEL))
			return COUNT_PROXY_WRONG_PORT;
	}
	return is_believed_lately(skb, &notice->source, &notice->goal, skb->ifindex) ? NOTICE_GOOD
										     : COUNT_PROXY_WRONG_PORT;
}

__noinline int notice_check(struct __sk_buff *skb, struct notice *notice)
{
	struct proxy_scratch *scratch = proxy_memory();
	__u32 zero = 0;
	struct notice_readings *readings = bpf_map_lookup_elem(&notice_readings, &zero);
	if (!notice || !scratch || !readings)
		return COUNT_PROXY_CNP_FAILED;
	int problem = notice->carrier == 6 ? notice_carrier_ipv6(skb, scratch, notice)
					   : notice_carrier_ipv4(skb, scratch, notice);
	if (problem != NOTICE_GOOD)
		return problem;
	problem = notice_bearer(skb, notice);
	if (problem != NOTICE_GOOD)
		return problem;
	if (skb->len > skb->data_end - skb->data && bpf_skb_pull_data(skb, skb->len) < 0)
		return COUNT_PROXY_CNP_FAILED;
	problem = notice_decide(skb, scratch, notice, readings);
	if (problem != NOTICE_GOOD)
		return problem;
	return notice_flow(skb, scratch, notice, notice->family == 4 ? &readings->as_ipv4 : &readings->as_ipv6);
}

// --- Do we know the Queue Pair, and is it too soon? ---

static __always_inline int bucket_full(__u64 *bucket, struct proxy_config *config, __u64 burst_ns, __u64 now)
{
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 arrival = *(volatile __u64 *)bucket;
		__u64 base = arrival > now ? arrival : now;
		if (base - now > burst_ns)
			return 1;
		if (__sync_val_compare_and_swap(bucket, arrival, base + config->notice_spacing_ns) == arrival)
			return 0;
	}
	return 1;
}

// PNC-6-b: both limits hold on any number of CPUs, because each is one word that only one of them can change. Datagrams
// have half of the burst: no table says which of them exist, so whoever invents some takes nothing from connections,
// which go first at any rate.
static __always_inline int notice_limits(__u64 *last_cnp, struct proxy_config *config, __u64 burst_ns, __u64 now)
{
	__u32 zero = 0;
	__u64 *bucket = bpf_map_lookup_elem(&proxy_bucket, &zero);
	__u64 last = *(volatile __u64 *)last_cnp;
	if (last != 0 && (__s64)(now - last) < (__s64)config->flow_interval_ns)
		return COUNT_PROXY_FLOW_LIMITED;
	if (!bucket || bucket_full(bucket, config, burst_ns, now))
		return COUNT_PROXY_RATE_LIMITED;
	if (__sync_val_compare_and_swap(last_cnp, last, now) != last)
		return COUNT_PROXY_FLOW_LIMITED;
	return NOTICE_GOOD;
}

// A datagram names its sender's Queue Pair itself. What it says is not believed if that one is known to be a
// connection's: whoever says so is not its sender.
__noinline int notice_admit_datagram(struct notice *notice, __u32 *sender_qpn)
{
	struct proxy_config *config = proxy_configuration();
	__u64 now = bpf_ktime_get_ns(), never = 0;
	if (!notice || !sender_qpn || !config)
		return COUNT_PROXY_CNP_FAILED;
	struct qp_flow key = notice->flow;
	if (queue_pair_is_connected(&key, notice->datagram_qpn))
		return COUNT_PROXY_DATAGRAM;
	__u64 *last = bpf_map_lookup_elem(&proxy_datagrams, &key);
	if (!last) {
		bpf_map_update_elem(&proxy_datagrams, &key, &never, BPF_NOEXIST);
		last = bpf_map_lookup_elem(&proxy_datagrams, &key);
		if (!last)
			return COUNT_PROXY_CNP_FAILED;
	}
	*sender_qpn = notice->datagram_qpn;
	return notice_limits(last, config, config->burst_ns / 2, now);
}

// What may be used of a flow for a CNP: not what has had its CNPs without an answer, however quickly they followed each
// other. Its requests are looked at as those of an unknown connection from then on, so that three answers of another
// peer replace it.
static __always_inline struct queue_pair *queue_pair_usable(const struct qp_flow *flow,
							    const struct proxy_config *config, __u64 now)
{
	struct queue_pair *pair = bpf_map_lookup_elem(&static_queue_pairs, flow);
	if (pair)
		return pair;
	pair = queue_pair_learned(flow);
	if (pair && pair->waiting && queue_pair_is_spent(flow, pair) && !pair->doubtful) {
		count(COUNT_QP_DOUBTFUL);
		pair->doubtful = 1;
	}
	return queue_pair_holds(pair, config, now) ? pair : 0;
}

__noinline int notice_admit(struct notice *notice, __u32 *sender_qpn)
{
	struct proxy_config *config = proxy_configuration();
	__u64 now = bpf_ktime_get_ns();
	if (!notice || !sender_qpn || !config)
		return COUNT_PROXY_CNP_FAILED;
	struct proxy_prefix *senders = proxy_match(&proxy_senders, &notice->flow.sender);
	if (!senders)
		return COUNT_PROXY_SENDER_UNKNOWN;
	notice->format = senders->format;
	if (notice->datagram_qpn)
		return notice_admit_datagram(notice, sender_qpn);
	struct queue_pair *pair = queue_pair_usable(&notice->flow, config, now);
	if (!pair) {
		pair = queue_pair_learned(&notice->flow);
		return pair && pair->doubtful ? COUNT_PROXY_QP_DOUBTFUL : COUNT_PROXY_QP_UNKNOWN;
	}
	*sender_qpn = pair->sender_qpn;
	int problem = notice_limits(&pair->last_cnp, config, config->burst_ns, now);
	if (problem != NOTICE_GOOD)
		return problem;
	__sync_fetch_and_add(&pair->cnps, 1);
	if (pair->waiting)
		pair->unanswered_cnps++; // within the flow's interval nobody else is here
	// The entry may have been removed and its memory given to another flow meanwhile. What a second look-up
	// confirms was right.
	pair = queue_pair_of(&notice->flow, config, now);
	return pair && pair->sender_qpn == *sender_qpn ? NOTICE_GOOD : COUNT_PROXY_QP_UNKNOWN;
}

// --- The CNP ---

static __always_inline int notice_drop(int problem)
{
	if (problem >= 0 && problem < COUNTERS_MAX)
		count(problem);
	return TC_DROP;
}

// The header of the tunnel to the END.CON that the invoking packet's tunnel comes from (FCN §4.2.2). 0: the proxy has
// no IPv6 address.
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

// The frame becomes the CNP, in the tunnel of its tenant if that is of another router. 0, or what is counted.
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
	int wrapped = notice_is_tunnelled(notice) && notice->flow.tenant & TENANT_PASSING;
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

// Sends the CNP on by the table that its tenant is, which the kernel's routing would not choose for what comes from the
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
	if (bpf_fib_lookup(skb, &fib, sizeof(fib),
			   BPF_FIB_LOOKUP_SKIP_NEIGH | BPF_FIB_LOOKUP_DIRECT | BPF_FIB_LOOKUP_TBID) !=
	    BPF_FIB_LKUP_RET_SUCCESS)
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

// A UDP packet, unfragmented and without options or extension headers, to the proxy's address and port.
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
	if (notice_is_tunnelled(&notice) && !(notice.flow.tenant & TENANT_PASSING))
		return notice_to_table(skb, &notice);
	count(COUNT_PROXY_CNPS);
	notice_record_latency(bpf_ktime_get_ns() - entered);
	return TC_NEXT;
}

#endif
