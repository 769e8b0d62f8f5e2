// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The proxy's rows of the counter table (counter-table.h): indexes 128 to 207. Only the proxy's program counts them.
//   128-159 notices and their CNPs, 160-191 Queue Pair learning, 192-207 CM exchanges
#ifndef CNPD_PROXY_COUNTER_ROWS_H
#define CNPD_PROXY_COUNTER_ROWS_H

#define COUNTERS_PROXY(X)                                                                                                                  \
	X(128, PROXY_NOTICES, "proxy.notice.received", "notices addressed to the proxy")                                                   \
	X(129, PROXY_CNPS, "proxy.cnp.sent", "notices turned into a CNP")                                                                  \
	X(130, PROXY_CNP_FAILED, "proxy.cnp.failed", "notices that the kernel could not resize or rewrite")                                \
	X(131, PROXY_NOT_ALLOWED, "proxy.notice.not-allowed",                                                                              \
	  "notices from a source outside the allow-list, or decapsulated by END.CON from a tunnel outside it")                             \
	X(132, PROXY_FRAGMENT, "proxy.notice.fragment", "fragments of notices")                                                            \
	X(133, PROXY_EXTENSION, "proxy.notice.extension-headers", "notices with IP options or IPv6 extension headers")                     \
	X(134, PROXY_TRUNCATED, "proxy.notice.truncated",                                                                                  \
	  "notices shorter than their length fields say, or than a five-tuple and an IP header")                                           \
	X(135, PROXY_TOO_LONG, "proxy.notice.too-long", "notices longer than 576 (IPv4) or 1280 (IPv6) bytes")                             \
	X(136, PROXY_NO_CHECKSUM, "proxy.notice.no-checksum", "notices over IPv6 without a UDP checksum")                                  \
	X(137, PROXY_BAD_CHECKSUM, "proxy.notice.bad-checksum", "notices with a wrong UDP or IPv4 header checksum")                        \
	X(138, PROXY_TUPLE_NOT_FOUND, "proxy.notice.tuple-not-found",                                                                      \
	  "notices whose five-tuple is not in the invoking packet")                                                                        \
	X(139, PROXY_TUPLE_AMBIGUOUS, "proxy.notice.tuple-ambiguous",                                                                      \
	  "notices whose five-tuple matches both as IPv4 and as IPv6")                                                                     \
	X(140, PROXY_NOT_ROCE, "proxy.notice.not-roce", "notices about flows that are not RoCEv2")                                         \
	X(141, PROXY_NO_BTH, "proxy.notice.bth-missing",                                                                                   \
	  "notices whose invoking packet is cut before the end of the BTH")                                                                \
	X(142, PROXY_NOT_DATA, "proxy.notice.not-data",                                                                                    \
	  "notices about CNPs, management packets or unknown BTH versions")                                                                \
	X(143, PROXY_SENDER_UNKNOWN, "proxy.notice.sender-unknown",                                                                        \
	  "notices about senders outside the declared prefixes")                                                                           \
	X(144, PROXY_QP_UNKNOWN, "proxy.notice.qp-unknown",                                                                                \
	  "notices about flows whose sender's Queue Pair is not known")                                                                    \
	X(145, PROXY_FLOW_LIMITED, "proxy.notice.flow-limited", "notices within the flow's interval")                                      \
	X(146, PROXY_RATE_LIMITED, "proxy.notice.rate-limited", "notices refused by the node's token bucket")                              \
	X(147, PROXY_WRONG_PORT, "proxy.notice.wrong-port",                                                                                \
	  "notices on a port to which the route back to their source does not lead")                                                       \
	X(148, PROXY_QP_DOUBTFUL, "proxy.notice.qp-doubtful",                                                                              \
	  "notices about flows whose requests remain unanswered: the sender's Queue Pair may have changed")                                \
	X(150, PROXY_NO_DETH, "proxy.notice.deth-missing",                                                                                 \
	  "notices about datagrams whose invoking packet is cut before the end of the DETH")                                               \
	X(151, PROXY_TENANT_UNKNOWN, "proxy.notice.tenant-unknown",                                                                        \
	  "notices about packets in a tunnel whose source is no END.CON SID of a known tenant")                                            \
	X(152, PROXY_DATAGRAM, "proxy.notice.datagram-contradicted",                                                                       \
	  "notices about datagrams that name a connection's Queue Pair as their source")                                                   \
	X(153, PROXY_FAST_CNP, "proxy.fast-cnp.ordered", "notices turned into a Fast CNP for the sender")                                  \
	X(154, PROXY_LONG_HAUL_ICMPV6, "proxy.long-haul-icmpv6.ordered",                                                                   \
	  "notices turned into a Long-haul CNP in ICMPv6 for the sender")                                                                  \
	X(155, PROXY_LONG_HAUL_ROCE, "proxy.long-haul-roce.ordered",                                                                       \
	  "notices turned into a Long-haul CNP in RoCEv2 for the sender")                                                                  \
	X(156, PROXY_TENANT_UNREACHABLE, "proxy.notice.tenant-unreachable",                                                                \
	  "notices about a flow of a table other than main whose sender cannot be reached from here")                                      \
	X(157, PROXY_TUNNEL_UNKNOWN, "proxy.notice.tunnel-unknown",                                                                        \
	  "notices about packets whose tunnel comes from no router in accept-from and no END.CON SID, or is in another tunnel")            \
	X(158, PROXY_NOT_BUILT, "proxy.notice.not-built-here",                                                                             \
	  "notices on the loopback interface that this router has not built: a local user sent them")                                      \
	X(160, QP_LEARNED_CM, "proxy.qp.learned.cm", "connections learned from a CM exchange")                                             \
	X(161, QP_LEARNED_TRAFFIC, "proxy.qp.learned.reverse-traffic",                                                                     \
	  "connections learned from traffic in both directions")                                                                           \
	X(162, QP_REPLACED, "proxy.qp.replaced",                                                                                           \
	  "known connections replaced by newer evidence about one of their Queue Pairs")                                                   \
	X(163, QP_DISCONNECTED, "proxy.qp.removed.disconnected", "connections removed by a DREQ, DREP or REJ")                             \
	X(164, QP_AGED, "proxy.qp.removed.aged", "connections removed because no packet came within the ageing time")                      \
	X(165, QP_SILENT, "proxy.qp.removed.silent", "connections removed because the supposed peer did not answer")                       \
	X(166, QP_CONTRADICTED, "proxy.qp.removed.contradicted",                                                                           \
	  "connections removed because answers did not fit the sender's PSNs")                                                             \
	X(167, QP_ORPHANED, "proxy.qp.removed.orphaned",                                                                                   \
	  "halves of connections removed because the other half was evicted")                                                              \
	X(168, QP_STORE_FAILED, "proxy.qp.store-failed", "connections that could not be stored")                                           \
	X(169, QP_MATCH, "proxy.qp.match", "answers that fit exactly one Queue Pair's recent PSN")                                         \
	X(170, QP_AMBIGUOUS, "proxy.qp.ambiguous", "answers whose PSN several Queue Pairs have sent recently")                             \
	X(171, QP_CONTRADICTION, "proxy.qp.contradiction",                                                                                 \
	  "answers that fit another Queue Pair than the previous ones")                                                                    \
	X(172, QP_WRONG_PORT, "proxy.qp.wrong-port",                                                                                       \
	  "packets with evidence about a Queue Pair, on a port to which the route back to their source does not lead")                     \
	X(173, QP_CONFIRMED, "proxy.qp.confirmed", "connections from a CM exchange that traffic has confirmed")                            \
	X(174, QP_DISPLACED, "proxy.qp.removed.displaced",                                                                                 \
	  "unconfirmed connections displaced by another one of the same port")                                                             \
	X(175, QP_FULL, "proxy.qp.full", "confirmed connections that did not fit the table; they stay unconfirmed")                        \
	X(176, QP_DOUBTFUL, "proxy.qp.doubtful",                                                                                           \
	  "times that a connection became doubtful: no answer for longer than a round trip, or for a number of CNPs")                      \
	X(180, QP_TENANT_UNKNOWN, "proxy.qp.tenant-unknown",                                                                               \
	  "packets that teach nothing because the tenant of their tunnel is unknown")                                                      \
	X(181, QP_TUNNEL_UNKNOWN, "proxy.qp.tunnel-unknown",                                                                               \
	  "packets not learned from because their tunnel comes from no router in accept-from and no END.CON SID, or is in another tunnel") \
	X(182, QP_SENT_DISPLACED, "proxy.qp.sent.displaced",                                                                               \
	  "PSNs waiting for their answers that later ones of the same port displaced")                                                     \
	X(183, QP_CANDIDATE_DISPLACED, "proxy.qp.candidate.displaced",                                                                     \
	  "supposed peers displaced by others of the same port")                                                                           \
	X(192, CM_REQUEST, "proxy.cm.request", "CM REQ seen")                                                                              \
	X(193, CM_REPLY, "proxy.cm.reply", "CM REP seen")                                                                                  \
	X(194, CM_READY, "proxy.cm.ready-to-use", "CM RTU seen")                                                                           \
	X(195, CM_REJECT, "proxy.cm.reject", "CM REJ seen")                                                                                \
	X(196, CM_DISCONNECT, "proxy.cm.disconnect", "CM DREQ and DREP seen")                                                              \
	X(197, CM_OTHER, "proxy.cm.other", "other management datagrams to Queue Pair 1")                                                   \
	X(198, CM_UNMATCHED, "proxy.cm.unmatched", "REPs without a matching REQ, or with one that is too old")                             \
	X(199, CM_MALFORMED, "proxy.cm.malformed",                                                                                         \
	  "datagrams to Queue Pair 1 that are not a complete CM MAD, or name an impossible Queue Pair")                                    \
	X(200, CM_BAD_ICRC, "proxy.cm.bad-icrc", "CM MADs with a wrong ICRC")                                                              \
	X(201, CM_FOREIGN, "proxy.cm.foreign", "CM MADs between hosts outside the declared sender prefixes")                               \
	X(202, CM_OTHER_HOST, "proxy.cm.other-host", "REQs and LAPs whose GIDs are not the addresses of the packet")                       \
	X(203, CM_WRONG_PORT, "proxy.cm.wrong-port",                                                                                       \
	  "CM MADs on a port to which the route back to their source does not lead")                                                       \
	X(204, CM_DISPLACED, "proxy.cm.displaced",                                                                                         \
	  "REQs waiting for their REP that later ones of the same port displaced")

#endif
