// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads a notification that has arrived for a sender: a Fast CNP (FCNP §4), or a Long-haul CNP in either form (LHCNP
// §6.1, §6.2). It accepts what the agent's codecs accept (src/packet/roce/fast-cnp.ts, long-haul-cnp.ts), with limits
// of its own: 512 bytes, 16 pieces of padding or options, 16 objects. Anything else is refused as a whole.
#ifndef CNPD_SOURCE_READ_H
#define CNPD_SOURCE_READ_H

#include "builder/order.h"
#include "source/maps.h"
#include "wire/checksum.h"
#include "wire/fast-cnp.h"
#include "wire/icrc.h"
#include "wire/roce.h"
#include "wire/walk.h"

// A step returns this, or the index of the counter for the reason to drop.
#define SOURCE_GOOD -1

#define SOURCE_OPTIONS 16
#define SOURCE_OBJECTS 16
#define SOURCE_MASK (SOURCE_PACKET_MAX - 1)
// Offsets in loops are masked so in every round: with the same bounds, the verifier sees the rounds as one.
#define SOURCE_ROUND_MASK 2047

#define OPTION_1_LENGTH 16
// Reserved, IOAM type, trace header 8, address 16 (FCNP §4, Figure 4).
#define OPTION_2_LENGTH 26
#define IOAM_TRACE_KINDS 2 // preallocated, incremental

#define BTH_FLAGS_ZERO 0x3f // PadCnt, TVer; a Long-haul CNP has SE and MigReq zero as well
#define BTH_FLAGS_LONG_HAUL 0xc0
#define BTH_LAST_WORD 0x80ffffffu	  // AckReq, PSN
#define BTH_EXTENSION_PRESENT 0x20000000u // E (LHCNP-6.2.1-b)
#define BTH_FIRST_BYTE 0xff000000u	  // FECN, BECN, six reserved bits
#define CNP_RESERVED_SIZE 16
#define LONG_HAUL_BODY 12
// A standard CNP is four bytes longer than a Long-haul CNP without objects, which some pad to that (LHCNP §8).
#define LONG_HAUL_PADDING 4

#define METRIC_LAST_PERCENT 100

// What a notification says. The packet is in source_memory(), from its IP header on.
struct told {
	struct address node;	 // its source
	struct address sender;	 // its destination
	struct address receiver; // Fast CNP: the option's address. Otherwise found by Queue Pair (admit.h)
	__u32 receiver_qpn;	 // Fast CNP
	__u32 sender_qpn;	 // Long-haul CNP, and the peer's CNP
	__u32 metric;
	__u32 length; // of the packet, bytes
	__u32 trace;  // where the IOAM trace begins; 0: there is none
	__u32 trace_length;
	__u16 parameter;
	__be16 sport;
	__be16 pkey;
	__u8 level;
	__u8 instruction; // enum action
	__u8 format;	  // enum notification_format; FORMAT_NONE: a standard CNP
	__u8 family;
	__u8 action; // enum source_action: what becomes of it (admit.h)
	__u8 reserved[6];
};

// --- Long-haul CNP ---

static __always_inline int told_contradicts_itself(const struct told *told)
{
	__u32 type = told->metric >> 24, value = told->metric & 0xffffff;
	if (type == METRIC_ECN_PERCENT && value > METRIC_LAST_PERCENT)
		return 1;
	switch (told->instruction) {
	case ACTION_NOTIFY:
		return told->parameter != 0;
	case ACTION_PAUSE:
		return told->parameter == 0 || told->level == 0;
	case ACTION_RATE_REDUCE:
		return told->parameter > 100 || told->level == 0;
	default:
		return told->parameter > 100;
	}
}

