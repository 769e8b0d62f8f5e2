// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What becomes of a believed notification: it passes, it becomes a standard CNP for the sender's Queue Pair (as a
// notice does at a proxy, proxy/receive-notice.h), or the agent obeys it.
#ifndef CNPD_SOURCE_ACT_H
#define CNPD_SOURCE_ACT_H

#include "source/admit.h"
#include "source/obey.h"
#include "wire/cnp.h"

static __always_inline void source_fill(struct source_record *record, const struct __sk_buff *skb,
					const struct told *told)
{
	record->time_ns = bpf_ktime_get_ns();
	record->sender = told->sender;
	record->receiver = told->receiver;
	record->node = told->node;
	record->receiver_qpn = told->receiver_qpn;
	record->sender_qpn = told->sender_qpn;
	record->metric = told->metric;
	record->ifindex = skb->ifindex;
	record->parameter = told->parameter;
	record->level = told->level;
	record->instruction = told->instruction;
	record->format = told->format;
	record->action = told->action;
	record->reserved[0] = record->reserved[1] = 0;
}

static __always_inline int source_report_trace(struct __sk_buff *skb, const struct told *told)
{
	struct source_trace_record *traced = bpf_ringbuf_reserve(&source_records, sizeof(*traced), 0);
	// One less: so the verifier of Linux 6.1 knows too that there is at least one byte.
	__u32 behind = told->trace_length - 1;
	if (!traced) {
		count(COUNT_SOURCE_RECORD_LOST);
		return 0;
	}
	source_fill(&traced->record, skb, told);
	__builtin_memset(traced->trace, 0, sizeof(traced->trace));
	opaque(behind);
	if (behind >= SOURCE_TRACE_MAX || bpf_skb_load_bytes(skb, ETH_HLEN + told->trace - 1, &traced->kind, 1) < 0 ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + told->trace, traced->trace, behind + 1) < 0) {
		bpf_ringbuf_discard(traced, 0);
		count(COUNT_SOURCE_RECORD_LOST);
		return 0;
	}
	traced->length = behind + 1;
	bpf_ringbuf_submit(traced, 0);
	return 1;
}

// Returns 0 if the agent does not keep up, or is dead: its ring is full.
static __always_inline int source_report(struct __sk_buff *skb, const struct told *told)
{
	if (told->trace)
		return source_report_trace(skb, told);
	struct source_record *record = bpf_ringbuf_reserve(&source_records, sizeof(*record), 0);
	if (!record) {
		count(COUNT_SOURCE_RECORD_LOST);
		return 0;
	}
	source_fill(record, skb, told);
	bpf_ringbuf_submit(record, 0);
	return 1;
}

// Rewrites the frame as the CNP, which the kernel routes: what an adapter that knows no other would make of a Long-haul
// CNP in RoCEv2 (LHCNP-5.6-j, LHCNP-8-c), and for this router's hosts of the other formats. Its source is the flow's
// receiver: adapters find the connection by it.
static __noinline int source_convert(struct __sk_buff *skb, const struct told *told)
{
	struct source_scratch *scratch = source_memory();
	struct cnp cnp = {
		.source = told->receiver,
		.destination = told->sender,
		.qpn = told->sender_qpn,
		.sport = told->sport,
		.pkey = told->pkey,
	};
	if (!scratch)
		return COUNT_SOURCE_FAILED;
	__u32 length = told->family == 6 ? CNP_WORDS_IPV6 * 4 : CNP_WORDS_IPV4 * 4;
	if (told->family == 6)
		cnp_build_ipv6(scratch->words, &cnp);
	else
		cnp_build_ipv4(scratch->words, &cnp);
	if (bpf_skb_change_tail(skb, ETH_HLEN + length, 0) < 0)
		return COUNT_SOURCE_FAILED;
	int stored =
		told->family == 6
			? bpf_skb_store_bytes(skb, ETH_HLEN, scratch->words, CNP_WORDS_IPV6 * 4, BPF_F_INVALIDATE_HASH)
			: bpf_skb_store_bytes(skb, ETH_HLEN, scratch->words, CNP_WORDS_IPV4 * 4, BPF_F_INVALIDATE_HASH);
	return stored < 0 ? COUNT_SOURCE_FAILED : SOURCE_GOOD;
}

static __always_inline int source_act(struct __sk_buff *skb, const struct told *told)
{
	int reported = source_report(skb, told);
	if (told->action == SOURCE_PASS) {
		if (told->format != FORMAT_NONE)
			count(COUNT_SOURCE_PASSED);
		return TC_NEXT;
	}
	// What the agent is not told, nobody obeys in place of the host: it has to hear of it.
	if (told->action == SOURCE_ENFORCE && (reported || source_is_resume(told))) {
		count(COUNT_SOURCE_ENFORCED);
		if (reported)
			source_obey(told);
		if (told->format == FORMAT_NONE)
			count(COUNT_SOURCE_PEER);
		return TC_DROP;
	}
	if (told->format == FORMAT_NONE)
		return TC_NEXT;
	int problem = told->action == SOURCE_ENFORCE ? source_admit_instead(told) : SOURCE_GOOD;
	if (problem == SOURCE_GOOD)
		problem = source_convert(skb, told);
	if (problem != SOURCE_GOOD) {
		count(problem);
		return TC_DROP;
	}
	count(COUNT_SOURCE_CONVERTED);
	return TC_NEXT;
}

#endif
