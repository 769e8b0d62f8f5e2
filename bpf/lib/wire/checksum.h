// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Internet checksum (RFC 1071) over bytes in a map value. Sums are 32-bit partial sums in network byte order as
// loaded.
#ifndef CNPD_WIRE_CHECKSUM_H
#define CNPD_WIRE_CHECKSUM_H

#include "kernel.h"

// bpf_csum_diff takes at most 512 bytes before Linux 6.13.
#define CSUM_CHUNK 512

static __always_inline __u16 csum_fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

// Adds `length` bytes at `bytes`, at most CSUM_CHUNKS × 512, to `sum`. Up to 3 bytes after the last one must be
// readable and zero: the helper needs multiples of 4.
#define CSUM_CHUNKS 3
static __always_inline __u32 csum_add_bytes(const void *bytes, __u32 length, __u32 sum)
{
	__u32 rounded = (length + 3) & ~3u;
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < CSUM_CHUNKS; i++) {
		__u32 size = rounded > CSUM_CHUNK ? CSUM_CHUNK : rounded;
		opaque(size);
		if (size == 0 || size > CSUM_CHUNK)
			break;
		sum = bpf_csum_diff(0, 0, (void *)(bytes + i * CSUM_CHUNK), size, sum);
		rounded -= size;
	}
	return sum;
}

#endif
