// How much a link-state database may hold of what others originate: a number of LSPs or LSAs, and of their bytes. A
// router's own are always accepted, or a forged LSP of its own could not be outbid. Beyond the limit something is
// refused, and the operator is warned for as long as anything may be missing.

export interface Headroom {
  /** LSPs or LSAs. */
  readonly limit: number;
  readonly byteLimit: number;
  bytes: number;
  /** When something was last refused for lack of headroom. */
  refusedAt: number;
}

export const newHeadroom = (limit: number, byteLimit: number): Headroom => ({
  limit,
  byteLimit,
  bytes: 0,
  refusedAt: -Infinity,
});

/**
 * Whether `bytes` more fit, beside `count` that are there or have been asked for.
 * @param replaced bytes of what they take the place of, if anything
 */
export function hasHeadroomFor(
  headroom: Headroom,
  bytes: number,
  count: number,
  replaced: number | undefined,
): boolean {
  if (replaced === undefined) return count < headroom.limit && headroom.bytes + bytes <= headroom.byteLimit;
  return bytes <= replaced || headroom.bytes - replaced + bytes <= headroom.byteLimit;
}
