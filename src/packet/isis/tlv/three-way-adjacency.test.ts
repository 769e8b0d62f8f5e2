import { expect, test } from 'vitest';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const NEIGHBOR = fromHex('00000000000a');

test('TLV 240 has 5 bytes without a neighbor and 15 with one', () => {
  expectVector(240, '02 00000007', { kind: 'three-way-adjacency', state: 'down', circuitId: 7 });
  expectVector(240, '00 00000007 00000000000a 00000009', {
    kind: 'three-way-adjacency',
    state: 'up',
    circuitId: 7,
    neighborSystemId: NEIGHBOR,
    neighborCircuitId: 9,
  });
});

test('TLV 240 in its other legal lengths is understood', () => {
  expectVector(240, '01', { kind: 'three-way-adjacency', state: 'initializing' });
  expectVector(240, '01 00000007 00000000000a', {
    kind: 'three-way-adjacency',
    state: 'initializing',
    circuitId: 7,
    neighborSystemId: NEIGHBOR,
  });
});

test('another length or an unknown state makes TLV 240 bad', () => {
  expectBad(240, '', 'bad-length');
  expectBad(240, '00 000000', 'bad-length');
  expectBad(240, '00'.repeat(16), 'bad-length');
  expectBad(240, '03 00000007', 'bad-state');
});

test('a neighbor without a circuit of our own cannot be encoded', () => {
  const up = { kind: 'three-way-adjacency', state: 'up' } as const;
  expect(() => encodeTlv({ ...up, neighborCircuitId: 9 })).toThrow(/needs the one before/);
  expect(() => encodeTlv({ ...up, neighborSystemId: NEIGHBOR, neighborCircuitId: 1 })).toThrow(/needs the one before/);
});
