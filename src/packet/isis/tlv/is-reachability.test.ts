import { expect, test } from 'vitest';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import { packNeighbors } from './is-reachability.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const PLAIN = { systemId: fromHex('00000000000a'), pseudonode: 0, metric: 0xfffffe, subTlvs: new Uint8Array() };
const WITH_SUB_TLV = { systemId: fromHex('00000000000b'), pseudonode: 7, metric: 10, subTlvs: fromHex('0604c0000201') };
const HEX = '00000000000a 00 fffffe 00  00000000000b 07 00000a 06 0604c0000201';

test('TLV 22 lists neighbors, metrics of 24 bits and sub-TLVs', () => {
  expectVector(22, HEX, { kind: 'extended-is-reachability', neighbors: [PLAIN, WITH_SUB_TLV] });
});

test('TLV 222 is TLV 22 in a topology', () => {
  expectVector(222, `0002 ${HEX}`, { kind: 'mt-is-reachability', mtId: 2, neighbors: [PLAIN, WITH_SUB_TLV] });
});

test('a neighbor that exceeds its TLV makes it bad', () => {
  expectBad(22, '00000000000a 00 fffffe', 'neighbor-overrun');
  expectBad(22, '00000000000a 00 fffffe 01', 'sub-tlv-overrun');
  expectBad(222, '00', 'bad-length');
  expectBad(222, '0002 00', 'neighbor-overrun');
});

test('many neighbors are spread over TLVs that each fit', () => {
  const neighbors = Array.from({ length: 50 }, (_, i) => ({ ...PLAIN, pseudonode: i }));
  const tlvs = packNeighbors(neighbors);
  expect(tlvs).toHaveLength(3);
  expect(tlvs.flatMap((t) => t.neighbors)).toEqual(neighbors);
  for (const tlv of tlvs) expect(encodeTlv(tlv).length).toBeLessThanOrEqual(257);
});
