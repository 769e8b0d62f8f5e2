import { expect, test } from 'vitest';
import { lowerBound } from './sorted.ts';

test('the lower bound is the index of the first value that is not below', () => {
  const order = ['b', 'd', 'f'];
  expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => lowerBound(order, key))).toEqual([0, 0, 1, 1, 2, 2, 3]);
  expect(lowerBound([], 'a')).toBe(0);
  expect([1, 2, 3].map((value) => lowerBound([2, 2], value))).toEqual([0, 0, 2]);
});
