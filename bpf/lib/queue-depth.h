// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How much is queued at the port that a packet leaves by.
#ifndef CNPD_QUEUE_DEPTH_H
#define CNPD_QUEUE_DEPTH_H

#include "kernel.h"

// LHCNP-5.3.1-a. Bytes in the port's root qdisc, as `tc -s qdisc` shows them. A single-queue root (TBF, HTB) is shared
// by all transmit queues.
static __always_inline int queue_depth(struct __sk_buff *skb, __u32 *depth)
{
	struct net_device *device = KERNEL_FIELD(kernel_packet(skb), dev);
	if (!device)
		return -1;
	struct netdev_queue *queue = KERNEL_FIELD(device, _tx);
	if (!queue)
		return -1;
	struct Qdisc *qdisc = KERNEL_FIELD(queue, qdisc);
	if (!qdisc)
		return -1;
	*depth = KERNEL_FIELD(qdisc, qstats.backlog);
	return 0;
}

#endif
