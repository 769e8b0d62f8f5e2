import { expect, test } from 'vitest';
import { PSN_MODULUS, psnDistance } from './roce.ts';

test.each([
  [0, 0, 0],
  [1, 0, 1],
  [0, 1, -1],
  [0, PSN_MODULUS - 1, 1],
  [PSN_MODULUS - 1, 0, -1],
  [0x7fffff, 0, 0x7fffff],
  [0x800000, 0, -0x800000],
])('PSN %i is %i away from %i in 24-bit serial arithmetic', (a, b, distance) => {
  expect(psnDistance(a, b)).toBe(distance);
});
