// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of the builder of notices; see counter-table.h.
#ifndef CNPD_BUILDER_COUNTER_ROWS_H
#define CNPD_BUILDER_COUNTER_ROWS_H

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

#endif
