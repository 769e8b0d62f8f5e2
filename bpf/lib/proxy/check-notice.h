// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether an arriving notice is to be believed: its source is on the allow-list, its lengths and checksum are right,
// the reverse path leads to its source, and its tuple fits its invoking packet (invoking-packet.h).
#ifndef CNPD_PROXY_CHECK_NOTICE_H
#define CNPD_PROXY_CHECK_NOTICE_H

#include "wire/notice-to-proxy.h"
#include "wire/tunnel-ended.h"
#include "proxy/invoking-packet.h"

// A tuple of either family is read, so the packet must be long enough for both.
#define NOTICE_MIN (UDP_HLEN + TUPLE_SIZE_IPV6)

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

static __always_inline int notice_length(struct __sk_buff *skb, __u32 offset, __u32 length, __u32 available,
					 __u32 limit)
{
	if (length > limit)
		return COUNT_PROXY_TOO_LONG;
	return length < NOTICE_MIN || length > available || offset + length > skb->len ? COUNT_PROXY_TRUNCATED
										       : NOTICE_GOOD;
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
	__builtin_memcpy(&notice->destination, scratch->datagram + 16, 16);
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
	address_map_ipv4(&notice->destination, ip[4]);
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

// Whether the notice may come from the router that it names as its source. This router's own builder tags its notices;
// those that arrive at a port, or in a tunnel that ended here, must pass the reverse-path check.
static __always_inline int notice_bearer(struct __sk_buff *skb, const struct notice *notice)
{
	struct address origin;
	if (skb->ifindex == LOOPBACK_IFINDEX)
		return skb->cb[CB_WORD_TAG] == CB_TAG ? NOTICE_GOOD : COUNT_PROXY_NOT_BUILT;
	if (tunnel_ended(skb, &origin)) {
		if (!is_tunnel_known(&origin, 2))
			return COUNT_PROXY_NOT_ALLOWED;
		if (!is_believed(skb, &origin, &notice->destination, skb->ifindex | PORT_TUNNEL))
			return COUNT_PROXY_WRONG_PORT;
	}
	return is_believed_lately(skb, &notice->source, &notice->destination, skb->ifindex) ? NOTICE_GOOD
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

#endif
