// How much a link-state database may hold of what others say: so many LSPs or LSAs, and so many bytes of them. What a
// router says itself there is always room for, or a forged LSP of its own could not be outbid. Beyond the limit
// something is refused, and the operator hears of it for as long as anything may be missing.

export interface Room {
  /** LSPs or LSAs. */
  readonly limit: number;
  readonly byteLimit: number;
  bytes: number;
  /** When something was refused last because there was no room for it. */
  refusedAt: number;
}

export const newRoom = (limit: number, byteLimit: number): Room => ({
  limit,
  byteLimit,
  bytes: 0,
  refusedAt: -Infinity,
});

/**
 * Whether `bytes` more fit, beside `count` that are there or have been asked for.
 * @param replaced bytes of what they take the place of, if anything
 */
export function hasRoomFor(room: Room, bytes: number, count: number, replaced: number | undefined): boolean {
  if (replaced === undefined) return count < room.limit && room.bytes + bytes <= room.byteLimit;
  return bytes <= replaced || room.bytes - replaced + bytes <= room.byteLimit;
}
