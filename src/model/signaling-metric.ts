/**
 * Of IS-IS prefixes that are there for signaling only: above MAX_PATH_METRIC (0xFE000000), so that no router computes a
 * route from it (RFC 5305 §4; for locators RFC 9352 §7.1). Small enough that adding a path's metric does not wrap 32
 * bits.
 */
export const SIGNALING_METRIC = 0xfe000001;
