// That the vectors by which a tunnel exit is judged tell right from wrong.
import { expect, test } from 'vitest';
import { VECTORS, setCongestionField, vectorsMet } from './srv6-vectors.ts';

const CE = 3;

test('FCN-4.2.1-d: an exit that follows RFC 6040 figure 4 meets all sixteen vectors', () => {
  const exit = (inner: number, outer: number): number | null => {
    if (outer === CE) return inner === 0 ? null : CE;
    return inner === 2 && outer === 1 ? 1 : inner;
  };
  expect({ vectorsMet: vectorsMet(exit), vectors: VECTORS }).toEqual({ vectorsMet: 16, vectors: 16 });
});

test('an exit that forgets the outer field meets twelve, one that drops everything one', () => {
  expect([vectorsMet((inner) => inner), vectorsMet(() => null)]).toEqual([12, 1]);
});

test('the congestion field is set without touching DSCP or flow label', () => {
  const packet = Uint8Array.of(0, 0x6a, 0xbf, 0xcd, 0xef);
  setCongestionField(packet, 1, 1);
  expect([...packet]).toEqual([0, 0x6a, 0x9f, 0xcd, 0xef]);
});
