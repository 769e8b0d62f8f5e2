// Timers and limits of the OSPF core, each with its source. Milliseconds unless the name says otherwise.

/** InfTransDelay, RFC 2328 §C.3: what an LSA ages on its way over the link. */
export const TRANSMIT_DELAY_SECONDS = 1;
/** RFC 2328 appendix B. */
export const MIN_LS_INTERVAL_MS = 5000;
export const MIN_LS_ARRIVAL_MS = 1000;
export const LS_REFRESH_MS = 1_800_000;
/** The sequence number of a flushed LSA is remembered for longer than others keep it (ospfd: a minute). */
export const SEQUENCE_KEPT_MS = 120_000;
export const MAX_AGE_DIFF_SECONDS = 900;

/** Acknowledgements wait this long for company (RFC 2328 §13.5); far below the neighbour's retransmission. */
export const ACK_DELAY_MS = 200;
/** Changes that arrive together are issued together. */
export const ISSUE_DELAY_MS = 20;
/** LSAs issued per event-loop turn, and LSAs compared with the desired set before. */
export const ISSUE_BATCH = 16;
export const TAKE_OVER_BATCH = 1024;
/** Steps taken per event-loop turn of a declaration: three a prefix. */
export const DECLARE_BATCH = 1024;
/** Entries written into LSAs per event-loop turn. */
export const BUILD_BATCH = 512;
/**
 * LSAs that change are handed to the core when no more changes are due, and after this time at the latest:
 * MinLSInterval would delay what follows.
 */
export const SETTLE_LIMIT_MS = 500;
/** Updates in one go and the pause after it: 1000 packets a second, which a default socket buffer absorbs. */
export const SEND_BURST = 10;
export const SEND_GAP_MS = 10;
/** No pass over a whole database more often than this. */
export const SWEEP_MS = 1000;
/** LSAs that a pass looks at per event-loop turn, and how many of them it may flush or forget. */
export const SWEEP_BATCH = 4096;
export const SWEEP_CHANGES = 64;

/**
 * An exchange that failed again is tried anew after 1, 2, 4 … seconds: a neighbour that disagrees must not be answered
 * in a loop.
 */
export const FIRST_BACK_OFF_MS = 1000;
export const LAST_BACK_OFF_MS = 60_000;

/** LSAs an area; beyond it new ones are refused and counted. */
export const LSDB_LIMIT = 40_000;
/**
 * Bytes that each of them may have on average; one alone may have 65535. The LSAs of large networks have less than a
 * hundred, those of cnpd are few.
 */
export const LSDB_SHARE = 400;
/** Packets that wait for their turn; beyond it they are dropped and counted (the neighbour retransmits). */
export const INBOX_LIMIT = 8192;
/** Packets handled per event-loop turn. */
export const INBOX_BATCH = 4;

/**
 * How long LSAs of an earlier run are left alone before they count as not desired: an agent between areas has to learn
 * again what to originate from the other areas. After all areas are Full: for the walk, INTER_AREA_SETTLE_MS and the
 * slices of ten thousand prefixes. After the link is up, at most.
 */
export const START_GRACE_MS = 10_000;
export const START_LIMIT_MS = 120_000;
/** How long a clean stop waits for the neighbour to acknowledge the flush. */
export const STOP_LIMIT_MS = 4000;
export const STOP_RETRANSMIT_MS = 1000;

/**
 * LSInfinity (RFC 2328 appendix B): nobody routes by it. cnpd's prefixes have it, and what has no metric counts with
 * it.
 */
export const SIGNALLING_METRIC = 0xffffff;
/** Of a locator that nobody routes by (RFC 9513 §7.1). */
export const UNREACHABLE_LOCATOR = 0xffffffff;
/** Bytes of the body of an LSA of ours: at an MTU of 1500 it leaves space for every header and any digest. */
export const LSA_CAPACITY = 1360;
/** What IP, OSPF, authentication and the LSA's header take of the link's MTU at most. */
export const LSA_OVERHEAD = 140;
/** After a change of the topology the walk over it waits for what else changes. */
export const GRAPH_DELAY_MS = 50;
/**
 * A prefix is advertised into another area after it has been eligible this long, so that agents do not answer each
 * other's transients.
 */
export const INTER_AREA_SETTLE_MS = 1000;
/**
 * A copy is not advertised into an area that had the original until this time ago: its withdrawal may wait for
 * MinLSInterval, and be lost once.
 */
export const INTER_AREA_ECHO_MS = 2 * MIN_LS_INTERVAL_MS;
/** LSAs reported again per event-loop turn, when another one changes what they mean. */
export const REPORT_BATCH = 64;
/** Routers and networks that the walk visits per event-loop turn. */
export const GRAPH_BATCH = 256;
/** Prefixes and SIDs decided about per event-loop turn. */
export const INTER_AREA_BATCH = 128;

/** Of addresses and prefixes, by version. */
export const FAMILY = { 2: 4, 3: 6 } as const;
/** RFC 2328 §3.1. */
export const BACKBONE = 0;
