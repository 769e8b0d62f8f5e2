import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  SIZE_UNITS,
  TIME_UNITS,
  parseBitRate,
  parseByteRate,
  parseFactor,
  parsePercent,
  parseRate,
  parseSize,
  parseTime,
} from './units.ts';

test.each([
  ['0', 0],
  ['1', 1],
  ['50000', 50_000],
  ['1B', 1],
  ['50kB', 50_000],
  ['50 kB', 50_000],
  ['1.5kB', 1500],
  ['1MB', 1_000_000],
  ['1GB', 1_000_000_000],
  ['50KiB', 51_200],
  ['1MiB', 1_048_576],
  ['0.125kB', 125],
  ['4294967295B', 4_294_967_295],
])('%s is %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each([
  '',
  'kB',
  '50kb',
  '50KB',
  '50 kilobytes',
  '-1',
  '1e3',
  '1.0005kB',
  '0.5B',
  '50kB ',
  ' 50kB',
  '50  kB',
  '1_000',
  '0x10',
  '1.',
  '.5kB',
  '50kbit',
  '50kB/s',
  '9999999999999',
])('%j is no size', (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test.each([
  ['20ms', 20],
  ['50us', 0.05],
  ['3s', 3000],
  ['2min', 120_000],
  ['1h', 3_600_000],
  ['1.5s', 1500],
  ['500ns', 0.0005],
  ['0s', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseTime(text)).toBe(ms);
});

test.each(['', '20', '3 seconds', '3S', '20 m', '-1s', '1s2ms', '0.5ns'])('%j is no time', (text) => {
  expect(parseTime(text)).toBeUndefined();
});

test.each([
  ['1000/s', 1000],
  ['10k/s', 10_000],
  ['1.5k/s', 1500],
  ['2M/s', 2_000_000],
])('%s is %d a second', (text, rate) => {
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

test.each([
  ['100Gbit', 100e9],
  ['2.5 Gbit', 2.5e9],
  ['64kbit', 64_000],
  ['1.6Tbit', 1.6e12],
])('%s is %d bit/s', (text, bits) => {
  expect(parseBitRate(text)).toBe(bits);
});

test.each([
  ['10MB/s', 10e6],
  ['1B/s', 1],
  ['1.5GB/s', 1.5e9],
])('%s is %d bytes a second', (text, bytes) => {
  expect(parseByteRate(text)).toBe(bytes);
});

test.each([
  ['50%', 0.5],
  ['0%', 0],
  ['12.5 %', 0.125],
  ['0.001%', 0.00001],
])('%s is the fraction %d', (text, fraction) => {
  expect(parsePercent(text)).toBe(fraction);
});

test.each([
  ['1', 1],
  ['1.25', 1.25],
  ['0.001', 0.001],
  ['100', 100],
])('%s is the factor %d', (text, value) => {
  expect(parseFactor(text)).toBe(value);
});

test.each([
  ['a bit rate', parseBitRate, ['100', '100G', '100gbit', '100Gbps', '1bit', '-1Gbit', '100Gbit/s']],
  ['bytes a second', parseByteRate, ['10MB', '10MiB/s', '10/s', '10']],
  ['a percentage', parsePercent, ['0.5', '50', '%', '50%%', '0.0005%', '-1%']],
  ['a factor', parseFactor, ['', '1x', '.5', '1.', '1e3', '-1', '0.0005', '1 ', '1/2']],
] as const)('what is not %s', (_name, parse, texts) => {
  for (const text of texts) expect({ text, parsed: parse(text) }).toEqual({ text, parsed: undefined });
});
