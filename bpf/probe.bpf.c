// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the other programs need of the kernel's verifier: one small program for each, never attached. The agent tries
// to load them one by one (src/kernel/probe.ts) and so can name what a kernel lacks.
#include "kernel.h"

LICENSE;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} probe_values SEC(".maps");

SEC("tc")
int coarse_clock(struct __sk_buff *skb)
{
	return bpf_ktime_get_coarse_ns() ? TC_PASS : TC_NEXT;
}

// Instructions that change memory and return what was there.
SEC("tc")
int atomics(struct __sk_buff *skb)
{
	__u64 word = skb->len;

	opaque(word);
	return __sync_val_compare_and_swap(&word, skb->mark, skb->hash) + __sync_fetch_and_add(&word, 1) ? TC_PASS
													 : TC_NEXT;
}

struct probe_memory {
	__u64 words[4];
};

__noinline int probe_reads(struct probe_memory *memory)
{
	return memory ? memory->words[1] : 0;
}

// Functions that the verifier checks once, for any memory of a size.
SEC("tc")
int function_memory(struct __sk_buff *skb)
{
	struct probe_memory memory = { .words = { 0, skb->len, 0, 0 } };

	return probe_reads(&memory) ? TC_PASS : TC_NEXT;
}

static long probe_round(__u32 index, __u64 *sum)
{
	*sum += index;
	return 0;
}

SEC("tc")
int loop(struct __sk_buff *skb)
{
	__u64 sum = 0;

	bpf_loop(2, probe_round, &sum, 0);
	return sum ? TC_PASS : TC_NEXT;
}

SEC("tc")
int percpu_lookup(struct __sk_buff *skb)
{
	__u32 zero = 0;

	return bpf_map_lookup_percpu_elem(&probe_values, &zero, 0) ? TC_PASS : TC_NEXT;
}

extern void *cnpd_no_such_function(void *) __ksym __weak;

// Calls of functions that this kernel lacks, in a branch that is not taken.
SEC("tc")
int absent_function(struct __sk_buff *skb)
{
	if (!LINUX_KERNEL_VERSION)
		cnpd_no_such_function(skb);
	return TC_NEXT;
}

// Memory of the stack, not all of it written, for a function as above.
SEC("tc")
int stack_memory(struct __sk_buff *skb)
{
	struct probe_memory memory;

	memory.words[1] = skb->len;
	return probe_reads(&memory) ? TC_PASS : TC_NEXT;
}
