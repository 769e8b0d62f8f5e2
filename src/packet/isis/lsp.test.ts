import { expect, test } from 'vitest';
import { toHex, fromHex } from '../hex.ts';
import { lspChecksumValid } from './checksum.ts';
import { encodePurge, setRemainingLifetime } from './lsp.ts';
import { parseLspId } from './lsp-id.ts';
import { decodePdu } from './pdu.ts';
import { PROXY_LSP } from './vectors.fixture.ts';

test('aging an LSP does not touch its checksum', () => {
  const lsp = new Uint8Array(PROXY_LSP);
  setRemainingLifetime(lsp, 0x0102);
  expect(toHex(lsp.subarray(8, 12))).toBe('00b80102');
  expect(lspChecksumValid(lsp)).toBe(true);
  expect(() => setRemainingLifetime(lsp, -1)).toThrow(/16 bits/);
});

test('a purge has lifetime 0, a right checksum and only the TLVs that RFC 6233 allows', () => {
  const lspId = parseLspId('0000.0000.0001.00-07')!;
  const purge = encodePurge({
    level: 1,
    lspId,
    sequence: 9,
    isType: 1,
    originator: fromHex('00000000c001'),
    hostname: 'leaf1',
  });
  expect(lspChecksumValid(purge)).toBe(true);
  const decoded = decodePdu(purge);
  expect(decoded.ok && decoded.value).toMatchObject({
    kind: 'lsp',
    level: 1,
    remainingLifetime: 0,
    lspId,
    sequence: 9,
    tlvs: [
      { kind: 'purge-originator', originator: fromHex('00000000c001') },
      { kind: 'hostname', name: 'leaf1' },
    ],
  });
});

test('the plainest purge is a header', () => {
  expect(encodePurge({ level: 2, lspId: parseLspId('0000.0000.0001.00-00')!, sequence: 2, isType: 3 })).toHaveLength(
    27,
  );
});
