import { expect, test } from 'vitest';
import { parseLspId } from '../lsp-id.ts';
import { encodeTlv } from '../tlvs.ts';
import { LSP_ENTRIES_PER_TLV } from './lsp-entries.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const ENTRY = {
  remainingLifetime: 1199,
  lspId: parseLspId('0000.0000.0001.02-03')!,
  sequence: 0xfffffffe,
  checksum: 0x7ea5,
};

test('TLV 9 lists lifetime, LSP ID, sequence number and checksum', () => {
  expectVector(9, '04af 000000000001 02 03 fffffffe 7ea5', { kind: 'lsp-entries', entries: [ENTRY] });
});

test('TLV 9 of a length that is not whole entries is bad', () => expectBad(9, '00'.repeat(17), 'bad-length'));

test('15 entries fill TLV 9', () => {
  const entries = (n: number) => ({ kind: 'lsp-entries' as const, entries: Array.from({ length: n }, () => ENTRY) });
  expect(encodeTlv(entries(LSP_ENTRIES_PER_TLV))).toHaveLength(242);
  expect(() => encodeTlv(entries(LSP_ENTRIES_PER_TLV + 1))).toThrow(/255 fit/);
});
