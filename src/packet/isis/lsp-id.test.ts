import { expect, test } from 'vitest';
import { fromHex } from '../hex.ts';
import {
  FIRST_LSP_ID,
  LAST_LSP_ID,
  compareLspIds,
  formatLspId,
  formatSystemId,
  lspIdBytes,
  lspIdTextAt,
  parseLspId,
  parseSystemId,
  readLspId,
  sameSystemId,
} from './lsp-id.ts';

test('LSP IDs and system IDs have a text form', () => {
  const bytes = fromHex('ff 1921680010c1 0a ff');
  const id = readLspId(bytes, 1);
  expect(formatLspId(id)).toBe('1921.6800.10c1.0a-ff');
  expect(lspIdTextAt(bytes, 1)).toBe(formatLspId(id));
  expect(parseLspId('1921.6800.10C1.0a-ff')).toEqual({
    systemId: fromHex('1921680010c1'),
    pseudonode: 10,
    fragment: 255,
  });
  expect(lspIdBytes(id)).toEqual(bytes.subarray(1));
  expect(formatSystemId(parseSystemId('0000.0000.c001')!)).toBe('0000.0000.c001');
});

test('text that is no ID is refused', () => {
  for (const text of [
    '',
    '0000.0000.0001',
    '0000.0000.0001.00',
    '0000.0000.0001.00-0',
    '0000.0000.000g.00-00',
    '0000-0000-0001.00-00',
  ]) {
    expect(parseLspId(text), text).toBeUndefined();
  }
  for (const text of ['0000.0000.001', '0000.0000.00001', '000000000001', '0000.0000.000g'])
    expect(parseSystemId(text), text).toBeUndefined();
});

test('LSP IDs are ordered as their bytes, as a CSNP is', () => {
  const sorted = [
    '0000.0000.0000.00-00',
    '0000.0000.0001.00-00',
    '0000.0000.0001.00-01',
    '0000.0000.0001.01-00',
    '0100.0000.0000.00-00',
    'ffff.ffff.ffff.ff-ff',
  ];
  const ids = sorted.map((text) => parseLspId(text)!);
  expect([...ids].reverse().sort(compareLspIds).map(formatLspId)).toEqual(sorted);
  expect(ids[0]).toEqual(FIRST_LSP_ID);
  expect(ids.at(-1)).toEqual(LAST_LSP_ID);
  expect(sameSystemId(ids[1]!.systemId, ids[2]!.systemId)).toBe(true);
  expect(sameSystemId(ids[1]!.systemId, ids[4]!.systemId)).toBe(false);
});
