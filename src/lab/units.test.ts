import { expect, test } from 'vitest';
import { parseDuration, parseRate, parseSize } from './units.ts';

test.each([
  ['10ms', 10],
  ['50us', 0.05],
  ['1.5s', 1500],
  ['2m', 120_000],
  ['0', 0],
])('a duration of %s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['10', 'ms', '-1ms', '1h', '1 ms 2', ''])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('rates are decimal bits, sizes decimal bytes', () => {
  expect([parseRate('40mbit'), parseRate('1Gbit'), parseRate('100000000bit')]).toEqual([40e6, 1e9, 1e8]);
  expect([parseSize('50kB'), parseSize('2MB'), parseSize('10B')]).toEqual([50_000, 2_000_000, 10]);
  expect({ parseRate: parseRate('40mb'), parseSize: parseSize('40mbit') }).toEqual({
    parseRate: undefined,
    parseSize: undefined,
  });
});
