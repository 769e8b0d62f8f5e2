import { expect, test } from 'vitest';
import { FIRST_PAUSE_MS, nextPause, withJitter } from './reconnect.ts';

test('the pause before the next attempt doubles up to a quarter of a minute', () => {
  const pauses = [FIRST_PAUSE_MS];
  while (pauses.length < 7) pauses.push(nextPause(pauses.at(-1)!));
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
});

test('no two cnpd wait equally long: half of the pause is chance, its middle the pause itself', () => {
  expect([0, 0.5, 1].map((random) => withJitter(1000, random))).toEqual([750, 1000, 1250]);
  const waits = Array.from({ length: 1000 }, () => withJitter(FIRST_PAUSE_MS, Math.random()));
  expect(new Set(waits).size).toBeGreaterThan(900);
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(375);
  expect(Math.max(...waits)).toBeLessThan(625);
});
