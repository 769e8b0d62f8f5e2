import { expect, test } from 'vitest';
import { decodeTlvs, encodeTlv } from '../tlvs.ts';
import { expectVector } from './vector.fixture.ts';

test('TLV 8 is as long as it is, up to 255 bytes', () => {
  expectVector(8, '000000', { kind: 'padding', length: 3 });
  expectVector(8, '', { kind: 'padding', length: 0 });
  expect(() => encodeTlv({ kind: 'padding', length: 256 })).toThrow(/8 bits/);
});

test('what the padding holds is of no interest', () => {
  expect(decodeTlvs(Uint8Array.of(8, 2, 0xde, 0xad), 0)).toEqual({
    tlvs: [{ kind: 'padding', length: 2 }],
    badTlvs: [],
  });
});
