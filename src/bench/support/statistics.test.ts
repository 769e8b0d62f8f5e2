import { describe, expect, test } from 'vitest';
import { waitQuantile } from './agent/loop-report.ts';
import { number, table } from './report.ts';
import { differences, inTurns, quantile, summary } from './statistics.ts';

describe('summaries', () => {
  test('quantiles are samples, by nearest rank, whatever the order', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect([0, 0.01, 0.5, 0.99, 1].map((q) => quantile(hundred, q))).toEqual([1, 1, 50, 99, 100]);
    expect(quantile([7], 0.99)).toBe(7);
  });

  test('nothing measured is an error, not a zero', () => expect(() => summary([])).toThrow(RangeError));

  test('numbers are compared as numbers', () =>
    expect(summary([9, 10, 100])).toEqual({ runs: 3, median: 10, min: 9, max: 100 }));
});

test('contenders are measured in turns, and compared round by round', async () => {
  const order: string[] = [];
  let load = 0;
  const measured = await inTurns(3, {
    a: () => {
      order.push('a');
      load += 10;
      return load + 1;
    },
    b: () => {
      order.push('b');
      return load;
    },
  });
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  expect(differences(measured.a, measured.b)).toEqual([1, 1, 1]);
});

test('a long turn of the event loop counts for as long as it lasts', () => {
  const gaps = [...new Array<number>(900).fill(1), 100];
  expect(quantile(gaps, 0.99)).toBe(1);
  expect(waitQuantile(gaps, 0.99)).toBeCloseTo(90, 0);
});

test('the table shows spread, ratio, target and what fell short', () => {
  const row = {
    figure: 'f',
    what: 'cost',
    unit: 'ns',
    measured: 40,
    spread: summary([38, 40, 51]),
    reference: 'empty',
    referenceValue: 20,
    ratio: 2,
    target: '≤ 35 ns',
    met: false,
    note: 'why',
  };
  expect(table([row]).split('\n')[2]).toMatch(
    /^cost +40\.0 ns \[38\.0 … 51\.0\] +empty: 20\.0 ns +2\.00 +≤ 35 ns +NO$/,
  );
  expect(table([row])).toContain('cost: why');
  expect(['0.013', '12345', '0', 'Infinity'].map((n) => number(Number(n)))).toEqual(['0.013', '12,345', '0.00', '∞']);
});
