import { expect, test } from 'vitest';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 1 lists area addresses of any length', () => {
  expectVector(1, '03490001 0249ff', { kind: 'area-addresses', areas: [fromHex('490001'), fromHex('49ff')] });
});

test('an area address that exceeds the TLV, or has no bytes, makes TLV 1 bad', () => {
  expectBad(1, '034900', 'area-overrun');
  expectBad(1, '00', 'bad-area-length');
  expectBad(1, '15' + '00'.repeat(21), 'bad-area-length');
  expect(() => encodeTlv({ kind: 'area-addresses', areas: [new Uint8Array()] })).toThrow(/area address/);
});