// The objects from `at` to `end` of the packet (LHCNP §6.1.1; RFC 4884 §7, §8): Extension Header, then objects whose
// length does not count their padding. A global function: the verifier checks it once.
__noinline int source_objects(__u32 at, __u32 end)
{
	struct source_scratch *scratch = source_memory();
	if (!scratch || end > SOURCE_PACKET_MAX || at > end || end - at < 4 ||
	    scratch->bytes[at & SOURCE_MASK] >> 4 != 2)
		return COUNT_SOURCE_OBJECTS;
	__u32 begin = at, size = end - at;
	at = (at + 4) & SOURCE_ROUND_MASK;
	for (int i = 0; i < SOURCE_OBJECTS; i++) {
		if (at >= end)
			break;
		__u32 length = scratch->bytes[at & SOURCE_MASK] << 8 | scratch->bytes[(at + 1) & SOURCE_MASK];
		if (length < 4 || length > SOURCE_PACKET_MAX)
			return COUNT_SOURCE_OBJECTS;
		at = (at + ((length + 3) & ~3u)) & SOURCE_ROUND_MASK;
	}
	if (at != end)
		return COUNT_SOURCE_OBJECTS;
	if (!(scratch->bytes[(begin + 2) & SOURCE_MASK] | scratch->bytes[(begin + 3) & SOURCE_MASK]))
		return SOURCE_GOOD; // not computed
	begin &= SOURCE_MASK & ~3u;
	opaque(size);
	if (size < 4 || size > SOURCE_PACKET_MAX)
		return COUNT_SOURCE_OBJECTS;
	__u32 sum = bpf_csum_diff(0, 0, (void *)(scratch->bytes + begin), size & ~3u, 0);
	return csum_fold(sum) ? COUNT_SOURCE_BAD_SUM : SOURCE_GOOD;
}

// The 12 octets at `at`, a constant, and what follows them up to `end` (LHCNP-5.6-c, LHCNP-6.1.1-j).
static __always_inline int told_body(struct source_scratch *scratch, struct told *told, __u32 at, __u32 end,
				     __u32 padding)
{
	if (at + LONG_HAUL_BODY > end)
		return COUNT_SOURCE_MALFORMED;
	__u32 first = bpf_ntohl(scratch->words[at / 4]), qpn = bpf_ntohl(scratch->words[at / 4 + 1]);
	told->level = first >> 24;
	told->instruction = first >> 22 & 3; // the lower six bits are ignored (LHCNP-6.1-h)
	told->parameter = first & 0xffff;
	told->sender_qpn = qpn;
	told->metric = bpf_ntohl(scratch->words[at / 4 + 2]);
	if (qpn > 0xffffff || told_contradicts_itself(told))
		return COUNT_SOURCE_CONTRADICTORY;
	at += LONG_HAUL_BODY;
	if (at == end || (end - at == padding && scratch->words[at / 4] == 0))
		return SOURCE_GOOD;
	return source_objects(at, end);
}

__noinline int source_read_icmpv6(struct told *told)
{
	struct source_scratch *scratch = source_memory();
	if (!scratch || !told)
		return COUNT_SOURCE_FAILED;
	__u32 length = told->length - IPV6_HLEN;
	opaque(length);
	if (length < 4 + LONG_HAUL_BODY || length > SOURCE_PACKET_MAX - IPV6_HLEN)
		return COUNT_SOURCE_MALFORMED;
	if (scratch->bytes[IPV6_HLEN + 1] != 0) // code 0: flow level (LHCNP-6.1-c)
		return COUNT_SOURCE_MALFORMED;
	// The addresses of the pseudo-header precede the message (RFC 4443 §2.3).
	__u32 sum = csum_add_bytes(scratch->words + IPV6_SOURCE / 4, 32 + length, bpf_htonl(length + IPPROTO_ICMPV6));
	if (csum_fold(sum))
		return COUNT_SOURCE_BAD_SUM;
	told->format = FORMAT_LONG_HAUL_ICMPV6;
	told->pkey = 0xffff;
	return told_body(scratch, told, IPV6_HLEN + 4, told->length, 0);
}

