// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Long-haul CNP (LHCNP §6): an instruction to one of the sender's Queue Pairs, as an ICMPv6 message (§6.1) or as a
// CNP with the E bit set (§6.2). Both carry the same 12 octets, then perhaps extension objects (§6.1.1), which the
// agent has prepared except the time. The detector has decided the content. DestQP of the second form is the sender's
// Queue Pair too, so that a card that knows only CNPs slows down the right one.
#ifndef CNPD_BUILDER_LONG_HAUL_CNP_H
#define CNPD_BUILDER_LONG_HAUL_CNP_H

#include "wire/cnp.h"
#include "builder/frame.h"

#define LONG_HAUL_BODY_WORDS 3
#define BTH_EXTENSION 0x20000000u // E: the first of the six reserved bits behind BECN (LHCNP-6.2.1-b)
#define NOTICE_OBJECTS_WORDS (NOTICE_OBJECTS_MAX / 4)
// What must not exceed a CNP's 16 reserved bytes is padded to them.
#define LONG_HAUL_PAD_WORDS 1
#define NS_A_SECOND 1000000000ULL

// The 12 octets (LHCNP-6.1-a, LHCNP-6.2.4-a).
static __always_inline void put_body(__u32 *body, const struct noticed *about)
{
	__u32 action = ORDER_ACTION(about->order);
	__u32 parameter = action == ACTION_NOTIFY ? 0 : ORDER_PARAMETER(about->order); // LHCNP-6.1-j
	body[0] = bpf_htonl(ORDER_LEVEL(about->order) << 24 | action << 22 | parameter);
	body[1] = bpf_htonl(about->source_qpn);
	body[2] = bpf_htonl(about->metric);
}

// Extension Header and objects, with the time. Returns their words, 0 to NOTICE_OBJECTS_WORDS.
static __always_inline __u32 put_objects(__u32 *to, const struct notice_config *config)
{
	__u32 words = config->objects_length / 4;
	if (words == 0)
		return 0;
	__builtin_memcpy(to, config->objects, NOTICE_OBJECTS_MAX);
	if (config->has_timestamp) {
		// RFC 5905 §6: seconds and their fraction, 32 bits each.
		__u64 time = bpf_ktime_get_ns() + config->ntp_offset_ns;
		__u32 seconds = bpf_htonl(time / NS_A_SECOND),
		      fraction = bpf_htonl(((time % NS_A_SECOND) << 32) / NS_A_SECOND);
		__u16 *check = (__u16 *)to + NOTICE_OBJECTS_CHECKSUM / 2;
		to[NOTICE_OBJECTS_TIME / 4] = seconds;
		to[NOTICE_OBJECTS_TIME / 4 + 1] = fraction;
		// RFC 1624: the time was 0 when the agent summed the rest up. A sum of 0 would mean "no checksum".
		__u16 sum = csum_fold((__u64)(__u16) ~*check + seconds + fraction);
		*check = sum ? sum : 0xffff;
	}
	return words > NOTICE_OBJECTS_WORDS ? NOTICE_OBJECTS_WORDS : words;
}

static __noinline int notice_long_haul_icmpv6(struct __sk_buff *skb, const struct noticed *about,
					      struct notice_buffer *buffer)
{
	struct egress_config *config = egress_configuration();
	struct notice_config *codes = notice_configuration();
	if (!config || !codes || !codes->long_haul_type)
		return notice_refuse(COUNT_NOTICE_FORMAT_OFF);
	if (about->h.inner_family != 6 || !config->has_source6)
		return notice_refuse(COUNT_NOTICE_FAMILY);
	if (!about->source_qpn)
		return notice_refuse(COUNT_NOTICE_NO_QUEUE_PAIR);
	__u32 *ip = buffer->words + BUFFER_IP / 4, *icmp = ip + IPV6_HLEN / 4;
	icmp[0] = bpf_htonl((__u32)codes->long_haul_type << 24); // code 0: flow level (LHCNP-6.1-c)
	put_body(icmp + 1, about);
	__u32 length = (1 + LONG_HAUL_BODY_WORDS + put_objects(icmp + 1 + LONG_HAUL_BODY_WORDS, codes)) * 4;
	if (put_ipv6_to_sender(skb, about, config, ip, IPPROTO_ICMPV6, length) < 0)
		return notice_refuse(COUNT_NOTICE_STORE_FAILED);
	// The addresses of the pseudo-header precede the message (RFC 4443 §2.3).
	__u16 check = csum_fold(csum_add_bytes(ip + 2, 32 + length, bpf_htonl(length + IPPROTO_ICMPV6)));
	*((__u16 *)icmp + 1) = check;
	return notice_send(skb, about, config, buffer, IPV6_HLEN + length, COUNT_NOTICE_LONG_HAUL_ICMPV6);
}

