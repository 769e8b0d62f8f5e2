import { describe, expect, test } from 'vitest';
import { Pace } from './pace.ts';

const often = (times: number, next: () => number): number => Array.from({ length: times }, next).at(-1)!;

describe('how often units are compared', () => {
  test('what changes: every 5 ms, or so seldom that all units have a fifth of the time', () => {
    const pace = new Pace();
    expect(often(50, () => pace.next('a', 0.1, true))).toBe(5);
    expect(often(50, () => pace.next('b', 9.9, true))).toBeCloseTo(50, 0);
    expect(pace.next('a', 0.1, true)).toBeCloseTo(50, 0);
    pace.forget('b');
    expect(pace.next('a', 0.1, true)).toBe(5);
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
