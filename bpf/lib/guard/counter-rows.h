// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of the border guard; see counter-table.h.
#ifndef CNPD_GUARD_COUNTER_ROWS_H
#define CNPD_GUARD_COUNTER_ROWS_H

#define COUNTERS_GUARD(X)                                                                                                 \
	X(96, GUARD_IN_DROPPED, "guard.ingress.dropped", "notices from outside dropped (PNC-6-c)")                        \
	X(97, GUARD_OUT_DROPPED, "guard.egress.dropped", "notices leaving the domain dropped (PNC-6-d)")                  \
	X(98, GUARD_IN_EVASIVE, "guard.ingress.evasive",                                                                  \
	  "packets from outside dropped whose header chain hides the transport header")                                   \
	X(99, GUARD_OUT_EVASIVE, "guard.egress.evasive",                                                                  \
	  "leaving packets dropped whose header chain hides the transport header")                                        \
	X(100, GUARD_UNCONFIGURED, "guard.unconfigured", "packets on a border port without configuration; passed")        \
	X(101, GUARD_IN_FAST_CNP, "guard.ingress.fast-cnp.dropped", "Fast CNPs from outside dropped (FCNP-5-d)")          \
	X(102, GUARD_OUT_FAST_CNP, "guard.egress.fast-cnp.dropped", "Fast CNPs leaving the domain dropped (FCNP-5-e)")    \
	X(103, GUARD_IN_LH_ICMPV6, "guard.ingress.long-haul-icmpv6.dropped",                                              \
	  "Long-haul CNPs in ICMPv6 from outside dropped (LHCNP-9-a)")                                                    \
	X(104, GUARD_OUT_LH_ICMPV6, "guard.egress.long-haul-icmpv6.dropped",                                              \
	  "Long-haul CNPs in ICMPv6 leaving the domain dropped")                                                          \
	X(105, GUARD_IN_LH_ROCE, "guard.ingress.long-haul-roce.dropped",                                                  \
	  "Long-haul CNPs in RoCEv2 from outside dropped (LHCNP-9-a)")                                                    \
	X(106, GUARD_OUT_LH_ROCE, "guard.egress.long-haul-roce.dropped",                                                  \
	  "Long-haul CNPs in RoCEv2 leaving the domain dropped")                                                          \
	X(107, GUARD_IN_ALLOWED, "guard.ingress.allowed",                                                                 \
	  "notifications from outside passed because their source is on the allow-list")                                  \
	X(108, GUARD_OUT_ALLOWED, "guard.egress.allowed",                                                                 \
	  "notifications leaving the domain passed because their destination is on the allow-list")                       \
	X(109, GUARD_IN_END_CON, "guard.ingress.end-con.dropped",                                                         \
	  "packets from outside dropped: to an END.CON, End.MT or replication SID, or to the Proxy Address of a group")   \
	X(110, GUARD_OPAQUE_MPLS, "guard.opaque.mpls",                                                                    \
	  "packets passed in and out without inspection: no IP header is recognized behind the label stack (pseudowire)") \
	X(111, GUARD_OPAQUE_GRE, "guard.opaque.gre",                                                                      \
	  "packets passed without inspection: GRE of another version, or without IP, MPLS or Ethernet inside")            \
	X(112, GUARD_OPAQUE_VXLAN, "guard.opaque.vxlan",                                                                  \
	  "packets passed without inspection: VXLAN without a network identifier")                                        \
	X(113, GUARD_OPAQUE_ESP, "guard.opaque.esp", "packets passed without inspection: ESP, including ESP in UDP")      \
	X(114, GUARD_OPAQUE_GENEVE, "guard.opaque.geneve", "packets passed without inspection: Geneve")                   \
	X(115, GUARD_OPAQUE_OTHER, "guard.opaque.other",                                                                  \
	  "packets passed without inspection: EtherIP, L2TP, GTP-U, VXLAN-GPE, VXLAN at port 8472")                       \
	X(116, GUARD_IN_ARN, "guard.ingress.arn.dropped", "ARNs from outside dropped (FCN §4.1)")                         \
	X(117, GUARD_OUT_ARN, "guard.egress.arn.dropped", "ARNs leaving the domain dropped (FCN §4.1)")

#endif
