import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fragment, Reassembly } from './reassembly.ts';

const cut = (payload: Uint8Array, size: number): Fragment[] =>
  Array.from({ length: Math.ceil(payload.length / size) }, (_, i) => ({
    offset: i * size,
    more: (i + 1) * size < payload.length,
    payload: payload.subarray(i * size, (i + 1) * size),
  }));

test('whatever the order, the payload comes out whole, with the last fragment that was missing', () => {
  const cases = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 12 }))
    .chain(([payload, words]) => {
      const fragments = cut(payload, words * 8);
      return fc.tuple(fc.constant(payload), fc.shuffledSubarray(fragments, { minLength: fragments.length }));
    });
  fc.assert(
    fc.property(cases, ([payload, fragments]) => {
      const reassembly = new Reassembly(4);
      const results = fragments.map((fragment) => reassembly.add('k', fragment));
      expect(results.slice(0, -1).filter((result) => result !== undefined)).toEqual([]);
      expect(results.at(-1)).toEqual(payload);
    }),
  );
});

test('fragments that overlap, end after the end, or are no multiple of 8 make the datagram unusable', () => {
  const eight = new Uint8Array(8);
  const broken: Fragment[][] = [
    [
      { offset: 0, more: true, payload: new Uint8Array(16) },
      { offset: 8, more: false, payload: eight },
    ],
    [
      { offset: 8, more: false, payload: eight },
      { offset: 16, more: false, payload: eight },
    ],
    [
      { offset: 0, more: true, payload: new Uint8Array(9) },
      { offset: 9, more: false, payload: eight },
    ],
    [{ offset: 65_528, more: false, payload: new Uint8Array(16) }],
    [{ offset: 0, more: false, payload: new Uint8Array() }],
  ];
  for (const fragments of broken) {
    const reassembly = new Reassembly(4);
    expect(fragments.map((fragment) => reassembly.add('k', fragment))).toEqual(fragments.map(() => undefined));
  }
});

test.each<readonly [string, readonly (readonly [offset: number, length: number, more: boolean])[]]>([
  [
    'RFC 5722: the first twice, in place of the second',
    [
      [0, 8, true],
      [0, 8, true],
      [16, 8, false],
    ],
  ],
  [
    'RFC 5722: one that begins within another',
    [
      [0, 16, true],
      [8, 8, true],
      [24, 8, false],
    ],
  ],
  [
    'RFC 5722: one that ends within another',
    [
      [8, 16, true],
      [0, 16, true],
      [32, 8, false],
    ],
  ],
  [
    'RFC 5722: one within another',
    [
      [0, 24, true],
      [8, 8, true],
      [32, 8, false],
    ],
  ],
  [
    'a fragment behind the last',
    [
      [8, 8, false],
      [16, 8, true],
    ],
  ],
  [
    'a last fragment before the last',
    [
      [16, 8, false],
      [8, 8, false],
    ],
  ],
  [
    'more than a datagram can hold',
    [
      [0, 65_528, true],
      [65_528, 8, false],
    ],
  ],
])('as many bytes as there should be are not the payload: %s', (_, fragments) => {
  const reassembly = new Reassembly(4);
  for (const [offset, length, more] of fragments)
    expect(reassembly.add('k', { offset, more, payload: new Uint8Array(length) })).toBeUndefined();
});

test('fragments that touch do not overlap; the longest datagram is put together; each is its own copy', () => {
  const reassembly = new Reassembly(4);
  const middle = new Uint8Array(8).fill(2);
  expect(reassembly.add('k', { offset: 8, more: true, payload: middle })).toBeUndefined();
  middle.fill(9);
  expect(reassembly.add('k', { offset: 16, more: false, payload: new Uint8Array(8).fill(3) })).toBeUndefined();
  expect(reassembly.add('k', { offset: 0, more: true, payload: new Uint8Array(8).fill(1) })).toEqual(
    new Uint8Array(24).map((_, i) => 1 + (i >> 3)),
  );
  expect(reassembly.add('k', { offset: 0, more: true, payload: new Uint8Array(65_528) })).toBeUndefined();
  expect(reassembly.add('k', { offset: 65_528, more: false, payload: new Uint8Array(7) })?.length).toBe(65_535);
});

test('datagrams that are never finished are forgotten, the oldest first', () => {
  const reassembly = new Reassembly(2);
  const [first, last] = cut(new Uint8Array(16), 8) as [Fragment, Fragment];
  for (const key of ['a', 'b', 'c']) expect(reassembly.add(key, first)).toBeUndefined();
  expect(reassembly.add('b', last)).toHaveLength(16);
  expect(reassembly.add('a', last)).toBeUndefined();
});
