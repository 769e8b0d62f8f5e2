// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Addresses in map keys: 16 bytes in network order, IPv4 as ::ffff:a.b.c.d.
#ifndef CNPD_WIRE_ADDRESS_H
#define CNPD_WIRE_ADDRESS_H

#include "kernel.h"

struct address {
	union {
		__u8 bytes[16];
		__u32 words[4];
		__u64 halves[2];
	};
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAPPED_HALF(ipv4) ((__u64)(ipv4) << 32 | 0xffff0000u)
#else
#define MAPPED_HALF(ipv4) (0x0000ffff00000000ULL | (ipv4))
#endif

static __always_inline void address_map_ipv4(struct address *a, __be32 ipv4)
{
	a->halves[0] = 0;
	a->halves[1] = MAPPED_HALF(ipv4);
}

// Reads an address from the header of a packet of this family.
static __always_inline void address_load(struct address *a, const __u8 *at, __u32 family)
{
	if (family == 4) {
		address_map_ipv4(a, *(const __be32 *)at);
		return;
	}
	a->halves[0] = *(const __u64 *)at;
	a->halves[1] = *(const __u64 *)(at + 8);
}

static __always_inline int same_address(const struct address *a, const struct address *b)
{
	return a->halves[0] == b->halves[0] && a->halves[1] == b->halves[1];
}

// 4 for ::ffff:0:0/96, else 6. `halves` as in struct address.
static __always_inline __u8 address_family(const __u64 halves[2])
{
	return halves[0] == 0 && (halves[1] & ~(MAPPED_HALF(0xffffffffu) ^ MAPPED_HALF(0))) == MAPPED_HALF(0) ? 4 : 6;
}

// Key of an LPM trie: prefix length in bits of the 16-byte address, so 96 + n for IPv4. Packed: the trie's data begin
// directly after the length.
struct prefix_key {
	__u32 length;
	struct address address;
} __attribute__((packed, aligned(4)));

// Key of another LPM trie: longest match on the ingress interface (0: any), then on the source. The length includes the
// bits of interface index and family.
struct port_source_key {
	__u32 length;
	__u32 ifindex;
	__u8 family;	  // 4 or 6
	__u8 source[16];  // IPv4 in the first 4
	__u8 reserved[3]; // 0
} __attribute__((packed, aligned(4)));

#define PORT_SOURCE_KEY_BITS (32 + 8 + 128)

#endif
