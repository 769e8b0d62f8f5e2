import { expect, test } from 'vitest';
import { forget, isAliveAt, newAliveness, reach } from './aliveness.ts';

const HOLD = 100;

test('who is new and who is lost, and nothing when nobody is either', () => {
  const a = newAliveness<string>();
  expect(reach(a, new Set(['r1', 'r2']), 0, HOLD)).toEqual({ found: ['r1', 'r2'], lost: [] });
  expect(reach(a, new Set(['r2', 'r3']), 1, HOLD)).toEqual({ found: ['r3'], lost: ['r1'] });
  expect(reach(a, new Set(['r3', 'r2']), 2, HOLD)).toEqual({ found: [], lost: [] });
  expect([...a.reachable].sort()).toEqual(['r2', 'r3']);
});

test('what is lost is alive for the hold time, and forgotten when it is over', () => {
  const a = newAliveness<number>();
  reach(a, new Set([1, 2]), 0, HOLD);
  reach(a, new Set([2]), 10, HOLD);
  reach(a, new Set(), 30, HOLD);
  expect([109, 110].map((now) => isAliveAt(a, 1, now, HOLD))).toEqual([true, false]);
  expect(a.forgetAt).toBe(110);
  expect([forget(a, 109, HOLD), forget(a, 110, HOLD), a.forgetAt]).toEqual([[], [1], 130]);
  expect([forget(a, 130, HOLD), a.forgetAt, a.lostAt.size]).toEqual([[2], Infinity, 0]);
});

test('what comes back in time is not forgotten, and counts anew when it is lost again', () => {
  const a = newAliveness<number>();
  reach(a, new Set([1]), 0, HOLD);
  reach(a, new Set(), 10, HOLD);
  reach(a, new Set([1]), 20, HOLD);
  expect([isAliveAt(a, 1, 1000, HOLD), forget(a, 200, HOLD)]).toEqual([true, []]);
  reach(a, new Set(), 300, HOLD);
  expect([399, 400].map((now) => isAliveAt(a, 1, now, HOLD))).toEqual([true, false]);
});

test('what never was there is not alive', () => {
  expect(isAliveAt(newAliveness<number>(), 1, 0, HOLD)).toBe(false);
});
