// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every reason for which a program of cnpd does or does not do something, as per-CPU counters in one pinned map.
// One row a counter: index, C name, dotted name, meaning. src/kernel/dataplane/counters.ts holds the same table; a unit
// test compares the two. Indexes are for ever: the pinned map outlives the agent, so rows are added at a free index and
// never renumbered.
//   0-63 egress, 64-95 notice builder, 96-127 guard, 128-207 proxy, 208-239 SRv6
#ifndef CNPD_COUNTERS_H
#define CNPD_COUNTERS_H

#include "kernel.h"

#define COUNTERS_EGRESS(X)                                                                                                           \
	X(0, EGRESS_UNCONFIGURED, "egress.unconfigured", "RoCEv2 data packets on a port without configuration")                      \
	X(1, EGRESS_UNPARSEABLE, "egress.unparseable",                                                                               \
	  "packets whose header chain is truncated, too deep or malformed; passed untouched")                                        \
	X(2, EGRESS_NO_QUEUE, "egress.no-queue", "packets of a port whose root qdisc could not be read")                             \
	X(3, EGRESS_CE_MARKED, "egress.ecn.marked", "packets marked CE above K_min")                                                 \
	X(4, EGRESS_CE_ALREADY, "egress.ecn.already-ce", "packets above K_min that carried CE already")                              \
	X(5, EGRESS_NOT_ECT, "egress.ecn.not-ect", "packets above K_min left alone because they are Not-ECT")                        \
	X(6, EGRESS_CE_FAILED, "egress.ecn.failed", "ECT packets above K_min that could not be made writable")                       \
	X(7, EGRESS_TRIGGERS, "egress.triggers", "data packets that met a condition for a notification")                             \
	X(8, EGRESS_SUPPRESSED_FLOW, "egress.suppressed.flow", "triggers within the flow's interval")                                \
	X(9, EGRESS_SUPPRESSED_PORT, "egress.suppressed.port", "triggers refused by the port's token bucket")                        \
	X(10, EGRESS_NO_PROXY, "egress.no-proxy", "triggers whose sender has no proxy")                                              \
	X(11, EGRESS_NO_SOURCE, "egress.no-source",                                                                                  \
	  "triggers whose format needs a loopback address of a family that has none configured")                                     \
	X(12, EGRESS_NOTIFIED, "egress.notified", "triggers handed to the notice builder")                                           \
	X(13, EGRESS_CLONE_FAILED, "egress.clone-failed",                                                                            \
	  "triggers that could not be cloned to the loopback interface")                                                             \
	X(14, EGRESS_FLOW_CREATED, "egress.flow.created", "flow table entries made")                                                 \
	X(15, EGRESS_FLOW_AGED, "egress.flow.aged",                                                                                  \
	  "flow table entries removed because no packet came within the ageing time")                                                \
	X(16, EGRESS_FLOW_EVICTED, "egress.flow.evicted",                                                                            \
	  "live flow table entries replaced because their set was full")                                                             \
	X(17, EGRESS_TRIGGER_ECN, "egress.trigger.ecn-marking-rate", "of the triggers, those by V_ecn (LHCNP-5.4-d)")                \
	X(18, EGRESS_TRIGGER_GROWTH, "egress.trigger.queue-growth",                                                                  \
	  "of the triggers, those by V_growth (LHCNP-5.4-e)")                                                                        \
	X(19, EGRESS_NOT_CONTRIBUTING, "egress.suppressed.contribution",                                                             \
	  "triggers of flows whose share of the queue is too small")                                                                 \
	X(20, EGRESS_DEFERRED, "egress.suppressed.deferral",                                                                         \
	  "triggers while another node's notification was seen to work")                                                             \
	X(21, EGRESS_NO_POLICY, "egress.no-policy", "triggers whose sender is not to be told")                                       \
	X(22, EGRESS_NO_FORMAT, "egress.no-format",                                                                                  \
	  "triggers for which no format of the sender's policy was possible")                                                        \
	X(23, EGRESS_LACKING, "egress.format.lacking",                                                                               \
	  "formats passed over because the sender has shown not to know them")                                                       \
	X(24, EGRESS_NOT_IPV6, "egress.format.not-ipv6", "formats passed over because they need an IPv6 flow")                       \
	X(25, EGRESS_QP_UNKNOWN, "egress.format.qp-unknown",                                                                         \
	  "formats passed over because the sender's Queue Pair is not known")                                                        \
	X(26, EGRESS_NO_END_CON, "egress.format.no-end-con",                                                                         \
	  "formats passed over because the tunnel's source is no END.CON SID of this domain")                                        \
	X(27, EGRESS_ESCALATED, "egress.escalated",                                                                                  \
	  "notifications stricter than the queue's depth alone asks for (LHCNP-5.7-e)")                                              \
	X(28, EGRESS_CE_EXEMPT, "egress.ecn.exempt",                                                                                 \
	  "packets above K_min not marked because their sender gets Fast CNPs")                                                      \
	X(29, EGRESS_BY_PROXY, "egress.notified.proxy", "notifications handed to the builder for a proxy")                           \
	X(30, EGRESS_BY_FAST_CNP, "egress.notified.fast-cnp", "Fast CNPs handed to the builder")                                     \
	X(31, EGRESS_BY_LONG_HAUL_ICMPV6, "egress.notified.long-haul-icmpv6",                                                        \
	  "Long-haul CNPs over ICMPv6 handed to the builder")                                                                        \
	X(32, EGRESS_BY_LONG_HAUL_ROCE, "egress.notified.long-haul-roce",                                                            \
	  "Long-haul CNPs over RoCEv2 handed to the builder")                                                                        \
	X(33, EGRESS_RECORD_LOST, "egress.record-lost",                                                                              \
	  "notifications that the agent was not told about: it does not read")                                                       \
	X(34, EGRESS_NO_ROUTE, "egress.format.no-route",                                                                             \
	  "formats passed over because this router has no route to the proxy, the END.CON or the sender")                            \
	X(35, EGRESS_ECN_MPLS, "egress.ecn.mpls",                                                                                    \
	  "ECT packets above K_min left alone because a label stack is in front of their IP header")                                 \
	X(36, EGRESS_OPAQUE_MPLS, "egress.opaque.mpls",                                                                              \
	  "packets passed unseen: no IP header is recognized behind the label stack (pseudowire)")                                   \
	X(37, EGRESS_OPAQUE_GRE, "egress.opaque.gre",                                                                                \
	  "packets passed unseen: GRE of another version, or with something else than IP, MPLS or Ethernet inside")                  \
	X(38, EGRESS_OPAQUE_VXLAN, "egress.opaque.vxlan", "packets passed unseen: VXLAN without a network identifier")               \
	X(39, EGRESS_OPAQUE_ESP, "egress.opaque.esp", "packets passed unseen: ESP, in UDP too")                                      \
	X(40, EGRESS_OPAQUE_GENEVE, "egress.opaque.geneve", "packets passed unseen: Geneve")                                         \
	X(41, EGRESS_OPAQUE_OTHER, "egress.opaque.other",                                                                            \
	  "packets passed unseen: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472")                                              \
	X(42, EGRESS_TENANT, "egress.format.tenant",                                                                                 \
	  "formats passed over because it is not known whose the packet is: a VPN behind MPLS, GRE or VXLAN, or outside its tunnel") \
	X(43, EGRESS_DATAGRAM, "egress.format.datagram",                                                                             \
	  "formats passed over because a datagram names, as its source, the Queue Pair of a connection")

