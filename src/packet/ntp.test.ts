import { expect, test } from 'vitest';
import { ntpDifferenceNs, ntpFromUnixNs } from './ntp.ts';

test('1970 and a moment of 2024, with its fraction', () => {
  expect(ntpFromUnixNs(0n)).toBe(0x83aa7e80_00000000n);
  expect(ntpFromUnixNs(1_704_067_200_500_000_000n)).toBe(0xe93c7f00_80000000n);
});

test('2036: the timestamp wraps, and differences are right across it', () => {
  const wrap = ((1n << 32n) - 2_208_988_800n) * 1_000_000_000n;
  expect(ntpFromUnixNs(wrap)).toBe(0n);
  expect(ntpDifferenceNs(ntpFromUnixNs(wrap + 250_000_000n), ntpFromUnixNs(wrap - 250_000_000n))).toBe(500_000_000n);
  expect(ntpDifferenceNs(ntpFromUnixNs(wrap - 250_000_000n), ntpFromUnixNs(wrap + 250_000_000n))).toBe(-500_000_000n);
});

test('nanoseconds survive to one', () => {
  const start = 1_704_067_200_123_456_789n;
  const difference = ntpDifferenceNs(ntpFromUnixNs(start + 10_000_000n), ntpFromUnixNs(start));
  expect(Number(difference)).toBeGreaterThanOrEqual(9_999_999);
  expect(Number(difference)).toBeLessThanOrEqual(10_000_000);
});