// Whether the ICRC is the last of the packet's `words`. The first `masked`, a constant, have masks.
static __always_inline int source_icrc_fits(const struct source_scratch *scratch, const __u8 (*mask)[4], __u32 masked,
					    __u32 words)
{
	__u32 crc = icrc_add_masked(ICRC_START, scratch->words, mask, masked), i = masked;
#pragma clang loop unroll(disable)
	for (; i < SOURCE_PACKET_MAX / 4 && i < words - 1; i++)
		crc = icrc_add(crc, scratch->words[i]);
	return scratch->words[i] == icrc_end(crc);
}

// The fields of the UDP header and BTH at `udp`, a constant, that all notifications have in common. `length`: of the
// datagram, as its header says.
static __always_inline int told_roce(struct source_scratch *scratch, struct told *told, __u32 udp, __u32 *length)
{
	const __u32 *words = scratch->words + udp / 4;
	*length = bpf_ntohl(words[1]) >> 16;
	if (*length % 4 || udp + *length > told->length || *length < UDP_HLEN + BTH_SIZE + ICRC_SIZE)
		return COUNT_SOURCE_MALFORMED;
	__u32 first = bpf_ntohl(words[2]), flags = first >> 16 & 0xff;
	told->sport = bpf_htons(bpf_ntohl(words[0]) >> 16);
	told->pkey = bpf_htons(first & 0xffff);
	return flags & BTH_FLAGS_ZERO ? COUNT_SOURCE_MALFORMED : SOURCE_GOOD;
}

// A CNP with the E bit, and a standard CNP, at `udp`, a constant.
static __always_inline int told_cnp(struct source_scratch *scratch, struct told *told, __u32 udp)
{
	__u32 length;
	int problem = told_roce(scratch, told, udp, &length);
	if (problem != SOURCE_GOOD)
		return problem;
	__u32 words = (udp + length) / 4, qpn = bpf_ntohl(scratch->words[udp / 4 + 3]);
	int fits = udp == IPV6_HLEN
			   ? source_icrc_fits(scratch, ICRC_MASK_IPV6, ICRC_MASK_WORDS, words)
			   : source_icrc_fits(scratch, ICRC_MASK_IPV4, (IPV4_HLEN + UDP_HLEN + BTH_SIZE) / 4, words);
	if (!fits)
		return COUNT_SOURCE_BAD_SUM;
	told->sender_qpn = qpn & 0xffffff;
	if (!(qpn & BTH_EXTENSION_PRESENT)) {
		told->format = FORMAT_NONE;
		return (qpn & BTH_BECN) && length == CNP_UDP_SIZE ? SOURCE_GOOD : COUNT_SOURCE_MALFORMED;
	}
	// LHCNP-6.2.3: everything else of the BTH is zero; the ICRC does not cover its first byte.
	if ((qpn & BTH_FIRST_BYTE) != (BTH_BECN | BTH_EXTENSION_PRESENT) ||
	    (bpf_ntohl(scratch->words[udp / 4 + 4]) & BTH_LAST_WORD) ||
	    (bpf_ntohl(scratch->words[udp / 4 + 2]) >> 16 & BTH_FLAGS_LONG_HAUL))
		return COUNT_SOURCE_MALFORMED;
	told->format = FORMAT_LONG_HAUL_ROCE;
	problem = told_body(scratch, told, udp + UDP_HLEN + BTH_SIZE, udp + length - ICRC_SIZE, LONG_HAUL_PADDING);
	if (problem != SOURCE_GOOD)
		return problem;
	return told->sender_qpn == (qpn & 0xffffff) ? SOURCE_GOOD : COUNT_SOURCE_CONTRADICTORY; // both are the sender's
}

__noinline int source_read_cnp6(struct told *told)
{
	struct source_scratch *scratch = source_memory();
	return scratch && told ? told_cnp(scratch, told, IPV6_HLEN) : COUNT_SOURCE_FAILED;
}

__noinline int source_read_cnp4(struct told *told)
{
	struct source_scratch *scratch = source_memory();
	return scratch && told ? told_cnp(scratch, told, IPV4_HLEN) : COUNT_SOURCE_FAILED;
}