#define COUNTERS_NOTICE(X)                                                                                                                 \
	X(64, NOTICE_BUILT, "notice.built", "notices built")                                                                               \
	X(65, NOTICE_UNPARSEABLE, "notice.unparseable", "clones that the builder could not parse")                                         \
	X(66, NOTICE_NO_PROXY, "notice.no-proxy", "clones whose proxy vanished between trigger and builder")                               \
	X(67, NOTICE_CHECKSUM_PARTIAL, "notice.checksum-partial",                                                                          \
	  "triggers by packets with an unfinished checksum: transmit offload of a local sender is on")                                     \
	X(68, NOTICE_RESIZE_FAILED, "notice.resize-failed", "clones that could not be resized")                                            \
	X(69, NOTICE_STORE_FAILED, "notice.store-failed", "clones that could not be read or written")                                      \
	X(70, NOTICE_FOREIGN_MARK, "notice.foreign-mark",                                                                                  \
	  "packets on the loopback interface with the builder's mark but not its tag")                                                     \
	X(71, NOTICE_NO_ROUTE, "notice.no-route",                                                                                          \
	  "IPv4 notices with a route that the program cannot use (tunnel, unreachable, MTU)")                                              \
	X(72, NOTICE_ROUTED, "notice.routed",                                                                                              \
	  "IPv4 notices sent to their next hop, IPv6 notices handed to the kernel's routing")                                              \
	X(73, NOTICE_NOT_FORWARDED, "notice.not-forwarded",                                                                                \
	  "IPv4 notices for this router itself; lost if it is no proxy or there is no route")                                              \
	X(74, NOTICE_PROXY, "notice.built.proxy", "Congestion Notifications to Proxy built")                                               \
	X(75, NOTICE_FAST_CNP, "notice.built.fast-cnp", "Fast CNPs built")                                                                 \
	X(76, NOTICE_LONG_HAUL_ICMPV6, "notice.built.long-haul-icmpv6", "Long-haul CNPs built in ICMPv6 form")                             \
	X(77, NOTICE_LONG_HAUL_ROCE, "notice.built.long-haul-roce", "Long-haul CNPs built in RoCEv2 form")                                 \
	X(78, NOTICE_WRAPPED, "notice.wrapped", "notices sent to the END.CON of the tunnel that the packet was in")                        \
	X(79, NOTICE_IOAM, "notice.ioam.copied", "Fast CNPs with option 2: the IOAM trace of the packet is copied")                        \
	X(80, NOTICE_IOAM_UNUSABLE, "notice.ioam.unusable",                                                                                \
	  "Fast CNPs with option 1 although the packet has an IOAM trace: too long for option 2, malformed, or no option type configured") \
	X(81, NOTICE_FORMAT_OFF, "notice.format-off", "clones for a format that is not configured or does not exist")                      \
	X(82, NOTICE_FAMILY, "notice.family",                                                                                              \
	  "clones of IPv4 flows for a format of IPv6 only, or of a family without a loopback address")                                     \
	X(83, NOTICE_NO_QUEUE_PAIR, "notice.no-queue-pair",                                                                                \
	  "clones for a Long-haul CNP without the Queue Pair of the sender")                                                               \
	X(84, NOTICE_TUNNEL, "notice.tunnel", "clones from inside a tunnel over IPv4, which has no END.CON")

