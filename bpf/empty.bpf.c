// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Does nothing: the baseline for the cost of the other programs.
#include "kernel.h"

LICENSE;

SEC("tc")
int empty(struct __sk_buff *skb)
{
	return TC_NEXT;
}
