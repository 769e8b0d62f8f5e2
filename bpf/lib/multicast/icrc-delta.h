// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The ICRC of a changed packet from the ICRC it had, at a cost that does not depend on its length. A CRC is linear: the
// CRCs of two packets of one length differ by the CRC of their difference, begun with 0. The difference ends at a fixed
// place, and the zeros behind it multiply its remainder by a power of x in GF(2^32). So damage in the packet stays
// visible: a wrong ICRC stays wrong by the same difference.
//
// Polynomials are reflected, as in wire/icrc.h: bit 31 is x^0.
#ifndef CNPD_MULTICAST_ICRC_DELTA_H
#define CNPD_MULTICAST_ICRC_DELTA_H

#include "wire/icrc.h"

#define ICRC_POLYNOMIAL 0xedb88320u

// x^(32·i): i words of zeros.
#define ICRC_POWERS 64
static const __u32 ICRC_POWER[ICRC_POWERS] = {
	0x80000000u, 0xedb88320u, 0xb1e6b092u, 0x6655004fu, 0xa06a2517u, 0xba8ccbe8u, 0x32b39da3u, 0xad2a31b3u,
	0xed627daeu, 0x78ed02d5u, 0xa700e96au, 0xba1aca03u, 0x15141c31u, 0x1ed8f66eu, 0xd95efd26u, 0xe3720acbu,
	0x88d14467u, 0xaa2215eau, 0x329ecc11u, 0x5705a9cau, 0x4721589fu, 0xe3ab4f2au, 0xc0b95347u, 0xc65a272cu,
	0xe5b592b8u, 0x6f8346e1u, 0xd777606eu, 0xebe7e356u, 0x6325605cu, 0xf5449b3fu, 0x00cc3374u, 0xa53ff440u,
	0xd7bbfe6au, 0xf44779b9u, 0x3eb2bd08u, 0x1fa0943du, 0xdb54814cu, 0xfee3053eu, 0x3969324du, 0xa5abe9f8u,
	0x0eaee722u, 0x71aa1df0u, 0xe172334du, 0x855712b3u, 0x784d2a56u, 0xc0b55b0eu, 0x82e02e2fu, 0x974ac562u,
	0x62b6ca4bu, 0xc10ec5e0u, 0x33fbca3bu, 0xf38a3556u, 0x291ea462u, 0xd9ad6d87u, 0xd4277e25u, 0x92f8befeu,
	0x6b1d2b53u, 0xc8acdd81u, 0x47b9ce5au, 0xe23e954eu, 0x8fd2cd3cu, 0xed837b26u, 0x13e8221eu, 0x99168a18u,
};
// x^(32·64·i)
static const __u32 ICRC_POWER_64[ICRC_POWERS] = {
	0x80000000u, 0xec447f11u, 0x8e7ea170u, 0x05616c82u, 0x6427800eu, 0x5ef840e2u, 0xbf110f7eu, 0x118f848eu,
	0x4d47bae0u, 0xa84bdc84u, 0x0b19ae7fu, 0xaf5619bcu, 0x6347a4bdu, 0xd91ef3cbu, 0x13d40d42u, 0x5b6cda72u,
	0x09fe548fu, 0x3a7f1119u, 0x5f58ea19u, 0x0a872662u, 0x923b0526u, 0xf27886e9u, 0xced83e9eu, 0x3274df68u,
	0x552d4042u, 0xb0aad506u, 0x35f2abebu, 0x1e139bbcu, 0x63c21244u, 0x6ffe4f05u, 0x196613feu, 0x513a9268u,
	0x83852d0fu, 0x3584c05eu, 0x926483dau, 0xb6be16b2u, 0x4d29b1c7u, 0x5f13ec02u, 0xa0e49905u, 0x6ee21674u,
	0x4e2f9ac3u, 0x4b200926u, 0x8ad67562u, 0xfa765f69u, 0x4ccd837bu, 0xb9bae81cu, 0xbd3f1de4u, 0x725b564eu,
	0xe4b54665u, 0x4b97252cu, 0x70ec8bbdu, 0xcf2c46a9u, 0x7da28b5cu, 0xfb785dd4u, 0x61bb1794u, 0xd2d0d1d4u,
	0x96a2a2f2u, 0xedb44028u, 0x4d17b9b6u, 0x4f2a23adu, 0x4a5348d2u, 0x2071a17eu, 0x326ac3efu, 0xec062836u,
};
// More zeros than any packet has: WALK_OFFSET_MASK.
#define ICRC_ZEROS (ICRC_POWERS * ICRC_POWERS)

