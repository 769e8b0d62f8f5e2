// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of End.MT; see counter-table.h. 256-319 data, 320-383 answers.
#ifndef CNPD_MULTICAST_COUNTER_ROWS_H
#define CNPD_MULTICAST_COUNTER_ROWS_H

#define COUNTERS_MULTICAST(X)                                                                                          \
	X(256, MC_EDGE_PACKETS, "multicast.edge.packets", "packets replicated to receivers by End.MT (RMC-6.2-e)")     \
	X(257, MC_EDGE_COPIES, "multicast.edge.copies", "copies that End.MT made for receivers")                       \
	X(258, MC_BRANCHING_PACKETS, "multicast.branching.packets",                                                    \
	  "packets replicated to the branches of a tree (RMC-5.2-c)")                                                  \
	X(259, MC_BRANCHING_COPIES, "multicast.branching.copies", "copies made for child routers")                     \
	X(260, MC_ROOT_PACKETS, "multicast.root.packets",                                                              \
	  "of the packets replicated to branches, those of this router's own groups")                                  \
	X(261, MC_COPY_RESOLVE, "multicast.copy.resolve",                                                              \
	  "copies handed to the kernel, which resolves the neighbor or knows the tunnel")                              \
	X(262, MC_COPY_NO_ROUTE, "multicast.copy.no-route",                                                            \
	  "copies not made because there is no route to the receiver or the child")                                    \
	X(263, MC_COPY_TOO_BIG, "multicast.copy.too-big",                                                              \
	  "copies not made because they exceed the MTU of their route")                                                \
	X(264, MC_COPY_LOST, "multicast.copy.lost",                                                                    \
	  "copies that the kernel did not make, or that the port's queue dropped")                                     \
	X(265, MC_COPY_LIMIT, "multicast.copy.limit",                                                                  \
	  "packets dropped because the group exceeds its copies per second")                                           \
	X(266, MC_COPY_WAITING, "multicast.copy.waiting",                                                              \
	  "copies not made because their receiver waits for the begin of a message")                                   \
	X(267, MC_NO_RECEIVER, "multicast.edge.no-receiver", "packets dropped because no receiver is to have a copy")  \
	X(268, MC_ECN_CE, "multicast.edge.ecn.ce", "packets that took CE out of the tree (RFC 6040)")                  \
	X(269, MC_ECN_ECT1, "multicast.edge.ecn.ect1", "packets that took ECT(1) out of the tree")                     \
	X(270, MC_ECN_DROPPED, "multicast.edge.ecn.dropped",                                                           \
	  "packets dropped because a congested tree carried Not-ECT inside (RFC 6040 figure 4)")                       \
	X(271, MC_HOP_LIMIT, "multicast.hop-limit", "packets dropped because their hop limit is used up")              \
	X(272, MC_NOT_CORE, "multicast.not-core",                                                                      \
	  "packets to a SID of this router from a port that is no core port; dropped")                                 \
	X(273, MC_NO_SRH, "multicast.no-srh",                                                                          \
	  "packets to a SID of this router without an SRH behind the IPv6 header; dropped (RMC-6.2-j)")                \
	X(274, MC_NO_SEGMENTS, "multicast.no-segments-left",                                                           \
	  "packets to a SID of this router without segments left; dropped (RMC-6.2-j)")                                \
	X(275, MC_FRAGMENT, "multicast.fragment", "fragments to a SID of this router; dropped")                        \
	X(276, MC_ICMPV6, "multicast.icmpv6",                                                                          \
	  "ICMPv6 messages to a SID of this router, or at an edge to a Proxy Address, consumed")                       \
	X(277, MC_PACKET_TOO_BIG, "multicast.packet-too-big",                                                          \
	  "of these, Packet Too Big about a group's packet: the MTU is kept for the agent")                            \
	X(278, MC_SRH_MALFORMED, "multicast.srh.malformed",                                                            \
	  "packets dropped whose SRH is malformed or has other than two segments")                                     \
	X(279, MC_SRH_SEGMENT, "multicast.srh.segment",                                                                \
	  "packets dropped whose last segment is not the destination of the packet inside")                            \
	X(280, MC_SRH_TREE, "multicast.srh.tree-tlv",                                                                  \
	  "packets dropped without a tree TLV at its place, or with one of another length")                            \
	X(281, MC_TLV_OVERRUN, "multicast.srh.tlv-overrun", "packets dropped with a TLV that exceeds the SRH")         \
	X(282, MC_TLV_LENGTH, "multicast.srh.tlv-length",                                                              \
	  "packets dropped with an End.MT TLV of 0 or more than 11 receivers, or another length than theirs")          \
	X(283, MC_TLV_MANY, "multicast.srh.tlv-many", "packets dropped with more than 32 TLVs")                        \
	X(284, MC_TLV_NOT_MEMBER, "multicast.srh.not-member",                                                          \
	  "receivers in End.MT TLVs that are no members with this Queue Pair; no copy")                                \
	X(285, MC_ROUTER_UNKNOWN, "multicast.router-unknown",                                                          \
	  "packets dropped from a source that is no router of the domain")                                             \
	X(286, MC_NOT_PARENT, "multicast.not-parent",                                                                  \
	  "packets dropped from another router than the parent in their tree")                                         \
	X(287, MC_TREE_UNKNOWN, "multicast.tree-unknown",                                                              \
	  "packets dropped because this router does not know their tree (yet, or any more)")                           \
	X(288, MC_MEMBERS_UNKNOWN, "multicast.members-unknown",                                                        \
	  "packets dropped because this router does not know their members (yet, or any more)")                        \
	X(289, MC_SID_OTHER, "multicast.sid-other",                                                                    \
	  "packets dropped that came to a SID that the group does not use here")                                       \
	X(290, MC_GROUP_UNKNOWN, "multicast.group-unknown",                                                            \
	  "packets dropped with a destination inside that is no Proxy Address")                                        \
	X(291, MC_INNER_PROTOCOL, "multicast.inner.protocol",                                                          \
	  "packets dropped with other than IPv6 in the SRH's next header")                                             \
	X(292, MC_INNER_NESTED, "multicast.inner.nested", "packets dropped with another tunnel inside")                \
	X(293, MC_INNER_FRAGMENT, "multicast.inner.fragment", "packets dropped with a fragment inside")                \
	X(294, MC_INNER_EXTENSION, "multicast.inner.extension", "packets dropped with IPv6 extension headers inside")  \
	X(295, MC_INNER_LENGTH, "multicast.inner.length", "packets dropped whose lengths do not agree")                \
	X(296, MC_INNER_NOT_ROCE, "multicast.inner.not-roce", "packets dropped with other than RoCEv2 inside")         \
	X(297, MC_INNER_QPN, "multicast.inner.qpn", "packets dropped with another Queue Pair than the Designated QPN") \
	X(298, MC_INNER_OPCODE, "multicast.inner.opcode",                                                              \
	  "packets dropped with other than SEND or WRITE of RC inside")                                                \
	X(299, MC_SEGMENTED, "multicast.segmented",                                                                    \
	  "packets dropped that the kernel has merged (GRO) or not yet segmented (GSO)")                               \
	X(300, MC_CHECKSUM_PARTIAL, "multicast.checksum-partial",                                                      \
	  "packets dropped with an unfinished checksum: transmit offload of a local sender is on")                     \
	X(301, MC_FAILED, "multicast.failed",                                                                          \
	  "packets dropped because the kernel did not let the program read or change them")                            \
	X(302, MC_ROOT_FOREIGN, "multicast.root.foreign",                                                              \
	  "packets in the encapsulating route that are not of a source of this root; dropped")                         \
	X(303, MC_ROOT_LOOP, "multicast.root.loop",                                                                    \
	  "copies not made because their route leads back into the encapsulating route")                               \
	X(304, MC_PROXY_SOURCE, "multicast.proxy.source", "packets of a source passed to its encapsulating route")     \
	X(305, MC_PROXY_OPCODE, "multicast.proxy.opcode",                                                              \
	  "packets to a Proxy Address of an operation that groups do not have: READ, ATOMIC and others; dropped")      \
	X(306, MC_PROXY_FOREIGN, "multicast.proxy.foreign",                                                            \
	  "packets with data to a Proxy Address that are not from the group's source; dropped")                        \
	X(307, MC_PROXY_CM, "multicast.proxy.cm", "connection management messages to a Proxy Address; dropped")        \
	X(308, MC_PROXY_QPN, "multicast.proxy.qpn",                                                                    \
	  "packets of a source to another Queue Pair than the Designated QPN; dropped")                                \
	X(309, MC_PROXY_MALFORMED, "multicast.proxy.malformed",                                                        \
	  "packets to a Proxy Address that are not plain RoCEv2; dropped")                                             \
	X(310, MC_ROOT_LINK, "multicast.root.link",                                                                    \
	  "packets of the kernel to neighbors in the encapsulating route, where there are none; dropped")              \
	X(311, MC_PROXY_WRONG_PORT, "multicast.proxy.wrong-port",                                                      \
	  "packets with the address of a source that did not arrive where it is routed; dropped")                      \
	X(312, MC_ROOT_LOCAL, "multicast.root.local",                                                                  \
	  "packets with the address of a source that this router itself sent to a Proxy Address; dropped")             \
	X(320, MC_EPOCHS, "multicast.epochs",                                                                          \
	  "changes of the tree or of its members that a role of this router has followed")                             \
	X(321, MC_STALE, "multicast.stale", "data packets of an older epoch than the current one, dropped")            \
	X(322, MC_ANSWERS_HOST, "multicast.answers.host", "ACKs, NAKs and CNPs of receivers to a Proxy Address")       \
	X(323, MC_ANSWERS_CHILD, "multicast.answers.child", "ACKs, NAKs and CNPs of routers further down the tree")    \
	X(324, MC_ANSWER_MALFORMED, "multicast.answers.malformed",                                                     \
	  "answers whose lengths, opcode, syndrome or Queue Pair are wrong, dropped")                                  \
	X(325, MC_ANSWER_ICRC, "multicast.answers.icrc", "answers whose ICRC is wrong, dropped")                       \
	X(326, MC_ANSWER_STRANGER, "multicast.answers.stranger",                                                       \
	  "answers from addresses that are no branch of the list in use, dropped (RMC-9-b)")                           \
	X(327, MC_ANSWER_WRONG_PORT, "multicast.answers.wrong-port",                                                   \
	  "answers that did not arrive where their sender is routed, dropped (RMC-9-b)")                               \
	X(328, MC_ANSWER_STALE, "multicast.answers.stale", "answers of another epoch than the current one, dropped")   \
	X(329, MC_ANSWER_NEVER_SENT, "multicast.answers.never-sent",                                                   \
	  "answers about PSNs that this router has not forwarded, dropped")                                            \
	X(330, MC_ANSWER_CONTENDED, "multicast.answers.contended",                                                     \
	  "answers given up because too many CPUs changed one word at the same time")                                  \
	X(331, MC_WAITING, "multicast.answers.waiting",                                                                \
	  "answers recorded while other branches have not answered in this epoch (decision C9)")                       \
	X(332, MC_SUPPRESSED, "multicast.answers.suppressed", "answers recorded that do not change what goes up")      \
	X(333, MC_UP_ACK, "multicast.up.ack", "ACKs sent up, with the minimum over all branches (RMC-5.3.1-d)")        \
	X(334, MC_UP_NAK, "multicast.up.nak", "sequence NAKs sent up (RMC-5.3.2-d)")                                   \
	X(335, MC_UP_RNR, "multicast.up.rnr", "RNR NAKs sent up")                                                      \
	X(336, MC_UP_FATAL, "multicast.up.fatal", "NAKs of fatal errors sent up")                                      \
	X(337, MC_UP_CNP, "multicast.up.cnp", "CNPs sent up, one per window (RMC-5.3.3-b)")                            \
	X(338, MC_CNPS, "multicast.cnps", "CNPs counted in windows (RMC-5.3.3-a)")                                     \
	X(339, MC_CNPS_LIMITED, "multicast.cnps.limited",                                                              \
	  "CNPs of a branch beyond its limit in a window, not counted there (RMC-9-d)")                                \
	X(340, MC_NO_SOURCE, "multicast.up.no-source",                                                                 \
	  "answers dropped at the root because the Queue Pair of the source is not known")                             \
	X(341, MC_NO_PARENT, "multicast.up.no-parent", "answers dropped because the SID of the parent is not known")   \
	X(342, MC_UP_FAILED, "multicast.up.failed",                                                                    \
	  "answers that the kernel did not let the program resize or write, dropped")                                  \
	X(343, MC_NO_STATE, "multicast.answers.no-data",                                                               \
	  "answers for a group of which no data packet has come yet, dropped")                                         \
	X(350, MC_NOTICES, "multicast.notices",                                                                        \
	  "Fast CNPs of congested routers about copies, counted as CNPs of the receivers (RMC-1.1-b)")                 \
	X(351, MC_NOTICE_FOREIGN, "multicast.notices.foreign",                                                         \
	  "Fast CNPs to a Proxy Address that come from no router of the domain, or not from there; dropped (FCNP-5-c)")

#endif
