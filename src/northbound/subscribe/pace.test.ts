import { describe, expect, test } from 'vitest';
import { Pace } from './pace.ts';

const often = (times: number, next: () => number): number => Array.from({ length: times }, next).at(-1)!;

describe('how often units are compared', () => {
  test('what changes: every 5 ms, or so seldom that all units have a fifth of the time, small ones often', () => {
    const pace = new Pace();
    const costs = { small: 0.1, large: 9.9 };
    expect(often(50, () => pace.next('small', costs.small, true))).toBe(5);
    const large = often(50, () => pace.next('large', costs.large, true));
    const small = pace.next('small', costs.small, true);
    expect(costs.small / small + costs.large / large).toBeCloseTo(1 / 5, 3);
    expect([small, large].map(Math.round)).toEqual([5, 54]);
    pace.forget('large');
    expect(pace.next('small', costs.small, true)).toBe(5);
  });

  test('the first comparison, which makes all anew, delays only the next ones', () => {
    const pace = new Pace();
    expect(pace.next('a', 400, true)).toBeCloseTo(2000, 5);
    expect(often(10, () => pace.next('a', 20, true))).toBeLessThan(110);
  });

  test('what does not: ever less often, by its cost, but at least every 100 ms; a change ends that', () => {
    const [cheap, costly] = [new Pace(), new Pace()];
    expect(often(10, () => cheap.next('a', 0.1, false))).toBe(10);
    expect(often(100, () => cheap.next('a', 0.1, false))).toBe(20);
    expect(often(100, () => costly.next('a', 5, false))).toBe(100);
    expect(costly.next('a', 5, true)).toBeCloseTo(25, 5);
  });

  test('one comparison that was costly by chance hardly counts', () => {
    const pace = new Pace();
    often(50, () => pace.next('a', 1, true));
    expect(pace.next('a', 6, true)).toBeCloseTo(10, 5);
  });
});
