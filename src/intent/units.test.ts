import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SIZE_UNITS, TIME_UNITS, parseRate, parseSize, parseTime } from './units.ts';

test.each([
  ['0', 0], ['1', 1], ['50000', 50_000], ['1B', 1], ['50kB', 50_000], ['50 kB', 50_000], ['1.5kB', 1500], ['1MB', 1_000_000], ['1GB', 1_000_000_000],
  ['50KiB', 51_200], ['1MiB', 1_048_576], ['0.125kB', 125], ['4294967295B', 4_294_967_295],
])('%s is %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(['', 'kB', '50kb', '50KB', '50 kilobytes', '-1', '1e3', '1.0005kB', '0.5B', '50kB ', ' 50kB', '50  kB', '1_000', '0x10', '1.', '.5kB', '50kbit', '50kB/s', '9999999999999'])(
  '%j is no size',
  (text) => {
    expect(parseSize(text)).toBeUndefined();
  },
);

test.each([['20ms', 20], ['50us', 0.05], ['3s', 3000], ['2min', 120_000], ['1h', 3_600_000], ['1.5s', 1500], ['500ns', 0.0005], ['0s', 0]])('%s is %d ms', (text, ms) => {
  expect(parseTime(text)).toBe(ms);
});

test.each(['', '20', '3 seconds', '3S', '20 m', '-1s', '1s2ms', '0.5ns'])('%j is no time', (text) => {
  expect(parseTime(text)).toBeUndefined();
});

test.each([['1000/s', 1000], ['10k/s', 10_000], ['1.5k/s', 1500], ['2M/s', 2_000_000]])('%s is %d a second', (text, rate) => {
  expect(parseRate(text)).toBe(rate);
});

test.each(['', '1000', '1000/ms', '1000 / s', '10K/s', '0.5/s', '/s'])('%j is no rate', (text) => {
  expect(parseRate(text)).toBeUndefined();
});

describe('exactness', () => {
  test('n.fff of any unit is n and fff thousandths of it, or refused', () => {
    const unit = fc.constantFrom(...Object.entries(SIZE_UNITS));
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), fc.nat({ max: 999 }), unit, (whole, thousandths, [name, scale]) => {
        const exact = BigInt(whole) * BigInt(scale) * 1000n + BigInt(thousandths) * BigInt(scale);
        const expected = exact % 1000n === 0n ? Number(exact / 1000n) : undefined;
        expect(parseSize(`${whole}.${String(thousandths).padStart(3, '0')}${name}`)).toBe(expected);
      }),
    );
  });

  test('a number of any unit of time is that many of it', () => {
    for (const [name, ns] of Object.entries(TIME_UNITS)) expect(parseTime(`7${name}`)).toBe((7 * ns) / 1e6);
  });
});
