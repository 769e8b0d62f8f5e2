// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A token bucket as a theoretical arrival time (GCRA, ITU-T I.371): one word, which CPUs change by compare-and-swap.
#ifndef CNPD_TOKEN_BUCKET_H
#define CNPD_TOKEN_BUCKET_H

#include "kernel.h"

// Whether the bucket refuses; otherwise a token is taken. `spacing_ns`: 1/rate; `burst_ns`: (burst - 1) × spacing.
static __always_inline int bucket_full(__u64 *bucket, __u64 spacing_ns, __u64 burst_ns, __u64 now)
{
	for (int attempt = 0; attempt < 8; attempt++) {
		__u64 arrival = *(volatile __u64 *)bucket;
		__u64 base = arrival > now ? arrival : now;
		if (base - now > burst_ns)
			return 1;
		if (__sync_val_compare_and_swap(bucket, arrival, base + spacing_ns) == arrival)
			return 0;
	}
	return 1;
}

#endif