// --- The RoCEv2 form ---

// UDP, BTH, body and objects at `udp`, all but the ICRC. Returns the words of the whole datagram. Of the BTH everything
// is 0 but the opcode, BECN, E, the sender's Queue Pair and the flow's P_Key (LHCNP-6.2.3-a, LHCNP-6.2.3-g,
// LHCNP-6.2.3-l).
static __always_inline __u32 put_roce(__u32 *udp, const struct noticed *about, const struct notice_config *codes)
{
	__u32 *extension = udp + (UDP_HLEN + BTH_SIZE) / 4 + LONG_HAUL_BODY_WORDS;
	__u32 words = put_objects(extension, codes);
	if (words == 0 && codes->pad_to_cnp) {
		extension[0] = 0;
		words = LONG_HAUL_PAD_WORDS;
	}
	words += (UDP_HLEN + BTH_SIZE) / 4 + LONG_HAUL_BODY_WORDS + 1; // and the ICRC
	udp[0] = bpf_htonl((__u32)bpf_ntohs(about->h.sport) << 16 | ROCE_UDP_PORT);
	udp[1] = bpf_htonl(words << 18); // no checksum
	udp[2] = bpf_htonl((__u32)ROCE_OPCODE_CNP << 24 | bpf_ntohs(about->bth.pkey));
	udp[3] = bpf_htonl(BTH_BECN | BTH_EXTENSION | (about->source_qpn & 0xffffff));
	udp[4] = 0; // PSN
	put_body(udp + (UDP_HLEN + BTH_SIZE) / 4, about);
	return words;
}

// Words of the longest packet.
#define LONG_HAUL_ROCE_MOST ((IPV6_HLEN + UDP_HLEN + BTH_SIZE) / 4 + LONG_HAUL_BODY_WORDS + NOTICE_OBJECTS_WORDS + 1)
// Over IPv4 the BTH ends before the table of masks does.
#define ICRC_MASKED_IPV4 ((IPV4_HLEN + UDP_HLEN + BTH_SIZE) / 4)

// `words` of the packet, its ICRC, which covers extension fields and objects (LHCNP-6.2.4-c), the last of them. The
// first `masked`, a constant, are those with masks.
static __always_inline void put_icrc(__u32 *ip, const __u8 (*mask)[4], __u32 masked, __u32 words)
{
	__u32 crc = icrc_add_masked(ICRC_START, ip, mask, masked), i = masked;
#pragma clang loop unroll(disable)
	for (; i < LONG_HAUL_ROCE_MOST && i < words - 1; i++)
		crc = icrc_add(crc, ip[i]);
	ip[i] = icrc_end(crc);
}

static __noinline int notice_long_haul_roce(struct __sk_buff *skb, const struct noticed *about,
					    struct notice_buffer *buffer)
{
	struct egress_config *config = egress_configuration();
	struct notice_config *codes = notice_configuration();
	if (!config || !codes || !codes->long_haul_type)
		return notice_refuse(COUNT_NOTICE_FORMAT_OFF);
	__u32 v6 = about->h.inner_family == 6;
	// In a tunnel an IPv4 notice needs both of this router's addresses.
	if (v6 ? !config->has_source6 : !config->has_source4 || (about->tunneled && !config->has_source6))
		return notice_refuse(COUNT_NOTICE_FAMILY);
	if (!about->source_qpn)
		return notice_refuse(COUNT_NOTICE_NO_QUEUE_PAIR);
	__u32 *ip = buffer->words + BUFFER_IP / 4, words;
	if (v6) {
		words = put_roce(ip + IPV6_HLEN / 4, about, codes);
		if (put_ipv6_to_sender(skb, about, config, ip, IPPROTO_UDP, words * 4) < 0)
			return notice_refuse(COUNT_NOTICE_STORE_FAILED);
		words += IPV6_HLEN / 4;
		put_icrc(ip, ICRC_MASK_IPV6, ICRC_MASK_WORDS, words);
	} else {
		__u32 sender;
		if (bpf_skb_load_bytes(skb, about->h.inner + IPV4_SOURCE, &sender, 4) < 0)
			return notice_refuse(COUNT_NOTICE_STORE_FAILED);
		words = put_roce(ip + IPV4_HLEN / 4, about, codes);
		put_ipv4(ip, *(const __u32 *)config->source4, sender, words * 4);
		words += IPV4_HLEN / 4;
		put_icrc(ip, ICRC_MASK_IPV4, ICRC_MASKED_IPV4, words);
	}
	return notice_send(skb, about, config, buffer, words * 4, COUNT_NOTICE_LONG_HAUL_ROCE);
}

#endif
