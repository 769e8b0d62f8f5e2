import { expect, test } from 'vitest';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const A = fromHex('00000000000a');
const B = fromHex('00000000000b');

test('TLV 13 names who purged, and whom it had the LSP from', () => {
  expectVector(13, '01 00000000000a', { kind: 'purge-originator', originator: A });
  expectVector(13, '02 00000000000a 00000000000b', { kind: 'purge-originator', originator: A, receivedFrom: B });
});

test('TLV 13 whose count is not that of its system IDs is bad', () => {
  expectBad(13, '', 'bad-count');
  expectBad(13, '03 00000000000a 00000000000b', 'bad-count');
  expectBad(13, '02 00000000000a', 'bad-length');
  expect(() => encodeTlv({ kind: 'purge-originator', originator: A.subarray(1) })).toThrow(/5 bytes, not 6/);
});
