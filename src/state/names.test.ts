import { expect, test } from 'vitest';
import { namesOf } from './names.ts';

test('a time of a program is shown alike at each reading: subscribers would hear of changes that are none', () => {
  const { timeOfDay } = namesOf({ links: [] });
  const ns = process.hrtime.bigint();
  const shown = new Set(Array.from({ length: 20_000 }, () => timeOfDay(ns)));
  expect(shown.size).toBe(1);
  expect(Math.abs(Date.parse([...shown][0]!) - Date.now())).toBeLessThan(60_000);
});
