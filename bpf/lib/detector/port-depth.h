// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The depth of a monitored port (LHCNP-5.3.1-a). Under mq each transmit queue has a qdisc of its own, and the kernel
// chooses a packet's queue after this program. Thresholds are the port's, and its queues share its rate: what drains
// at that rate is their sum. Each queue costs some loads, often of memory that another CPU has just written. So each
// CPU sums them with the first packet of a tick, and after as many packets as there are queues: about one queue is
// read a packet. A sum is at most a tick and that many packets of its CPU old.
#ifndef CNPD_PORT_DEPTH_H
#define CNPD_PORT_DEPTH_H

#include "detector/maps.h"
#include "queue-depth.h"

// The agent does not monitor a port with more (src/plan/port-queue.ts).
#define MOST_QUEUES 256

struct queue_sum {
	struct netdev_queue *first;
	__u64 depth;
};

static long add_queue(__u32 index, struct queue_sum *sum)
{
	if (index >= MOST_QUEUES)
		return 1;
	// Before Linux 6.10 the verifier knows the bounds of a product only where the constant is the second operand.
	__u64 offset = index, size = bpf_core_type_size(struct netdev_queue);
	asm volatile("%0 *= %1" : "+r"(offset) : "r"(size));
	const char *at = (const char *)sum->first + offset;
	struct netdev_queue *queue = KERNEL_STRUCT(at, struct netdev_queue);
	struct Qdisc *qdisc = KERNEL_FIELD(queue, qdisc);
	if (qdisc)
		sum->depth += KERNEL_FIELD(qdisc, qstats.backlog);
	return 0;
}

// Returns the sum, at most what 32 bits count; -1: it cannot be read.
static __noinline __s64 sum_of_queues(struct __sk_buff *skb, __u32 slot)
{
	struct egress_queue_sum *last = bpf_map_lookup_elem(&egress_queue_sums, &slot);
	struct net_device *device = KERNEL_FIELD(kernel_packet(skb), dev);
	__u32 tick = bpf_jiffies64();
	if (!last || !device)
		return -1;
	if (last->remaining && last->tick == tick) {
		last->remaining--;
		return last->depth;
	}
	struct netdev_queue *first = KERNEL_FIELD(device, _tx);
	__u32 queues = KERNEL_FIELD(device, real_num_tx_queues);
	if (!first || !queues || queues > MOST_QUEUES)
		return -1;
	// Another root than the agent has seen: all queues share it.
	if (KERNEL_FIELD(first, qdisc) == KERNEL_FIELD(device, qdisc))
		queues = 1;
	struct queue_sum sum = { .first = first };
	bpf_loop(queues, add_queue, &sum, 0);
	last->depth = sum.depth < 0xffffffffU ? sum.depth : 0xffffffffU;
	last->tick = tick;
	last->remaining = queues - 1;
	return last->depth;
}

static __always_inline int port_depth(struct __sk_buff *skb, const struct egress_port *port, __u32 slot, __u32 *depth)
{
	if (likely(!port->multiqueue))
		return queue_depth(skb, depth);
	__s64 sum = sum_of_queues(skb, slot);
	if (sum < 0)
		return -1;
	*depth = sum;
	return 0;
}

#endif
