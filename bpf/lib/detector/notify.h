// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Hands a notification to the builder, records it in the flow, and reports it to the agent.
#ifndef CNPD_DETECTOR_NOTIFY_H
#define CNPD_DETECTOR_NOTIFY_H

#include "detector/congestion.h"
#include "detector/monitor.h"
#include "detector/severity.h"

// The content of a notification besides its format; all zero for a Fast CNP, which has no other content.
struct message {
	__u32 level; // PNC: 0-7; long-haul formats: 0-255
	__u32 action;
	__u32 parameter;
};

static __always_inline void message_of(const struct congestion *c, struct message *message)
{
	__builtin_memset(message, 0, sizeof(*message));
	if (c->format == FORMAT_PROXY) {
		message->level = congestion_level(c->port, c->depth);
	} else if (is_long_haul(c->format)) {
		const struct instruction *instruction = &c->port->instructions[c->row & (INSTRUCTIONS - 1)];
		message->level = instruction->level;
		message->action = instruction->action;
		message->parameter = instruction->parameter;
	}
}

static __always_inline long clone_to_builder(struct __sk_buff *skb, const struct congestion *c,
					     const struct message *message)
{
	__u32 mark = skb->mark, saved[CB_WORDS] = { skb->cb[0], skb->cb[1], skb->cb[2], skb->cb[3], skb->cb[4] };
	int pnc = c->format == FORMAT_PROXY;
	skb->mark = MARK_TRIGGER;
	skb->cb[CB_WORD_TAG] = CB_TAG;
	skb->cb[CB_WORD_IFINDEX] = skb->ifindex;
	skb->cb[CB_WORD_ORDER] = ORDER(c->format, pnc ? message->level : 0, message->action, pnc ? 0 : message->level,
				       message->parameter);
	skb->cb[CB_WORD_METRIC] = is_long_haul(c->format) && c->config->disclose
					  ? metric_of(c->reason, c->port, c->measure, c->depth)
					  : 0;
	skb->cb[CB_WORD_SOURCE_QPN] = c->source_qpn;
	long error = bpf_clone_redirect(skb, LOOPBACK_IFINDEX, BPF_F_INGRESS);
	skb->mark = mark;
	skb->cb[0] = saved[0];
	skb->cb[1] = saved[1];
	skb->cb[2] = saved[2];
	skb->cb[3] = saved[3];
	skb->cb[4] = saved[4];
	return error;
}

// The END.CON SID through which the notification is sent; zero: directly.
static __always_inline struct address end_con_of(const struct congestion *c)
{
	struct address none = {};
	const __u64 *end_con = end_con_for(c->packet->key.tunnel)->halves;
	struct address sid = { .halves = { end_con[0], end_con[1] } };
	return c->format != FORMAT_PROXY && c->packet->tunnel_family == 6 ? sid : none;
}

static __always_inline void record_notification(const struct congestion *c, const struct message *message)
{
	struct flow *flow = c->flow;
	__sync_fetch_and_add(&flow->notices, 1);
	flow->notified_at = c->now;
	flow->notified_source_qpn = c->source_qpn;
	flow->notified_depth = c->depth;
	flow->notified_format = c->format;
	flow->notified_row = c->row;
	flow->notified_action = message->action;
	flow->notified_level = message->level;
	flow->notified_parameter = message->parameter;
	flow->notified_pkey = c->packet->pkey;
	flow->notified_sport = c->packet->sport;
	flow->ce_exempt_until = c->format == FORMAT_FAST_CNP && !c->mark_ce ? c->now + c->port->flow_interval_ns : 0;
	if (is_long_haul(c->format))
		flow->deferred_until = 0; // the deferral has ended with this notification
}

static __always_inline void record(const struct __sk_buff *skb, const struct congestion *c,
				   const struct message *message)
{
	const struct flow_key *key = &c->packet->key;
	struct notification_record *record = bpf_ringbuf_reserve(&notifications, sizeof(*record), 0);
	if (!record) {
		count(COUNT_EGRESS_RECORD_LOST);
		return;
	}
	record->time_ns = c->now;
	record->source.halves[0] = key->source[0];
	record->source.halves[1] = key->source[1];
	record->destination.halves[0] = key->destination[0];
	record->destination.halves[1] = key->destination[1];
	record->end_con = end_con_of(c);
	record->ifindex = skb->ifindex;
	record->destination_qpn = FLOW_QPN(key->qpn);
	record->datagram = !!(key->qpn & FLOW_DATAGRAM);
	record->source_qpn = c->source_qpn;
	record->queue_bytes = c->depth;
	record->format = c->format;
	record->reason = c->reason;
	record->action = message->action;
	record->level = message->level;
	record->parameter = message->parameter;
	record->pkey = c->packet->pkey;
	record->sport = c->packet->sport;
	record->reserved[0] = record->reserved[1] = 0;
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void count_notified(const struct congestion *c)
{
	count(COUNT_EGRESS_NOTIFIED);
	c->stats->notifications++;
	count(COUNT_EGRESS_BY_PROXY + c->format - FORMAT_PROXY);
	if (c->reason == REASON_ESCALATION)
		count(COUNT_EGRESS_ESCALATED);
}

static __noinline int notify(struct __sk_buff *skb, const struct congestion *c)
{
	struct message message;
	message_of(c, &message);
	if (clone_to_builder(skb, c, &message)) {
		count(COUNT_EGRESS_CLONE_FAILED);
		return 0;
	}
	count_notified(c);
	record_notification(c, &message);
	record(skb, c, &message);
	return 0;
}

#endif
