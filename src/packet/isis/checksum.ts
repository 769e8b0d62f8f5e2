// The Fletcher checksum of LSPs (ISO/IEC 8473 Annex C; RFC 1008). It covers the LSP from the LSP ID (offset 12) to its end, so that the
// Remaining Lifetime before it can be aged without recomputing; its two bytes sit at offset 24 of the PDU.

const REGION_START = 12;
const CHECKSUM_OFFSET = 24;
/** As many additions as stay exact before a modulo: c1 grows with the square, far below 2^53. */
const BLOCK = 5802;

function sums(lsp: Uint8Array, skipChecksum: boolean): [number, number] {
  let c0 = 0;
  let c1 = 0;
  let i = REGION_START;
  while (i < lsp.length) {
    const end = Math.min(i + BLOCK, lsp.length);
    for (; i < end; i++) {
      if (!(skipChecksum && (i === CHECKSUM_OFFSET || i === CHECKSUM_OFFSET + 1))) c0 += lsp[i]!;
      c1 += c0;
    }
    c0 %= 255;
    c1 %= 255;
  }
  return [c0, c1];
}

/** The checksum that belongs into bytes 24 and 25 of the LSP (a whole PDU), whatever stands there now. Neither byte is ever 0. */
export function lspChecksum(lsp: Uint8Array): number {
  const [c0, c1] = sums(lsp, true);
  const after = lsp.length - CHECKSUM_OFFSET - 1;
  let x = (after * c0 - c1) % 255;
  if (x <= 0) x += 255;
  let y = 510 - c0 - x;
  if (y > 255) y -= 255;
  return (x << 8) | y;
}

/** Whether bytes 24 and 25 are right. A checksum with a zero byte is never right: 255 stands for 0. */
export function lspChecksumValid(lsp: Uint8Array): boolean {
  if (lsp.length < CHECKSUM_OFFSET + 2 || lsp[CHECKSUM_OFFSET] === 0 || lsp[CHECKSUM_OFFSET + 1] === 0) return false;
  const [c0, c1] = sums(lsp, false);
  return c0 === 0 && c1 === 0;
}