// --- Fast CNP ---

// Returns the offset of the one option that the Destination Options header up to `end` has besides padding (FCNP-4-h).
// 0: there is none, or another, or the options do not end where the header does.
__noinline __u32 source_option(__u32 end)
{
	struct source_scratch *scratch = source_memory();
	if (!scratch)
		return 0;
	volatile __u32 at = IPV6_HLEN + 2, found = 0;
	for (int i = 0; i < SOURCE_OPTIONS; i++) {
		if (at >= end)
			break;
		__u8 type = scratch->bytes[at & SOURCE_MASK];
		if (type == OPTION_PAD1) {
			at = (at + 1) & SOURCE_ROUND_MASK;
			continue;
		}
		if (type != OPTION_PADN) {
			if (found)
				return 0;
			found = at;
		}
		at = (at + 2 + scratch->bytes[(at + 1) & SOURCE_MASK]) & SOURCE_ROUND_MASK;
	}
	return at == end ? found : 0;
}

// Reads the option; its address is at the end of it. Returns where the address begins, 0: malformed.
static __always_inline __u32 told_option(struct source_scratch *scratch, const struct source_config *config,
					 struct told *told, __u32 end)
{
	__u32 at = source_option(end) & SOURCE_MASK;
	if (at < IPV6_HLEN)
		return 0;
	__u8 type = scratch->bytes[at];
	__u32 length = scratch->bytes[at + 1];
	if (type == config->fast_cnp_option && length == OPTION_1_LENGTH)
		return at + 2;
	if (type != config->fast_cnp_ioam_option || length < OPTION_2_LENGTH || length % 4 != OPTION_2_LENGTH % 4 ||
	    scratch->bytes[at + 3] >= IOAM_TRACE_KINDS)
		return 0;
	told->trace = at + 4;
	told->trace_length = length - 18;
	return at + 2 + length - 16;
}

__noinline int source_read_fast_cnp(struct __sk_buff *skb, struct told *told)
{
	struct source_scratch *scratch = source_memory();
	struct source_config *config = source_configuration();
	if (!scratch || !config || !told)
		return COUNT_SOURCE_FAILED;
	__u32 options = 8 + scratch->bytes[IPV6_HLEN + 1] * 8, length;
	if (scratch->bytes[IPV6_HLEN] != IPPROTO_UDP || options > OPTIONS_MAX ||
	    IPV6_HLEN + options + CNP_UDP_SIZE > told->length)
		return COUNT_SOURCE_MALFORMED;
	__u32 address = told_option(scratch, config, told, IPV6_HLEN + options);
	if (!address || bpf_skb_load_bytes(skb, ETH_HLEN + address, &told->receiver, 16) < 0)
		return COUNT_SOURCE_MALFORMED;
	__u32 *udp = (__u32 *)(scratch->bytes + IPV6_HLEN + options);
	__u32 first = bpf_ntohl(udp[2]), qpn = bpf_ntohl(udp[3]);
	length = bpf_ntohl(udp[1]) >> 16;
	if ((bpf_ntohl(udp[0]) & 0xffff) != ROCE_UDP_PORT || length != CNP_UDP_SIZE || first >> 24 != ROCE_OPCODE_CNP ||
	    (first >> 16 & BTH_FLAGS_ZERO) || !(qpn & BTH_BECN) || (qpn & BTH_EXTENSION_PRESENT))
		return COUNT_SOURCE_MALFORMED;
	if (udp[CNP_PAYLOAD_WORDS - 1] !=
	    fast_cnp_icrc(scratch->words, scratch->words + IPV6_HLEN / 4, options / 4, udp, config->icrc_skips_options))
		return COUNT_SOURCE_BAD_SUM;
	told->sport = bpf_htons(bpf_ntohl(udp[0]) >> 16);
	told->pkey = bpf_htons(first & 0xffff);
	told->receiver_qpn = qpn & 0xffffff;
	told->format = FORMAT_FAST_CNP;
	return SOURCE_GOOD;
}

#endif