// Times x. By a product, not by a branch or a mask: the verifier would follow both ways 32 times.
static __always_inline __u32 icrc_times_x(__u32 a)
{
	__u32 bit = a & 1;
	opaque(bit);
	return a >> 1 ^ bit * ICRC_POLYNOMIAL;
}

// A global function: the verifier checks it once.
__noinline __u32 icrc_multiply(__u32 a, __u32 b)
{
	__u32 product = 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 32; i++) {
		__u32 bit = a >> 31;
		opaque(bit);
		product ^= bit * b;
		b = icrc_times_x(b);
		a <<= 1;
	}
	return product;
}

// x^(32·words); `words` below ICRC_ZEROS.
static __always_inline __u32 icrc_power(__u32 words)
{
	__u32 power = ICRC_POWER[words & (ICRC_POWERS - 1)], more = words / ICRC_POWERS & (ICRC_POWERS - 1);
	return more == 0 ? power : icrc_multiply(power, ICRC_POWER_64[more]);
}

// The products of one factor with all values of each nibble: a multiplication is then eight look-ups.
struct icrc_products {
	__u32 of[8][16];
};

static __always_inline void icrc_prepare(struct icrc_products *products, __u32 factor)
{
	// Nibble 7 has the lowest powers of x.
#pragma clang loop unroll(disable)
	for (int nibble = 7; nibble >= 0; nibble--) {
		__u32 *of = products->of[nibble & 7];
		__u32 b8 = factor, b4 = icrc_times_x(b8), b2 = icrc_times_x(b4), b1 = icrc_times_x(b2);
		factor = icrc_times_x(b1);
		of[0] = 0;
		of[1] = b1;
		of[2] = b2;
		of[3] = b2 ^ b1;
		of[4] = b4;
		of[5] = b4 ^ b1;
		of[6] = b4 ^ b2;
		of[7] = b4 ^ b2 ^ b1;
		of[8] = b8;
		of[9] = b8 ^ b1;
		of[10] = b8 ^ b2;
		of[11] = b8 ^ b2 ^ b1;
		of[12] = b8 ^ b4;
		of[13] = b8 ^ b4 ^ b1;
		of[14] = b8 ^ b4 ^ b2;
		of[15] = b8 ^ b4 ^ b2 ^ b1;
	}
}

static __always_inline __u32 icrc_product(const struct icrc_products *products, __u32 value)
{
	return products->of[0][value & 15] ^ products->of[1][value >> 4 & 15] ^ products->of[2][value >> 8 & 15] ^
	       products->of[3][value >> 12 & 15] ^ products->of[4][value >> 16 & 15] ^
	       products->of[5][value >> 20 & 15] ^ products->of[6][value >> 24 & 15] ^ products->of[7][value >> 28];
}

// Lengths come again and again: most packets of a stream are full. So the products of a few factors are kept, each in
// the place that its number of words leads to.
#define ICRC_LENGTHS 8
struct icrc_length {
	__u32 words; // + 1. 0: none
	struct icrc_products products;
};

// The place of `words`, with its products.
static __always_inline __u32 icrc_length_of(struct icrc_length lengths[ICRC_LENGTHS], __u32 words)
{
	__u32 place = words * 0x9e3779b1u >> 29;
	struct icrc_length *length = &lengths[place & (ICRC_LENGTHS - 1)];
	if (unlikely(length->words != words + 1)) {
		icrc_prepare(&length->products, icrc_power(words));
		length->words = words + 1;
	}
	return place;
}

#endif
