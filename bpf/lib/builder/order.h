// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The order for a notification, which its builder (notice.h) reads. The detector orders it about a packet that it has
// seen (detector/notify.h), the proxy about the packet inside a notice (proxy/order-notification.h). The order travels
// in the control block of the packet. No maps: detector and proxy are in different objects.
#ifndef CNPD_BUILDER_ORDER_H
#define CNPD_BUILDER_ORDER_H

#include "kernel.h"

// The format: through the sender's proxy (PNC), as a Fast CNP (FCNP), as a Long-haul CNP in an ICMPv6 message or a
// RoCEv2 packet (LHCNP §6.1, §6.2).
enum notification_format {
	FORMAT_NONE,
	FORMAT_PROXY,
	FORMAT_FAST_CNP,
	FORMAT_LONG_HAUL_ICMPV6,
	FORMAT_LONG_HAUL_ROCE,
	FORMATS
};
// LHCNP §5.5.1; the numbers are those on the wire.
enum action { ACTION_NOTIFY, ACTION_PAUSE, ACTION_RATE_REDUCE, ACTION_RESUME };
// LHCNP §5.4 (a), (b), (c); §5.7 b.
enum reason { REASON_NONE, REASON_QUEUE_DEPTH, REASON_ECN_MARKING_RATE, REASON_QUEUE_GROWTH, REASON_ESCALATION };
// LHCNP §6.1, Metric Type. kB are 1000 bytes.
enum metric { METRIC_UNSPECIFIED, METRIC_QUEUE_DEPTH_KB, METRIC_GROWTH_KB_PER_MS, METRIC_ECN_PERCENT };

// skb->mark and skb->cb of the clone. The tag in cb[0] distinguishes our clones from packets of other users of that
// mark. Programs on the loopback interface leave clones with MARK_TRIGGER alone: they are not traffic. A finished
// notice keeps the tag up to the proxy's program there: any local user can send a datagram from any of this router's
// addresses, but none can write its control block.
#define MARK_TRIGGER 0x434e5054u // "CNPT": a clone of the invoking packet
#define MARK_NOTICE 0x434e504eu	 // "CNPN": a finished notice on its way to routing
#define CB_TAG 0x9c6e7d31u
enum { CB_WORD_TAG, CB_WORD_IFINDEX, CB_WORD_ORDER, CB_WORD_METRIC, CB_WORD_SOURCE_QPN, CB_WORDS };

// The order: which notification to build, and its content.
#define ORDER(format, pnc_level, action, level, parameter)                                                             \
	((__u32)(format) | (__u32)(pnc_level) << 3 | (__u32)(action) << 6 | (__u32)(level) << 8 |                      \
	 (__u32)(parameter) << 16)
#define ORDER_FORMAT(order) ((order) & 7)	  // enum notification_format
#define ORDER_PNC_LEVEL(order) ((order) >> 3 & 7) // 0-7
#define ORDER_ACTION(order) ((order) >> 6 & 3)	  // enum action
#define ORDER_LEVEL(order) ((order) >> 8 & 0xff)  // LHCNP's Congestion Level
#define ORDER_PARAMETER(order) ((order) >> 16)
// The metric, as on the wire (LHCNP §6.1): type << 24 | value, 0 when it is not to be disclosed.
#define METRIC(type, value) ((__u32)(type) << 24 | ((value) > 0xffffff ? 0xffffff : (__u32)(value)))
// The sender's Queue Pair in CB_WORD_SOURCE_QPN; 0: not known.

#endif
