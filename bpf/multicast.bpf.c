// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Replicated RDMA (draft RMC): End.MT at the edge, replication at root and branching nodes, and the aggregation of
// answers. `multicast_ingress` runs at tc ingress, first, at every port that RoCEv2 may come through. The packets of a
// root's own groups pass a pair of interfaces: `multicast_entry` runs at tc egress of cnpd-mc-peer, before the kernel's
// route encapsulates them, and `multicast_root` at tc egress of cnpd-mc, behind that. `multicast_close_window` runs on
// demand of the agent only, by BPF_PROG_TEST_RUN.
#include "kernel.h"
#include "multicast/answer.h"
#include "multicast/arrival.h"
#include "multicast/progress.h"

LICENSE;

SEC("tc")
int multicast_ingress(struct __sk_buff *skb)
{
	return multicast_arrive(skb);
}

SEC("tc")
int multicast_entry(struct __sk_buff *skb)
{
	return multicast_enter(skb);
}

SEC("tc")
int multicast_root(struct __sk_buff *skb)
{
	return multicast_begin(skb);
}

SEC("tc")
int multicast_close_window(struct __sk_buff *skb)
{
	return multicast_window_close(skb);
}
