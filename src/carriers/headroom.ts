// Limits of a link-state database for what other routers originate: a number of LSPs or LSAs, and of their bytes. A
// router's own are always accepted; otherwise it could not outbid a forged LSP of its own. Beyond a limit an LSP or LSA
// is refused, and the operator is warned as long as one may be missing.

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
 * Whether `bytes` more fit beside the `count` LSPs or LSAs that are stored or requested.
 * @param replaced bytes of the one being replaced; undefined when it is new
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
