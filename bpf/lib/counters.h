// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every reason for which a program of cnpd does or does not do something, as per-CPU counters in one pinned map.
// One row a counter: index, C name, dotted name, meaning. src/kernel/dataplane/counters.ts holds the same table; a unit test compares the two.
// Indexes are for ever: the pinned map outlives the agent, so rows are added at a free index and never renumbered.
//   0-63 egress, 64-95 notice builder, 96-127 guard, 128-255 proxy
#ifndef CNPD_COUNTERS_H
#define CNPD_COUNTERS_H

#include "kernel.h"

#define COUNTERS_EGRESS(X)                                                                                                             \
	X(0, EGRESS_UNCONFIGURED, "egress.unconfigured", "RoCEv2 data packets on a port without configuration")                         \
	X(1, EGRESS_UNPARSEABLE, "egress.unparseable", "packets whose header chain is truncated, too deep or malformed; passed untouched") \
	X(2, EGRESS_NO_QUEUE, "egress.no-queue", "packets of a port whose root qdisc could not be read")                                \
	X(3, EGRESS_CE_MARKED, "egress.ecn.marked", "packets marked CE above K_min")                                                    \
	X(4, EGRESS_CE_ALREADY, "egress.ecn.already-ce", "packets above K_min that carried CE already")                                 \
	X(5, EGRESS_NOT_ECT, "egress.ecn.not-ect", "packets above K_min left alone because they are Not-ECT")                           \
	X(6, EGRESS_CE_FAILED, "egress.ecn.failed", "ECT packets above K_min that could not be made writable")                          \
	X(7, EGRESS_TRIGGERS, "egress.triggers", "data packets seen above K_max")                                                       \
	X(8, EGRESS_SUPPRESSED_FLOW, "egress.suppressed.flow", "triggers within the flow's interval")                                   \
	X(9, EGRESS_SUPPRESSED_PORT, "egress.suppressed.port", "triggers refused by the port's token bucket")                           \
	X(10, EGRESS_NO_PROXY, "egress.no-proxy", "triggers whose sender has no proxy")                                                 \
	X(11, EGRESS_NO_SOURCE, "egress.no-source", "triggers whose proxy's family has no loopback address configured")                 \
	X(12, EGRESS_NOTIFIED, "egress.notified", "triggers handed to the notice builder")                                              \
	X(13, EGRESS_CLONE_FAILED, "egress.clone-failed", "triggers that could not be cloned to the loopback interface")                \
	X(14, EGRESS_FLOW_CREATED, "egress.flow.created", "flow table entries made")                                                    \
	X(15, EGRESS_FLOW_AGED, "egress.flow.aged", "flow table entries removed because no packet came within the ageing time")         \
	X(16, EGRESS_FLOW_EVICTED, "egress.flow.evicted", "live flow table entries replaced because their set was full")

#define COUNTERS_NOTICE(X)                                                                                                             \
	X(64, NOTICE_BUILT, "notice.built", "notices built")                                                                            \
	X(65, NOTICE_UNPARSEABLE, "notice.unparseable", "clones that the builder could not parse")                                      \
	X(66, NOTICE_NO_PROXY, "notice.no-proxy", "clones whose proxy vanished between trigger and builder")                            \
	X(67, NOTICE_CHECKSUM_PARTIAL, "notice.checksum-partial", "clones with an unfinished checksum: transmit offload of a local sender is on") \
	X(68, NOTICE_RESIZE_FAILED, "notice.resize-failed", "clones that could not be resized")                                         \
	X(69, NOTICE_STORE_FAILED, "notice.store-failed", "clones that could not be read or written")                                   \
	X(70, NOTICE_FOREIGN_MARK, "notice.foreign-mark", "packets on the loopback interface with the builder's mark but not its tag")  \
	X(71, NOTICE_NO_ROUTE, "notice.no-route", "IPv4 notices with a route that the program cannot use (tunnel, unreachable, MTU)")   \
	X(72, NOTICE_ROUTED, "notice.routed", "IPv4 notices sent to their next hop, IPv6 notices handed to the kernel's routing")    \
	X(73, NOTICE_NOT_FORWARDED, "notice.not-forwarded", "IPv4 notices for this router itself; lost if it is no proxy or there is no route")

#define COUNTERS_GUARD(X)                                                                                                              \
	X(96, GUARD_IN_DROPPED, "guard.ingress.dropped", "notices from outside dropped (PNC-6-c)")                                      \
	X(97, GUARD_OUT_DROPPED, "guard.egress.dropped", "notices leaving the domain dropped (PNC-6-d)")                                \
	X(98, GUARD_IN_EVASIVE, "guard.ingress.evasive", "packets from outside dropped whose header chain hides the transport header")  \
	X(99, GUARD_OUT_EVASIVE, "guard.egress.evasive", "leaving packets dropped whose header chain hides the transport header")       \
	X(100, GUARD_UNCONFIGURED, "guard.unconfigured", "UDP and evasive packets on a border port without configuration; passed")

#include "counters-proxy.h"

#define COUNTERS_MAX 256

#define CNPD_COUNTER_ENUM(index, name, dotted, meaning) COUNT_##name = index,
enum counter { COUNTERS_EGRESS(CNPD_COUNTER_ENUM) COUNTERS_NOTICE(CNPD_COUNTER_ENUM) COUNTERS_GUARD(CNPD_COUNTER_ENUM) COUNTERS_PROXY(CNPD_COUNTER_ENUM) };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

// tc programs run with bottom halves off, so a per-CPU value has one writer at a time.
static __always_inline void count(enum counter counter)
{
	__u32 index = counter;
	__u64 *value = bpf_map_lookup_elem(&counters, &index);
	if (value)
		(*value)++;
}

#endif
