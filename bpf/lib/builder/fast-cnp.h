// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Fast CNP (FCNP §3, §4): a CNP to the data sender itself, whose Destination Options header names the receiver,
// because its BTH names the receiver's Queue Pair: the sender finds its own by the two. Option 2 adds the IOAM trace
// data that the packet had gathered up to here; trace data that option 2 cannot carry leave option 1 (decision B4).
#ifndef CNPD_BUILDER_FAST_CNP_H
#define CNPD_BUILDER_FAST_CNP_H

#include "builder/frame.h"
#include "wire/fast-cnp.h"

#define OPTION_IOAM 0x31	 // hop-by-hop, RFC 9486 §4
#define IOAM_TRACE_INCREMENTAL 1 // 0: preallocated (RFC 9197 §4.4)
// Option data of an IOAM trace: reserved, type, 8 bytes of trace header, node data (RFC 9197 §4.4). With an address it
// must fit 255 bytes.
#define IOAM_TRACE_MIN 10
#define IOAM_TRACE_MAX 238
#define IOAM_OPTIONS 16 // of a hop-by-hop header, that are inspected

enum trace { TRACE_NONE, TRACE_FOUND, TRACE_UNUSABLE };

// Looks for an IOAM trace in the Hop-by-Hop Options header of the IPv6 header at `ip`. Found: its data are `*size`
// bytes at `*at`.
static __noinline int trace_find(struct __sk_buff *skb, __u32 ip, __u32 *at, __u32 *size)
{
	__u8 next, option[4];
	if (bpf_skb_load_bytes(skb, ip + IPV6_NEXT_HEADER, &next, 1) < 0 || next != IPPROTO_HOPOPTS ||
	    bpf_skb_load_bytes(skb, ip + IPV6_HLEN, option, 2) < 0)
		return TRACE_NONE;
	__u32 offset = ip + IPV6_HLEN, end = offset + (option[1] + 1) * 8;
	offset += 2;
#pragma clang loop unroll(disable)
	for (int i = 0; i < IOAM_OPTIONS; i++) {
		// Masked, so that the verifier sees the same bounds in every round.
		offset &= WALK_OFFSET_MASK;
		if (offset + 2 > end || bpf_skb_load_bytes(skb, offset, option, 4) < 0)
			return TRACE_NONE;
		__u32 length = option[1];
		if (option[0] == OPTION_IOAM && option[3] <= IOAM_TRACE_INCREMENTAL) {
			*at = offset + 2;
			*size = length;
			return length >= IOAM_TRACE_MIN && length <= IOAM_TRACE_MAX && length % 4 == 2 &&
					       offset + 2 + length <= end
				       ? TRACE_FOUND
				       : TRACE_UNUSABLE;
		}
		offset += option[0] == 0 ? 1 : 2 + length; // 0: Pad1
	}
	return TRACE_NONE;
}

// Option 1 (FCNP-4-i, FCNP-4-l, FCNP-4-m): the option at offset 2, so that the address is aligned. Returns the header's
// length, or 0.
static __always_inline __u32 put_option1(struct __sk_buff *skb, const struct noticed *about,
					 const struct notice_config *config, __u8 *options)
{
	__u32 *words = (__u32 *)options;
	words[0] = bpf_htonl(IPPROTO_UDP << 24 | (OPTIONS_MIN / 8 - 1) << 16 | config->fast_cnp_option << 8 | 16);
	words[5] = bpf_htonl(OPTION_PADN << 24 | 2 << 16);
	return bpf_skb_load_bytes(skb, about->h.destination, words + 1, 16) < 0 ? 0 : OPTIONS_MIN;
}

// Option 2 (FCNP-4-o, FCNP-4-r, FCNP-4-s): trace data as they came, `size` bytes at `at` of the packet, then the
// address.
static __always_inline __u32 put_option2(struct __sk_buff *skb, const struct noticed *about,
					 const struct notice_config *config, __u8 *options, __u32 at, __u32 size)
{
	opaque(size);
	if (size < IOAM_TRACE_MIN || size > IOAM_TRACE_MAX)
		return 0;
	__u32 length = (22 + size + 7) & ~7u;
	__u8 *address = options + 6 + size;
	options[0] = IPPROTO_UDP;
	options[1] = length / 8 - 1;
	options[2] = OPTION_PADN;
	options[3] = 0;
	options[4] = config->fast_cnp_ioam_option;
	options[5] = size + 16;
	if (bpf_skb_load_bytes(skb, at, options + 6, size) < 0 ||
	    bpf_skb_load_bytes(skb, about->h.destination, address, 16) < 0)
		return 0;
	// To a multiple of 8; when it is one already UDP comes here instead.
	address[16] = OPTION_PADN;
	address[17] = 2;
	address[18] = 0;
	address[19] = 0;
	return length;
}

// One Destination Options header with one option (FCNP-4-h), with the innermost packet's trace, else the outermost's.
static __always_inline __u32 put_options(struct __sk_buff *skb, const struct noticed *about,
					 const struct notice_config *config, __u8 *options)
{
	__u32 at = 0, size = 0;
	int trace = trace_find(skb, about->h.inner, &at, &size);
	if (trace == TRACE_NONE && about->h.outer_family == 6 && about->h.outer != about->h.inner)
		trace = trace_find(skb, about->h.outer, &at, &size);
	if (trace == TRACE_FOUND && config->fast_cnp_ioam_option) {
		count(COUNT_NOTICE_IOAM);
		return put_option2(skb, about, config, options, at, size);
	}
	if (trace != TRACE_NONE)
		count(COUNT_NOTICE_IOAM_UNUSABLE);
	return put_option1(skb, about, config, options);
}

static __noinline int notice_fast_cnp(struct __sk_buff *skb, const struct noticed *about, struct notice_buffer *buffer)
{
	struct egress_config *config = egress_configuration();
	struct notice_config *codes = notice_configuration();
	if (!config || !codes || !codes->fast_cnp_option)
		return notice_refuse(COUNT_NOTICE_FORMAT_OFF);
	if (about->h.inner_family != 6 || !config->has_source6) // FCNP-3-d
		return notice_refuse(COUNT_NOTICE_FAMILY);
	__u32 *ip = buffer->words + BUFFER_IP / 4;
	__u8 *options = (__u8 *)buffer + BUFFER_IP + IPV6_HLEN;
	__u32 size = put_options(skb, about, codes, options);
	opaque(size);
	if (size < OPTIONS_MIN || size > OPTIONS_MAX)
		return notice_refuse(COUNT_NOTICE_STORE_FAILED);
	__u32 *udp = (__u32 *)(options + size);
	struct cnp cnp = { .qpn = BTH_QPN(about->bth.qpn), .sport = about->h.sport, .pkey = about->bth.pkey };
	cnp_transport(udp, &cnp); // FCNP-4-g: the receiver's Queue Pair, as in the packet
	if (put_ipv6_to_sender(skb, about, config, ip, IPPROTO_DSTOPTS, size + CNP_UDP_SIZE) < 0)
		return notice_refuse(COUNT_NOTICE_STORE_FAILED);
	udp[CNP_PAYLOAD_WORDS - 1] = fast_cnp_icrc(ip, (__u32 *)options, size / 4, udp, codes->icrc_skips_options);
	return notice_send(skb, about, config, buffer, IPV6_HLEN + size + CNP_UDP_SIZE, COUNT_NOTICE_FAST_CNP);
}

#endif
