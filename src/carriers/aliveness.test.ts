import { expect, test } from 'vitest';
import { forget, isAliveAt, newAliveness, reach } from './aliveness.ts';

const HOLD = 100;

test('reports newly reachable and lost routers, and nothing without a change', () => {
  const a = newAliveness<string>();
  expect(reach(a, new Set(['r1', 'r2']), 0, HOLD)).toEqual({ found: ['r1', 'r2'], lost: [] });
  expect(reach(a, new Set(['r2', 'r3']), 1, HOLD)).toEqual({ found: ['r3'], lost: ['r1'] });
  expect(reach(a, new Set(['r3', 'r2']), 2, HOLD)).toEqual({ found: [], lost: [] });
  expect([...a.reachable].sort()).toEqual(['r2', 'r3']);
});

test('a lost router is alive for the hold time and then forgotten', () => {
  const a = newAliveness<number>();
  reach(a, new Set([1, 2]), 0, HOLD);
  reach(a, new Set([2]), 10, HOLD);
  reach(a, new Set(), 30, HOLD);
  expect([109, 110].map((now) => isAliveAt(a, 1, now, HOLD))).toEqual([true, false]);
  expect(a.forgetAt).toBe(110);
  expect({ at109: forget(a, 109, HOLD), at110: forget(a, 110, HOLD), forgetAt: a.forgetAt }).toEqual({
    at109: [],
    at110: [1],
    forgetAt: 130,
  });
  expect({ forget: forget(a, 130, HOLD), forgetAt: a.forgetAt, lostAtSize: a.lostAt.size }).toEqual({
    forget: [2],
    forgetAt: Infinity,
    lostAtSize: 0,
  });
});

test('a router that returns in time is not forgotten; a second loss starts a new hold time', () => {
  const a = newAliveness<number>();
  reach(a, new Set([1]), 0, HOLD);
  reach(a, new Set(), 10, HOLD);
  reach(a, new Set([1]), 20, HOLD);
  expect({ isAliveAt: isAliveAt(a, 1, 1000, HOLD), forget: forget(a, 200, HOLD) }).toEqual({
    isAliveAt: true,
    forget: [],
  });
  reach(a, new Set(), 300, HOLD);
  expect([399, 400].map((now) => isAliveAt(a, 1, now, HOLD))).toEqual([true, false]);
});

test('a router that was never reachable is not alive', () => {
  expect(isAliveAt(newAliveness<number>(), 1, 0, HOLD)).toBe(false);
});
