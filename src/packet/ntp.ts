// The 64-bit NTP timestamp (RFC 5905 §6): seconds since 1900 in the upper 32 bits, fractions of 2⁻³² s in the lower.
// Used by STAMP and by the timestamp object of a Long-haul CNP. Era 0 ends in 2036; the value wraps then, as it does
// everywhere.

/** Seconds from 1900 to 1970. */
const UNIX_EPOCH = 2_208_988_800n;
const NS = 1_000_000_000n;
const WRAP = 1n << 64n;

/** Nanoseconds since 1970, as Date.now() × 10⁶ gives them, to a timestamp. */
export const ntpFromUnixNs = (ns: bigint): bigint => ((UNIX_EPOCH << 32n) + (ns << 32n) / NS) % WRAP;

/** The signed difference a − b in nanoseconds; right for timestamps less than 68 years apart, across the wrap too. */
export const ntpDifferenceNs = (a: bigint, b: bigint): bigint => (BigInt.asIntN(64, a - b) * NS) >> 32n;
