// Timers, limits and metrics of the speaker, each with its source. Milliseconds unless the name says otherwise.

export { SIGNALING_METRIC } from '../../model/signaling-metric.ts';
/** Metric of the link to the neighbor. No traffic transits it: our LSP has the overload bit. */
export const LINK_METRIC = 10;
/** A link with this metric is no part of the topology (RFC 5305 §3). */
export const UNUSABLE_LINK_METRIC = 0xffffff;
/** IPv6 unicast (RFC 5120 §7.5). */
export const MT_IPV6 = 2;

/** Topologies that do not route the network's own unicast traffic (RFC 5120 §7.5): in-band management and multicast. */
export const FOREIGN_TOPOLOGIES: ReadonlySet<number> = new Set([1, 3, 4, 5]);

/** originatingLSPBufferSize, ISO/IEC 10589 §7.4.3. */
export const LSP_BUFFER_SIZE = 1492;
export const LSP_HEADER_LENGTH = 27;
/** LSPs of one system and level are numbered 0..255. Number 0 has the adjacency, the others have the prefixes. */
export const FRAGMENTS = 256;
export const MAX_SEQUENCE = 0xffffffff;

/** minimumLSPTransmissionInterval on point-to-point circuits, ISO/IEC 10589 §7.3.15.5. */
export const RETRANSMIT_MS = 5000;
/** partialSNPInterval is 2 s at most; an earlier acknowledgment saves the neighbor retransmissions. */
export const ACK_DELAY_MS = 200;
/** A neighbor that lists an LSP in a CSNP usually sends it soon: request it only when it has not arrived. */
export const REQUEST_DELAY_MS = 1000;
export const REQUEST_RETRY_MS = 5000;
export const REQUEST_TRIES = 12;
/** Time for a new neighbor to send its CSNP before we send LSPs that it may already have. */
export const SYNC_GRACE_MS = 1500;
/** LSPs in one burst and the pause after it: 1000 a second, which a default socket buffer absorbs. */
export const SEND_BURST = 10;
export const SEND_GAP_MS = 10;
export const CSNP_BURST = 8;

/** ZeroAgeLifetime, ISO/IEC 10589 §7.3.16.4. */
export const ZERO_AGE_MS = 60_000;
/** Changes that arrive within this time are issued together. */
export const ISSUE_DELAY_MS = 20;
/**
 * Minimum time between two issues of one fragment, so that a neighbor that keeps echoing higher sequence numbers costs
 * little.
 */
export const MIN_REISSUE_MS = 200;
/** An LSP of ours that another router repeatedly outbids is answered after 5, 10, 20, then 30 s. */
export const FIRST_ANSWER_PAUSE_MS = 5000;
export const LAST_ANSWER_PAUSE_MS = 30_000;
/** Remembered LSP IDs of pseudonodes with our system ID; we originate none. */
export const UNKNOWN_LSP_IDS_LIMIT = 1024;
/** When its sequence numbers are used up, fragment 0 returns this long after all routers have forgotten it. */
export const ZERO_AGE_MARGIN_MS = 15_000;
export const ISSUE_BATCH = 8;
/** Prefixes placed per event-loop turn. */
export const PLACE_BATCH = 512;

/** LSPs per level; beyond this limit new ones are refused and counted. */
export const LSDB_LIMIT = 20_000;
/**
 * Bytes per level for LSPs and what the learned table has from them (costOf). Beyond LEARNED_SHARE of them nothing more
 * is learned: the rest is for LSPs, which determine reachability. This suffices for 200,000 prefixes, twenty times what
 * one router can advertise for cnpd. Besides these, as many full LSPs fit as LSDB_LIMIT allows.
 */
export const LSDB_BYTES = 160 << 20;
export const LEARNED_SHARE = 0.6;
/**
 * Bytes to keep an LSP, in addition to its own; a neighbor that it lists; a prefix or SID learned from it. Measured and
 * rounded up.
 */
export const LSP_COST = 1024;
export const EDGE_COST = 128;
export const ENTRY_COST = 448;
/**
 * A refused LSP is offered again after RETRANSMIT_MS as long as the neighbor has it. After this time without a refusal
 * nothing is missing.
 */
export const REFUSED_FOR_MS = 60_000;
/** LSPs expanded or collapsed per event-loop turn, and how often those without headroom are tried again. */
export const EXPAND_BATCH = 32;
export const STARVED_RETRY_MS = 1000;
export const STARVED_BATCH = 256;
/** How long FRR has to report that it lacks an odd LSP: it sends PSNPs every 2 s. */
export const DOUBT_MS = 6000;
/** Odd LSPs in doubt at a time; beyond this limit they are stored without doubt. */
export const DOUBT_LIMIT = 1024;
/** PDUs waiting to be handled; beyond this limit they are dropped and counted (the neighbor retransmits). */
export const INBOX_LIMIT = 8192;
/** PDUs handled per event-loop turn. */
export const INBOX_BATCH = 8;
export const GRAPH_DELAY_MS = 50;
export const GRAPH_BATCH = 256;
/**
 * A prefix is leaked into the other level after it has been eligible this long, so that agents do not react to each
 * other's transients.
 */
export const LEAK_SETTLE_MS = 1000;
export const LEAK_BATCH = 256;

/** How long LSPs of an earlier run are kept while no declaration has arrived. */
export const START_GRACE_MS = 10_000;

/** How long a clean stop waits for the neighbor to acknowledge the purges. */
export const STOP_LIMIT_MS = 4000;
export const STOP_RETRANSMIT_MS = 1000;
