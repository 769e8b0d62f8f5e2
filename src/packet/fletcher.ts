// The Fletcher checksum of link-state databases (ISO/IEC 8473 Annex C; RFC 1008): IS-IS LSPs and OSPF LSAs differ only
// in the range that it covers and in the offset of its two bytes.

/**
 * The offset of the checksum and the range it covers: bytes `start` … end of the input. Offsets from the same origin.
 */
export interface FletcherRegion {
  readonly start: number;
  readonly checksumAt: number;
}

/** As many additions as stay exact before a modulo: c1 grows with the square, far below 2^53. */
const BLOCK = 5802;

function sums(bytes: Uint8Array, { start, checksumAt }: FletcherRegion, skipChecksum: boolean): [number, number] {
  let c0 = 0;
  let c1 = 0;
  let i = start;
  while (i < bytes.length) {
    const end = Math.min(i + BLOCK, bytes.length);
    for (; i < end; i++) {
      if (!(skipChecksum && (i === checksumAt || i === checksumAt + 1))) c0 += bytes[i]!;
      c1 += c0;
    }
    c0 %= 255;
    c1 %= 255;
  }
  return [c0, c1];
}

/** The checksum for the two bytes at `checksumAt`, whatever they hold now. Neither byte is ever 0. */
export function fletcherChecksum(bytes: Uint8Array, region: FletcherRegion): number {
  const [c0, c1] = sums(bytes, region, true);
  const after = bytes.length - region.checksumAt - 1;
  let x = (after * c0 - c1) % 255;
  if (x <= 0) x += 255;
  let y = 510 - c0 - x;
  if (y > 255) y -= 255;
  return (x << 8) | y;
}

/** Whether the two bytes are right. A checksum with a zero byte is never right: 255 replaces 0. */
export function fletcherValid(bytes: Uint8Array, region: FletcherRegion): boolean {
  const { checksumAt } = region;
  if (bytes.length < checksumAt + 2 || bytes[checksumAt] === 0 || bytes[checksumAt + 1] === 0) return false;
  const [c0, c1] = sums(bytes, region, false);
  return c0 === 0 && c1 === 0;
}
