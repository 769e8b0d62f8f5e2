// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether a believed notice leads to a notification of its sender: the sender and its Queue Pair are known, and neither
// the flow's interval nor the node's token bucket is used up (PNC-6-b).
#ifndef CNPD_PROXY_ADMIT_NOTICE_H
#define CNPD_PROXY_ADMIT_NOTICE_H

#include "proxy/check-notice.h"
#include "proxy/queue-pair-usable.h"
#include "token-bucket.h"

// PNC-6-b: both limits hold on any number of CPUs, because each is one word that only one of them can change. Datagrams
// have half of the burst. No table says which of them exist, so forged ones must not use up the burst of connections,
// which always have precedence.
static __always_inline int notice_limits(__u64 *last_cnp, struct proxy_config *config, __u64 burst_ns, __u64 now)
{
	__u32 zero = 0;
	__u64 *bucket = bpf_map_lookup_elem(&proxy_bucket, &zero);
	__u64 last = *(volatile __u64 *)last_cnp;
	if (last != 0 && (__s64)(now - last) < (__s64)config->flow_interval_ns)
		return COUNT_PROXY_FLOW_LIMITED;
	if (!bucket || bucket_full(bucket, config->notice_spacing_ns, burst_ns, now))
		return COUNT_PROXY_RATE_LIMITED;
	if (__sync_val_compare_and_swap(last_cnp, last, now) != last)
		return COUNT_PROXY_FLOW_LIMITED;
	return NOTICE_GOOD;
}

// A datagram names its sender's Queue Pair itself. It is not believed if that Queue Pair is known to belong to a
// connection: the datagram is then forged.
__noinline int notice_admit_datagram(struct notice *notice, __u32 *sender_qpn)
{
	struct proxy_config *config = proxy_configuration();
	__u64 now = bpf_ktime_get_ns(), never = 0;
	if (!notice || !sender_qpn || !config)
		return COUNT_PROXY_CNP_FAILED;
	struct qp_flow key = notice->flow;
	if (queue_pair_is_connected(&key, notice->datagram_qpn))
		return COUNT_PROXY_DATAGRAM;
	__u64 *last = bpf_map_lookup_elem(&proxy_datagrams, &key);
	if (!last) {
		bpf_map_update_elem(&proxy_datagrams, &key, &never, BPF_NOEXIST);
		last = bpf_map_lookup_elem(&proxy_datagrams, &key);
		if (!last)
			return COUNT_PROXY_CNP_FAILED;
	}
	*sender_qpn = notice->datagram_qpn;
	return notice_limits(last, config, config->burst_ns / 2, now);
}

__noinline int notice_admit(struct notice *notice, __u32 *sender_qpn)
{
	struct proxy_config *config = proxy_configuration();
	__u64 now = bpf_ktime_get_ns();
	if (!notice || !sender_qpn || !config)
		return COUNT_PROXY_CNP_FAILED;
	struct proxy_prefix *senders = proxy_match(&proxy_senders, &notice->flow.sender);
	if (!senders)
		return COUNT_PROXY_SENDER_UNKNOWN;
	notice->format = senders->format;
	if (notice->datagram_qpn)
		return notice_admit_datagram(notice, sender_qpn);
	struct queue_pair *pair = queue_pair_usable(&notice->flow, config, now);
	if (!pair) {
		pair = queue_pair_learned(&notice->flow);
		return pair && pair->doubtful ? COUNT_PROXY_QP_DOUBTFUL : COUNT_PROXY_QP_UNKNOWN;
	}
	*sender_qpn = pair->sender_qpn;
	int problem = notice_limits(&pair->last_cnp, config, config->burst_ns, now);
	if (problem != NOTICE_GOOD)
		return problem;
	__sync_fetch_and_add(&pair->cnps, 1);
	if (pair->waiting)
		pair->unanswered_cnps++; // the flow's interval admits no other CPU here
	// The entry may have been removed and its memory given to another flow meanwhile. A second look-up confirms it.
	pair = queue_pair_of(&notice->flow, config, now);
	return pair && pair->sender_qpn == *sender_qpn ? NOTICE_GOOD : COUNT_PROXY_QP_UNKNOWN;
}

#endif
