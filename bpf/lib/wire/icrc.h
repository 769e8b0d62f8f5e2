// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Invariant CRC of RoCEv2 (InfiniBand annex A17 §A17.3.3): CRC-32 over eight bytes of ones and the packet, with
// every field that may change on the way replaced by ones. It processes four bytes a step. The compiler generates the
// four tables from 32 constants: a CRC is linear, so an entry is the exclusive or of the entries of its index's bits.
// Packets begin with their IP header at a word boundary, and their length is a multiple of 4. icrc() handles packets
// without IP options and extension headers; for others the caller adds the parts.
#ifndef CNPD_WIRE_ICRC_H
#define CNPD_WIRE_ICRC_H

#include "kernel.h"

// Remainder after eight bytes of ones.
#define ICRC_START 0xdebb20e3u

// Entry i of a table whose entries 1, 2, 4, … 128 are b0 … b7.
#define CRC_ENTRY(i, b0, b1, b2, b3, b4, b5, b6, b7)                                                                   \
	(((i) & 1 ? b0 : 0) ^ ((i) & 2 ? b1 : 0) ^ ((i) & 4 ? b2 : 0) ^ ((i) & 8 ? b3 : 0) ^ ((i) & 16 ? b4 : 0) ^     \
	 ((i) & 32 ? b5 : 0) ^ ((i) & 64 ? b6 : 0) ^ ((i) & 128 ? b7 : 0))
#define CRC_4(i, ...)                                                                                                  \
	CRC_ENTRY(i, __VA_ARGS__), CRC_ENTRY(i + 1, __VA_ARGS__), CRC_ENTRY(i + 2, __VA_ARGS__),                       \
		CRC_ENTRY(i + 3, __VA_ARGS__)
#define CRC_16(i, ...)                                                                                                 \
	CRC_4(i, __VA_ARGS__), CRC_4(i + 4, __VA_ARGS__), CRC_4(i + 8, __VA_ARGS__), CRC_4(i + 12, __VA_ARGS__)
#define CRC_64(i, ...)                                                                                                 \
	CRC_16(i, __VA_ARGS__), CRC_16(i + 16, __VA_ARGS__), CRC_16(i + 32, __VA_ARGS__), CRC_16(i + 48, __VA_ARGS__)
#define CRC_TABLE(...)                                                                                                 \
	{ CRC_64(0, __VA_ARGS__), CRC_64(64, __VA_ARGS__), CRC_64(128, __VA_ARGS__), CRC_64(192, __VA_ARGS__) }

// Table n: the remainder of a byte followed by n bytes of zeros; polynomial 0xedb88320 (reflected 0x04c11db7).
static const __u32 CRC[4][256] = {
	CRC_TABLE(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u, 0x76dc4190u,
		  0xedb88320u),
	CRC_TABLE(0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u, 0xf0794f05u,
		  0x3b83984bu),
	CRC_TABLE(0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u, 0x709a8dc0u,
		  0xe1351b80u),
	CRC_TABLE(0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu, 0x9b14583du,
		  0xed59b63bu),
};

// Bits of the packet's words that count as ones, in memory order. Index: word of the packet from its IP header.
#define ICRC_MASK_WORDS 14
static const __u8 ICRC_MASK_IPV4[ICRC_MASK_WORDS][4] __attribute__((aligned(4))) = {
	[0] = { 0, 0xff, 0, 0 },       // TOS
	[2] = { 0xff, 0, 0xff, 0xff }, // TTL, header checksum
	[6] = { 0, 0, 0xff, 0xff },    // UDP checksum
	[8] = { 0xff, 0, 0, 0 },       // BTH: FECN, BECN, reserved
};
static const __u8 ICRC_MASK_IPV6[ICRC_MASK_WORDS][4] __attribute__((aligned(4))) = {
	[0] = { 0x0f, 0xff, 0xff, 0xff }, // traffic class, flow label
	[1] = { 0, 0, 0, 0xff },	  // hop limit
	[11] = { 0, 0, 0xff, 0xff },
	[13] = { 0xff, 0, 0, 0 },
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ICRC_WORD(word) (word)
#else
#define ICRC_WORD(word) __builtin_bswap32(word)
#endif

static __always_inline __u32 icrc_add(__u32 crc, __u32 word)
{
	crc ^= ICRC_WORD(word);
	return CRC[3][crc & 0xff] ^ CRC[2][crc >> 8 & 0xff] ^ CRC[1][crc >> 16 & 0xff] ^ CRC[0][crc >> 24];
}

// `count` words of a packet, each with the bits of its mask set.
static __always_inline __u32 icrc_add_masked(__u32 crc, const __u32 *words, const __u8 (*mask)[4], __u32 count)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < count; i++)
		crc = icrc_add(crc, words[i] | *(const __u32 *)mask[i]);
	return crc;
}

static __always_inline __u32 icrc_add_words(__u32 crc, const __u32 *words, __u32 count)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < count; i++)
		crc = icrc_add(crc, words[i]);
	return crc;
}

// In the byte order of the packet's last word.
static __always_inline __u32 icrc_end(__u32 crc)
{
	return ICRC_WORD(~crc);
}

// Returns the ICRC of `count` words. `count` is a constant of at least 14, `mask` one of the two above.
static __always_inline __u32 icrc(const __u32 *words, const __u8 mask[ICRC_MASK_WORDS][4], __u32 count)
{
	__u32 crc = icrc_add_masked(ICRC_START, words, mask, ICRC_MASK_WORDS);
	return icrc_end(icrc_add_words(crc, words + ICRC_MASK_WORDS, count - ICRC_MASK_WORDS));
}

#endif
