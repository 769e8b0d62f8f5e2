import fc from 'fast-check';
import { expect, test } from 'vitest';
import { put16 } from '../bytes.ts';
import { lspChecksum, lspChecksumValid } from './checksum.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

test('the checksum of a known LSP', () => {
  expect(lspChecksum(PROXY_LSP)).toBe(0x7ea5);
  expect(lspChecksumValid(PROXY_LSP)).toBe(true);
});

test('what the checksum field and the lifetime hold does not change it', () => {
  const lsp = new Uint8Array(PROXY_LSP);
  lsp.fill(0x55, 10, 12);
  lsp.fill(0xaa, 24, 26);
  expect(lspChecksum(lsp)).toBe(0x7ea5);
});

test('any single changed byte in the region is noticed, except 0 for 255 and back', () => {
  for (let i = 12; i < PROXY_LSP.length; i++) {
    const lsp = new Uint8Array(PROXY_LSP);
    lsp[i] = (lsp[i]! + 1) & 0xff;
    expect(lspChecksumValid(lsp), `byte ${i}`).toBe(PROXY_LSP[i] === 255);
  }
});

test('every LSP of every length verifies with the checksum computed for it, and neither byte of it is 0', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 27, maxLength: 9200 }), (lsp) => {
      const checksum = lspChecksum(lsp);
      put16(lsp, 24, checksum);
      return lspChecksumValid(lsp) && (checksum & 0xff) !== 0 && checksum >>> 8 !== 0;
    }),
    { numRuns: 300 },
  );
});

test('a checksum with a zero byte is wrong (RFC 3719)', () => {
  const zeros = new Uint8Array(27);
  expect(lspChecksumValid(zeros)).toBe(false);
  put16(zeros, 24, lspChecksum(zeros));
  expect(lspChecksumValid(zeros)).toBe(true);
  // 255 and 0 are the same number modulo 255: only the rule against 0 tells them apart.
  expect({ checksumHigh: zeros[24], checksumLow: zeros[25] }).toEqual({ checksumHigh: 255, checksumLow: 255 });
  for (const bytes of [
    [0, 255],
    [255, 0],
    [0, 0],
  ]) {
    zeros.set(bytes, 24);
    expect(lspChecksumValid(zeros), bytes.join()).toBe(false);
  }
});
