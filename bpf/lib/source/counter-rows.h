// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The source's rows of the counter table (counter-table.h): indexes 384 to 447.
#ifndef CNPD_SOURCE_COUNTER_ROWS_H
#define CNPD_SOURCE_COUNTER_ROWS_H

#define COUNTERS_SOURCE(X)                                                                                             \
	X(384, SOURCE_RECEIVED, "source.received", "notifications for declared senders")                               \
	X(385, SOURCE_PASSED, "source.passed", "notifications passed to the sender as they are")                       \
	X(386, SOURCE_CONVERTED, "source.converted", "notifications turned into a standard CNP for the sender")        \
	X(387, SOURCE_ENFORCED, "source.enforced", "notifications that cnpd obeys in place of the sender")             \
	X(388, SOURCE_RESUME, "source.resume", "Resumes that were not converted: a CNP only slows down")               \
	X(389, SOURCE_NOT_ALLOWED, "source.not-allowed",                                                               \
	  "notifications from a source outside the allow-list, or from a tunnel outside it, dropped")                  \
	X(390, SOURCE_WRONG_PORT, "source.wrong-port",                                                                 \
	  "notifications dropped on a port to which the route back to their source does not lead")                     \
	X(391, SOURCE_NOT_BUILT, "source.not-built-here",                                                              \
	  "notifications on the loopback interface that this router has not built, dropped: a local user sent them")   \
	X(392, SOURCE_EVASIVE, "source.evasive",                                                                       \
	  "notifications dropped that are fragments, or behind other extension headers than a notification has")       \
	X(393, SOURCE_TOO_LONG, "source.too-long", "notifications longer than 512 bytes, dropped")                     \
	X(394, SOURCE_MALFORMED, "source.malformed",                                                                   \
	  "notifications dropped whose lengths, options, code or fixed BTH fields are wrong")                          \
	X(395, SOURCE_BAD_SUM, "source.bad-checksum",                                                                  \
	  "notifications dropped with a wrong ICMPv6, IPv4 or extension checksum, or a wrong ICRC")                    \
	X(396, SOURCE_CONTRADICTORY, "source.contradictory",                                                           \
	  "Long-haul CNPs dropped whose instruction contradicts itself (LHCNP-9-h)")                                   \
	X(397, SOURCE_OBJECTS, "source.bad-objects",                                                                   \
	  "Long-haul CNPs dropped whose extension objects are malformed, or more than 16")                             \
	X(398, SOURCE_QP_UNKNOWN, "source.qp-unknown",                                                                 \
	  "notifications about a Queue Pair that no known connection of the sender has, dropped (LHCNP-5.6-a)")        \
	X(399, SOURCE_QP_DOUBTFUL, "source.qp-doubtful",                                                               \
	  "notifications about a connection whose requests remain unanswered, dropped")                                \
	X(400, SOURCE_FLOW_LIMITED, "source.flow-limited", "notifications within the flow's interval, not converted")  \
	X(401, SOURCE_RATE_LIMITED, "source.rate-limited", "notifications refused by the token bucket, dropped")       \
	X(402, SOURCE_FAILED, "source.failed", "notifications that the kernel could not resize or rewrite, dropped")   \
	X(403, SOURCE_RECORD_LOST, "source.record-lost",                                                               \
	  "records of notifications lost because the agent did not read them in time")                                 \
	X(404, SOURCE_PEER, "source.peer", "of the notifications obeyed, standard CNPs of the receiver")               \
	X(405, SOURCE_PEER_UNKNOWN, "source.peer-unknown",                                                             \
	  "standard CNPs to a sender that cnpd acts for, not from the receiver of a known connection; passed")         \
	X(406, SOURCE_NOT_HELD, "source.not-held",                                                                     \
	  "notifications to a sender that cnpd acts for, about a flow that could not be held; left to the host")       \
	X(407, SOURCE_OBEYED, "source.obeyed",                                                                         \
	  "of the notifications enforced, Pauses and Rate Reduces that held the next packet already")

#endif
