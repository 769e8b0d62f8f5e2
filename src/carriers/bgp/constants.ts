// Limits of the BGP carrier. Milliseconds unless the name says otherwise.

/**
 * Steps a turn of the event loop: a declared prefix, a path that is looked at again, dropped, or shown. A millisecond
 * of work: while the last paths are made, the first are on their way, and gobgpd, whose window holds three hundred of
 * them, waits for more if that turn is long.
 */
export const SLICE = 250;
/** Paths put into gobgpd in one go: while they are on their way the next gather. */
export const ADD_BATCH = 20_000;
/** Paths taken out in one go. */
export const WITHDRAW_BATCH = 1000;
/** What gobgpd refused is tried again after this time. */
export const RETRY_MS = 5000;
/**
 * Rounds of a dispute about own paths (dispute.ts) without a pause; the pauses after that, each twice as long as the
 * one before; what ends it.
 */
export const DISPUTE_ROUNDS = 10;
export const DISPUTE_PAUSE_MS = { first: 1000, longest: 60_000 } as const;
export const DISPUTE_QUIET_MS = 150_000;
/**
 * gobgpd is asked about paths that it was given, once it has neither taken nor reported any for this time; and at the
 * latest after that one.
 */
export const ECHO_MS = 3000;
export const ECHO_LIMIT_MS = 30_000;
/** Paths asked about in one go. */
export const LOOK_BATCH = 1000;
/** Before paths that gobgpd has dropped are put in again; each time twice as long. */
export const DROPPED_PAUSE_MS = { first: 5000, longest: 60_000 } as const;
/** A clean stop gives up when gobgpd has taken nothing for this long. */
export const STOP_LIMIT_MS = 5000;

/**
 * Bytes for entries in attribute 39 of a path: 128 SIDs and a proxy. A message of BGP has 4096 bytes (RFC 4271 §4.1);
 * the rest is for the other attributes.
 */
export const PATH_CAPACITY = 128 * 24 + 20;
/** The well-known community (RFC 1997): the path stays in the AS. */
export const NO_EXPORT = 0xffff_ff01;
