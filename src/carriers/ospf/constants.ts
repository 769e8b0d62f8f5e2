// Timers and limits of the OSPF core, each with its source. Milliseconds unless the name says otherwise.

/** InfTransDelay, RFC 2328 §C.3: how much an LSA ages on its way over the link. */
export const TRANSMIT_DELAY_SECONDS = 1;
/** RFC 2328 appendix B. */
export const MIN_LS_INTERVAL_MS = 5000;
export const MIN_LS_ARRIVAL_MS = 1000;
export const LS_REFRESH_MS = 1_800_000;
/** The sequence number of a flushed LSA is remembered for longer than other routers keep the LSA (ospfd: a minute). */
export const SEQUENCE_KEPT_MS = 120_000;
export const MAX_AGE_DIFF_SECONDS = 900;

/**
 * Acknowledgments are delayed this long so that several share a packet (RFC 2328 §13.5). Far below the neighbor's
 * retransmission interval.
 */
export const ACK_DELAY_MS = 200;
/** Changes that arrive together are issued together. */
export const ISSUE_DELAY_MS = 20;
/** LSAs issued per event-loop turn, and LSAs compared with the desired set before that. */
export const ISSUE_BATCH = 16;
export const TAKE_OVER_BATCH = 1024;
/** Steps of a declaration per event-loop turn: three per prefix. */
export const DECLARE_BATCH = 1024;
/** Entries written into LSAs per event-loop turn. */
export const BUILD_BATCH = 512;
/**
 * Changed LSAs are handed to the core when no more changes are due, and after this time at the latest. Earlier would be
 * worse: MinLSInterval would then delay the changes that follow.
 */
export const SETTLE_LIMIT_MS = 500;
/** Updates per burst, and the pause after it: 1000 packets per second, which a default socket buffer absorbs. */
export const SEND_BURST = 10;
export const SEND_GAP_MS = 10;
/** The shortest time between two passes over a database. */
export const SWEEP_MS = 1000;
/** LSAs that a pass examines per event-loop turn, and how many of them it may flush or forget. */
export const SWEEP_BATCH = 4096;
export const SWEEP_CHANGES = 64;

/**
 * Exchanges that fail repeatedly are retried after 1, 2, 4 … seconds, so that two routers that disagree do not loop.
 */
export const FIRST_BACK_OFF_MS = 1000;
export const LAST_BACK_OFF_MS = 60_000;

/** LSAs per area. New LSAs beyond this limit are refused and counted. */
export const LSDB_LIMIT = 40_000;
/**
 * Bytes of each of these LSAs on average; a single LSA may have 65535. LSAs of large networks have fewer than a hundred
 * bytes, and cnpd's own LSAs are few.
 */
export const LSDB_SHARE = 400;
/** Packets in the inbox. Packets beyond this limit are dropped and counted (the neighbor retransmits). */
export const INBOX_LIMIT = 8192;
/** Packets handled per event-loop turn. */
export const INBOX_BATCH = 4;

/**
 * How long LSAs of an earlier run are kept before they count as not desired. An agent between areas must first learn
 * from the other areas what to originate. START_GRACE_MS begins when all areas are Full: it covers the walk,
 * INTER_AREA_SETTLE_MS and the batches of ten thousand prefixes. START_LIMIT_MS begins when the link is up and is the
 * upper limit.
 */
export const START_GRACE_MS = 10_000;
export const START_LIMIT_MS = 120_000;
/** How long a clean stop waits for the neighbor to acknowledge the flush. */
export const STOP_LIMIT_MS = 4000;
export const STOP_RETRANSMIT_MS = 1000;

/**
 * LSInfinity (RFC 2328 appendix B): no router uses that route. cnpd's prefixes have this metric. Entries without a
 * metric are compared as if they had it.
 */
export const SIGNALING_METRIC = 0xffffff;
/** Metric of a locator that no router uses for routing (RFC 9513 §7.1). */
export const UNREACHABLE_LOCATOR = 0xffffffff;
/** Bytes of the body of one of our LSAs. At an MTU of 1500 this leaves headroom for every header and any digest. */
export const LSA_CAPACITY = 1360;
/** The most bytes of the link's MTU that IP, OSPF, authentication and the LSA's header need. */
export const LSA_OVERHEAD = 140;
/** The delay from a change of the topology to the walk over it, so that one walk serves several changes. */
export const GRAPH_DELAY_MS = 50;
/**
 * A prefix is advertised into another area after it has been eligible for this long, so that agents do not react to
 * each other's transients.
 */
export const INTER_AREA_SETTLE_MS = 1000;
/**
 * A copy is not advertised into an area that had the original within this time. The withdrawal of the original may be
 * delayed by MinLSInterval, and be lost once.
 */
export const INTER_AREA_ECHO_MS = 2 * MIN_LS_INTERVAL_MS;
/** LSAs reported again per event-loop turn because another LSA changes their meaning. */
export const REPORT_BATCH = 64;
/** Routers and networks that the walk visits per event-loop turn. */
export const GRAPH_BATCH = 256;
/** Prefixes and SIDs per event-loop turn for which inter-area copies are decided. */
export const INTER_AREA_BATCH = 128;

/** The family of addresses and prefixes, by version. */
export const FAMILY = { 2: 4, 3: 6 } as const;
/** RFC 2328 §3.1. */
export const BACKBONE = 0;
