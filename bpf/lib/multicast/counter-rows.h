// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The counters of End.MT; see counter-table.h. 256-319 data, 320-383 answers.
#ifndef CNPD_MULTICAST_COUNTER_ROWS_H
#define CNPD_MULTICAST_COUNTER_ROWS_H

#define COUNTERS_MULTICAST(X)                                                                                          \
	X(256, MC_EDGE_PACKETS, "multicast.edge.packets", "packets replicated to receivers by End.MT (RMC-6.2-e)")     \
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
	  "answers for a group of which no data packet has come yet, dropped")

#endif
