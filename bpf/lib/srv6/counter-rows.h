// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of the SRv6 programs; see counter-table.h.
#ifndef CNPD_SRV6_COUNTER_ROWS_H
#define CNPD_SRV6_COUNTER_ROWS_H

#define COUNTERS_SRV6(X)                                                                                                     \
	X(208, SRV6_ENCAP_SOURCE, "srv6.encap.source",                                                                       \
	  "RoCEv2 packets encapsulated here that got an END.CON SID as outer source (FCN-4.2.2-c)")                          \
	X(209, SRV6_ENCAP_NO_SOURCE, "srv6.encap.no-source",                                                                 \
	  "RoCEv2 packets encapsulated here for whose sender no END.CON SID is configured")                                  \
	X(210, SRV6_ENCAP_HMAC, "srv6.encap.hmac",                                                                           \
	  "RoCEv2 packets encapsulated here whose SRH has an HMAC, which covers the source; source left alone")              \
	X(211, SRV6_ENCAP_FIELD, "srv6.encap.traffic-class",                                                                 \
	  "packets encapsulated here whose outer ECN or DSCP field was corrected (RFC 6040, RFC 2983)")                      \
	X(212, SRV6_ENCAP_UNPARSEABLE, "srv6.encap.unparseable",                                                             \
	  "packets encapsulated here whose header chain is truncated; passed untouched")                                     \
	X(216, SRV6_DECAP_FORWARDED, "srv6.decap.forwarded", "packets decapsulated and forwarded by the program")            \
	X(217, SRV6_DECAP_HANDED_UP, "srv6.decap.handed-up",                                                                 \
	  "packets decapsulated by the program and routed by the kernel")                                                    \
	X(218, SRV6_DECAP_LEFT, "srv6.decap.left",                                                                           \
	  "packets whose inner ECN is right, left to the kernel's seg6local to decapsulate")                                 \
	X(219, SRV6_DECAP_CE, "srv6.decap.ecn.ce", "packets that carried CE out of the tunnel (FCN-4.2.1-f)")                \
	X(220, SRV6_DECAP_ECT1, "srv6.decap.ecn.ect1", "packets that carried ECT(1) out of the tunnel")                      \
	X(221, SRV6_DECAP_DROPPED, "srv6.decap.ecn.dropped",                                                                 \
	  "packets dropped because a congested tunnel carried Not-ECT inside (RFC 6040 figure 4)")                           \
	X(222, SRV6_DECAP_UNUSED, "srv6.decap.ecn.unused",                                                                   \
	  "combinations of ECN fields that RFC 6040 calls currently unused")                                                 \
	X(223, SRV6_DECAP_ICMPV6, "srv6.decap.icmpv6-error", "ICMPv6 errors to an END.CON SID, consumed")                    \
	X(224, SRV6_DECAP_TOO_BIG, "srv6.decap.packet-too-big",                                                              \
	  "of these, Packet Too Big: a tunnel is wider than its path")                                                       \
	X(225, SRV6_DECAP_SEGMENTS, "srv6.decap.segments-left",                                                              \
	  "packets to a decapsulation SID with segments left; left to the kernel")                                           \
	X(226, SRV6_DECAP_UNPARSEABLE, "srv6.decap.unparseable",                                                             \
	  "packets to a decapsulation SID whose header chain is truncated, malformed or too deep; left to the kernel")       \
	X(227, SRV6_DECAP_FAILED, "srv6.decap.failed",                                                                       \
	  "packets to a decapsulation SID that the kernel did not let the program change; left to the kernel")               \
	X(228, SRV6_DECAP_NO_IPV4, "srv6.decap.no-ipv4",                                                                     \
	  "of those left to the kernel, IPv4 packets to an END.CON SID: lost, because the kernel's action there is End.DT6") \
	X(229, SRV6_DECAP_NO_IPV4_HOOK, "srv6.decap.no-ipv4.hook",                                                           \
	  "of these, left because a netfilter hook or an IPsec policy of this router applies to them")                       \
	X(230, SRV6_DECAP_NO_IPV4_SHARED, "srv6.decap.no-ipv4.shared",                                                       \
	  "of these, left because they are not CNPs, and a proxy or Queue Pair learning inspects arriving packets")

#endif
