// The rate of a held flow's class, in the terms of the dataplane.

/** What may leave at once after a silence: a millisecond at the rate, and at least two of the longest frames. */
const BURST_MS = 1;
const LEAST_BURST = 2 * 4198;

const bytesPerSecond = (bits: number): bigint => BigInt(Math.max(1, Math.round(bits / 8)));
/** @param bits per second */
export const classRate = (bits: number): { readonly rate: bigint; readonly burst: number } => ({
  rate: bytesPerSecond(bits),
  burst: Math.max(LEAST_BURST, Math.round((bits / 8 / 1000) * BURST_MS)),
});
