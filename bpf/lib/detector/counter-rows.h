// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of the congested node; see counter-table.h.
#ifndef CNPD_DETECTOR_COUNTER_ROWS_H
#define CNPD_DETECTOR_COUNTER_ROWS_H

#define COUNTERS_EGRESS(X)                                                                                                  \
	X(0, EGRESS_UNCONFIGURED, "egress.unconfigured", "RoCEv2 data packets on a port without configuration")             \
	X(1, EGRESS_UNPARSEABLE, "egress.unparseable",                                                                      \
	  "packets whose header chain is truncated, too deep or malformed; passed untouched")                               \
	X(2, EGRESS_NO_QUEUE, "egress.no-queue", "packets of a port whose root qdisc could not be read")                    \
	X(3, EGRESS_CE_MARKED, "egress.ecn.marked", "packets marked CE above K_min")                                        \
	X(4, EGRESS_CE_ALREADY, "egress.ecn.already-ce", "packets above K_min that carried CE already")                     \
	X(5, EGRESS_NOT_ECT, "egress.ecn.not-ect", "packets above K_min left alone because they are Not-ECT")               \
	X(6, EGRESS_CE_FAILED, "egress.ecn.failed", "ECT packets above K_min that could not be made writable")              \
	X(7, EGRESS_TRIGGERS, "egress.triggers", "data packets that met a condition for a notification")                    \
	X(8, EGRESS_SUPPRESSED_FLOW, "egress.suppressed.flow", "triggers within the flow's interval")                       \
	X(9, EGRESS_SUPPRESSED_PORT, "egress.suppressed.port", "triggers refused by the port's token bucket")               \
	X(10, EGRESS_NO_PROXY, "egress.no-proxy", "triggers whose sender has no proxy")                                     \
	X(11, EGRESS_NO_SOURCE, "egress.no-source",                                                                         \
	  "triggers whose format needs a loopback address of a family that has none")                                       \
	X(12, EGRESS_NOTIFIED, "egress.notified", "triggers handed to the notice builder")                                  \
	X(13, EGRESS_CLONE_FAILED, "egress.clone-failed",                                                                   \
	  "triggers that could not be cloned to the loopback interface")                                                    \
	X(14, EGRESS_FLOW_CREATED, "egress.flow.created", "flow table entries created")                                     \
	X(15, EGRESS_FLOW_AGED, "egress.flow.aged",                                                                         \
	  "flow table entries removed because no packet came within the ageing time")                                       \
	X(16, EGRESS_FLOW_EVICTED, "egress.flow.evicted",                                                                   \
	  "live flow table entries replaced because their set was full")                                                    \
	X(17, EGRESS_TRIGGER_ECN, "egress.trigger.ecn-marking-rate",                                                        \
	  "of the triggers, those caused by V_ecn (LHCNP-5.4-d)")                                                           \
	X(18, EGRESS_TRIGGER_GROWTH, "egress.trigger.queue-growth",                                                         \
	  "of the triggers, those caused by V_growth (LHCNP-5.4-e)")                                                        \
	X(19, EGRESS_NOT_CONTRIBUTING, "egress.suppressed.contribution",                                                    \
	  "triggers of flows whose share of the queue is too small")                                                        \
	X(20, EGRESS_DEFERRED, "egress.suppressed.deferral",                                                                \
	  "triggers while another node's notification was seen to work")                                                    \
	X(21, EGRESS_NO_POLICY, "egress.no-policy", "triggers whose sender no policy covers")                               \
	X(22, EGRESS_NO_FORMAT, "egress.no-format",                                                                         \
	  "triggers for which no format of the sender's policy was possible")                                               \
	X(23, EGRESS_LACKING, "egress.format.lacking", "formats skipped because the sender does not understand them")       \
	X(24, EGRESS_NOT_IPV6, "egress.format.not-ipv6", "formats skipped because they need an IPv6 flow")                  \
	X(25, EGRESS_QP_UNKNOWN, "egress.format.qp-unknown",                                                                \
	  "formats skipped because the sender's Queue Pair is not known")                                                   \
	X(26, EGRESS_NO_END_CON, "egress.format.no-end-con",                                                                \
	  "formats skipped because the tunnel's source is no END.CON SID of this domain")                                   \
	X(27, EGRESS_ESCALATED, "egress.escalated",                                                                         \
	  "notifications stricter than the queue's depth alone asks for (LHCNP-5.7-e)")                                     \
	X(28, EGRESS_CE_EXEMPT, "egress.ecn.exempt",                                                                        \
	  "packets above K_min not marked because their sender gets Fast CNPs")                                             \
	X(29, EGRESS_BY_PROXY, "egress.notified.proxy", "notifications handed to the builder for a proxy")                  \
	X(30, EGRESS_BY_FAST_CNP, "egress.notified.fast-cnp", "Fast CNPs handed to the builder")                            \
	X(31, EGRESS_BY_LONG_HAUL_ICMPV6, "egress.notified.long-haul-icmpv6",                                               \
	  "Long-haul CNPs over ICMPv6 handed to the builder")                                                               \
	X(32, EGRESS_BY_LONG_HAUL_ROCE, "egress.notified.long-haul-roce",                                                   \
	  "Long-haul CNPs over RoCEv2 handed to the builder")                                                               \
	X(33, EGRESS_RECORD_LOST, "egress.record-lost",                                                                     \
	  "notification records lost because the agent did not read them in time")                                          \
	X(34, EGRESS_NO_ROUTE, "egress.format.no-route",                                                                    \
	  "formats skipped because this router has no route to the proxy, the END.CON or the sender")                       \
	X(35, EGRESS_ECN_MPLS, "egress.ecn.mpls",                                                                           \
	  "ECT packets above K_min left alone because a label stack is in front of their IP header")                        \
	X(36, EGRESS_OPAQUE_MPLS, "egress.opaque.mpls",                                                                     \
	  "packets passed without inspection: no IP header is recognized behind the label stack (pseudowire)")              \
	X(37, EGRESS_OPAQUE_GRE, "egress.opaque.gre",                                                                       \
	  "packets passed without inspection: GRE of another version, or without IP, MPLS or Ethernet inside")              \
	X(38, EGRESS_OPAQUE_VXLAN, "egress.opaque.vxlan",                                                                   \
	  "packets passed without inspection: VXLAN without a network identifier")                                          \
	X(39, EGRESS_OPAQUE_ESP, "egress.opaque.esp", "packets passed without inspection: ESP, including ESP in UDP")       \
	X(40, EGRESS_OPAQUE_GENEVE, "egress.opaque.geneve", "packets passed without inspection: Geneve")                    \
	X(41, EGRESS_OPAQUE_OTHER, "egress.opaque.other",                                                                   \
	  "packets passed without inspection: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472")                         \
	X(42, EGRESS_TENANT, "egress.format.tenant",                                                                        \
	  "formats skipped because the packet's tenant is unknown: a VPN behind MPLS, GRE or VXLAN, or outside its tunnel") \
	X(43, EGRESS_DATAGRAM, "egress.format.datagram",                                                                    \
	  "formats skipped because a datagram names a connection's Queue Pair as its source")                               \
	X(44, EGRESS_NOT_ADVERTISED, "egress.format.not-advertised",                                                        \
	  "formats skipped because the sender's prefix is not advertised to understand them")

#endif
