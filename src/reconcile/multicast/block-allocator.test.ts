import { describe, expect, test } from 'vitest';
import { BlockAllocator } from './block-allocator.ts';

describe('BlockAllocator', () => {
  test('gives the lowest gap that is large enough, from the first number on', () => {
    const slots = new BlockAllocator(1, 11);
    expect([slots.allocate(3), slots.allocate(3), slots.allocate(4), slots.allocate()]).toEqual([1, 4, 7, undefined]);
    slots.release(4, 3);
    expect([slots.allocate(4), slots.allocate(2), slots.allocate()]).toEqual([undefined, 4, 6]);
  });

  test('a table in pieces has no block as large as what is free; joined again it has', () => {
    const slots = new BlockAllocator(0, 8);
    for (let i = 0; i < 8; i++) slots.allocate();
    for (const i of [1, 5, 3]) slots.release(i);
    expect([slots.free, slots.allocate(2)]).toEqual([3, undefined]);
    for (const i of [4, 2]) slots.release(i);
    expect([slots.free, slots.allocate(5)]).toEqual([5, 1]);
  });

  test('numbers in use by an earlier run are not given again, and are taken only once', () => {
    const slots = new BlockAllocator(0, 6);
    expect([slots.take(2, 2), slots.take(3), slots.take(1, 2), slots.take(5, 2), slots.take(-1)]).toEqual([
      ...[true, false, false, false, false],
    ]);
    expect([slots.allocate(2), slots.allocate(2), slots.allocate()]).toEqual([0, 4, undefined]);
  });

  test.each([
    [0, 1],
    [2, 3],
    [4, 2],
    [1, 1],
    [7, 1],
  ])('%i and %i more cannot be released: not all are in use', (start, count) => {
    const slots = new BlockAllocator(1, 6);
    slots.take(2, 2);
    expect(() => slots.release(start, count)).toThrow(RangeError);
    expect(slots.free).toBe(3);
  });

  test('after any order of use everything is free again, in one block', () => {
    const slots = new BlockAllocator(0, 64);
    let random = 7;
    const next = (n: number): number => (random = (random * 1103515245 + 12345) % 2147483648) % n;
    const used = new Map<number, number>();
    for (let i = 0; i < 5000; i++) {
      const count = 1 + next(9);
      const start = slots.allocate(count);
      if (start !== undefined) {
        for (const [s, c] of used) expect(start >= s + c || start + count <= s).toBe(true);
        used.set(start, count);
      }
      const victim = [...used][next(used.size + 1)];
      if (victim) {
        slots.release(...victim);
        used.delete(victim[0]);
      }
      expect(slots.free + [...used.values()].reduce((a, b) => a + b, 0)).toBe(64);
    }
    for (const one of used) slots.release(...one);
    expect(slots.allocate(64)).toBe(0);
  });
});
