// What an LSA holds and how many there may be, to the byte; where an entry goes when it grows or room becomes free.
import { describe, expect, test } from 'vitest';
import { prefix } from '../../model/prefix.ts';
import type { EntryLsa } from './kinds/kind.ts';
import type { PrefixEntry } from './kinds/sender-prefix-reader.ts';
import { DEFAULT_PRIVATE_TYPES } from '../../packet/ospf/lsa.ts';
import { type Placement, buildLsas, newPlacement, place, placedLsas, unplace } from './own/placement.ts';

const SELF = 0x01010101;
const FIRST_ID = 0x07000000;
const OVERHEAD = 4;
/** 16 bytes of entries an LSA. */
const ROOM = OVERHEAD + 16;

/** An entry is as large as its metric says. */
const kindOf = (limits: Partial<EntryLsa> = {}): EntryLsa<PrefixEntry> => ({
  type: () => 10,
  firstId: () => FIRST_ID,
  lsas: 100,
  entries: 100,
  overhead: OVERHEAD,
  size: ({ metric }) => metric,
  body: (entries) => ({ kind: 'unknown', content: Uint8Array.from(entries, ({ metric }) => metric) }),
  ...limits,
});
const sized = (metric: number): PrefixEntry => ({
  kind: 'sender-prefix',
  prefix: prefix('10.0.0.0/24'),
  pnc: true,
  metric,
  route: 'intra-area',
  flags: new Uint8Array(4),
  node: false,
  attached: false,
});
const placement = (limits: Partial<EntryLsa> = {}): Placement =>
  newPlacement(kindOf(limits), DEFAULT_PRIVATE_TYPES, ROOM);

/** Places entries in their order, or gives them another size. @returns the number of the LSA of each */
const put = (where: Placement, sizes: Readonly<Record<string, number>>): (number | undefined)[] =>
  Object.entries(sizes).map(([key, size]) => {
    expect(place(where, key, sized(size))).toBe(whereIs(where, key) !== undefined);
    return whereIs(where, key);
  });
const whereIs = ({ whereIs: at }: Placement, key: string): number | undefined => at.get(key)?.number;

describe('an LSA', () => {
  test('is filled to the last byte, and no further', () => {
    expect(put(placement(), { a: 10, b: 6, c: 1 })).toEqual([0, 0, 1]);
    expect(put(placement(), { a: 10, b: 7, c: 6 })).toEqual([0, 1, 0]);
  });

  test('holds as many entries as its kind allows', () => {
    expect(put(placement({ entries: 2 }), { a: 1, b: 1, c: 1, d: 1, e: 1 })).toEqual([0, 0, 1, 1, 2]);
  });

  test('is there no more often than its sort allows: what comes then is nowhere, until there is room', () => {
    const two = placement({ lsas: 2 });
    expect(put(two, { a: 16, b: 16, c: 16 })).toEqual([0, 1, undefined]);
    expect({ lsas: two.lsas.length, whereIsSize: two.whereIs.size }).toEqual({
      lsas: 2,
      whereIsSize: 2,
    });
    unplace(two, 'b');
    expect(put(two, { c: 16 })).toEqual([1]);
  });

  test('takes one entry that fills it, and none that is larger', () => {
    expect(put(placement(), { a: 16, b: 17 })).toEqual([0, undefined]);
  });
});

describe('an entry that grows', () => {
  /** LSA 0 has space for everything; `a` and `b` are in LSA 1. */
  function second(): Placement {
    const where = placement();
    expect(put(where, { x: 16, a: 6, b: 4 })).toEqual([0, 1, 1]);
    unplace(where, 'x');
    return where;
  }

  test('stays in its LSA for as long as it fits there, although there is room before it', () => {
    const where = second();
    expect(put(where, { a: 12 })).toEqual([1]);
    expect(where.lsas.map(({ used }) => used)).toEqual([0, 16]);
  });

  test('moves to the first LSA that has room when it does not', () => {
    const where = second();
    expect(put(where, { a: 13 })).toEqual([0]);
    expect(where.lsas.map(({ used }) => used)).toEqual([13, 4]);
  });

  test('beyond what any LSA holds is nowhere, and what is there of it goes', () => {
    const where = second();
    expect(put(where, { a: 17 })).toEqual([undefined]);
    expect(where.lsas.map(({ used }) => used)).toEqual([0, 4]);
  });
});

describe('room that became free', () => {
  test('in a lower LSA is taken before that of a higher one', () => {
    const where = placement();
    expect(put(where, { a: 16, b: 16, c: 16 })).toEqual([0, 1, 2]);
    unplace(where, 'c');
    unplace(where, 'a');
    expect(put(where, { d: 16, e: 16 })).toEqual([0, 2]);
  });

  test('in a higher one hides none of a lower one', () => {
    const where = placement();
    expect(put(where, { a: 8, b: 16, c: 16 })).toEqual([0, 1, 2]);
    unplace(where, 'c');
    expect(put(where, { d: 8 })).toEqual([0]);
  });

  test('is too small for one entry and not for another: the larger goes behind', () => {
    const where = placement();
    expect(put(where, { a: 12, b: 8, c: 4 })).toEqual([0, 1, 0]);
    expect(put(where, { d: 8, e: 1, f: 1 })).toEqual([1, 2, 2]);
  });

  test('LSAs that are full are not looked at again, even after an entry that is larger than the smallest', () => {
    const where = placement();
    put(where, { a: 2, b: 14, c: 16, d: 5 });
    expect({ smallest: where.smallest, openFrom: where.openFrom }).toEqual({ smallest: 2, openFrom: 2 });
  });
});

test('reports whether it had what is taken away', () => {
  const where = placement();
  put(where, { a: 1 });
  expect({ first: unplace(where, 'a'), again: unplace(where, 'a') }).toEqual({ first: true, again: false });
});

describe('LSAs are built', () => {
  const three = (): Placement => {
    const where = placement({ entries: 2 });
    put(where, { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 });
    return where;
  };

  test.each([
    [1, -1, 2],
    [2, 0, 2],
    [3, -1, 1],
    [6, 0, 0],
    [7, 1, 0],
  ])('until %i entries are written: %i may follow, and %i LSAs do', (entries, left, stale) => {
    const where = three();
    expect({ buildLsas: buildLsas(where, SELF, entries), staleSize: where.stale.size }).toEqual({
      buildLsas: left,
      staleSize: stale,
    });
  });

  test('an empty one costs as much as one entry, and is none', () => {
    const where = three();
    for (const key of ['a', 'b', 'e', 'f']) unplace(where, key);
    expect({ buildLsas: buildLsas(where, SELF, 3), staleSize: where.stale.size }).toEqual({
      buildLsas: 0,
      staleSize: 1,
    });
    expect(placedLsas(where, SELF).map(({ lsId }) => lsId)).toEqual([FIRST_ID + 1]);
  });

  test('again only when they changed', () => {
    const where = three();
    const before = placedLsas(where, SELF);
    put(where, { c: 2 });
    expect(placedLsas(where, SELF).map((lsa, n) => lsa === before[n])).toEqual([true, false, true]);
  });
});