#define COUNTERS_GUARD(X)                                                                                              \
	X(96, GUARD_IN_DROPPED, "guard.ingress.dropped", "notices from outside dropped (PNC-6-c)")                     \
	X(97, GUARD_OUT_DROPPED, "guard.egress.dropped", "notices leaving the domain dropped (PNC-6-d)")               \
	X(98, GUARD_IN_EVASIVE, "guard.ingress.evasive",                                                               \
	  "packets from outside dropped whose header chain hides the transport header")                                \
	X(99, GUARD_OUT_EVASIVE, "guard.egress.evasive",                                                               \
	  "leaving packets dropped whose header chain hides the transport header")                                     \
	X(100, GUARD_UNCONFIGURED, "guard.unconfigured", "packets on a border port without configuration; passed")     \
	X(101, GUARD_IN_FAST_CNP, "guard.ingress.fast-cnp.dropped", "Fast CNPs from outside dropped (FCNP-5-d)")       \
	X(102, GUARD_OUT_FAST_CNP, "guard.egress.fast-cnp.dropped", "Fast CNPs leaving the domain dropped (FCNP-5-e)") \
	X(103, GUARD_IN_LH_ICMPV6, "guard.ingress.long-haul-icmpv6.dropped",                                           \
	  "Long-haul CNPs in ICMPv6 from outside dropped (LHCNP-9-a)")                                                 \
	X(104, GUARD_OUT_LH_ICMPV6, "guard.egress.long-haul-icmpv6.dropped",                                           \
	  "Long-haul CNPs in ICMPv6 leaving the domain dropped")                                                       \
	X(105, GUARD_IN_LH_ROCE, "guard.ingress.long-haul-roce.dropped",                                               \
	  "Long-haul CNPs in RoCEv2 from outside dropped (LHCNP-9-a)")                                                 \
	X(106, GUARD_OUT_LH_ROCE, "guard.egress.long-haul-roce.dropped",                                               \
	  "Long-haul CNPs in RoCEv2 leaving the domain dropped")                                                       \
	X(107, GUARD_IN_ALLOWED, "guard.ingress.allowed",                                                              \
	  "notifications from outside passed because their source is on the allow-list")                               \
	X(108, GUARD_OUT_ALLOWED, "guard.egress.allowed",                                                              \
	  "notifications leaving the domain passed because their destination is on the allow-list")                    \
	X(109, GUARD_IN_END_CON, "guard.ingress.end-con.dropped",                                                      \
	  "packets from outside to an END.CON SID of this domain dropped")                                             \
	X(110, GUARD_OPAQUE_MPLS, "guard.opaque.mpls",                                                                 \
	  "packets passed unseen in and out: no IP header is recognized behind the label stack (pseudowire)")          \
	X(111, GUARD_OPAQUE_GRE, "guard.opaque.gre",                                                                   \
	  "packets passed unseen: GRE of another version, or with something else than IP, MPLS or Ethernet inside")    \
	X(112, GUARD_OPAQUE_VXLAN, "guard.opaque.vxlan", "packets passed unseen: VXLAN without a network identifier")  \
	X(113, GUARD_OPAQUE_ESP, "guard.opaque.esp", "packets passed unseen: ESP, in UDP too")                         \
	X(114, GUARD_OPAQUE_GENEVE, "guard.opaque.geneve", "packets passed unseen: Geneve")                            \
	X(115, GUARD_OPAQUE_OTHER, "guard.opaque.other",                                                               \
	  "packets passed unseen: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472")

#include "proxy/counter-rows.h"
#include "srv6/counter-rows.h"

#define COUNTERS_MAX 256

#define CNPD_COUNTER_ENUM(index, name, dotted, meaning) COUNT_##name = index,
enum counter {
	COUNTERS_EGRESS(CNPD_COUNTER_ENUM) COUNTERS_NOTICE(CNPD_COUNTER_ENUM) COUNTERS_GUARD(CNPD_COUNTER_ENUM)
		COUNTERS_PROXY(CNPD_COUNTER_ENUM) COUNTERS_SRV6(CNPD_COUNTER_ENUM)
};

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
