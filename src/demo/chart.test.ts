import { expect, test } from 'vitest';
import { chartSvg, decades, ticks } from './chart.ts';
import type { Point } from './results.ts';
import { firstCrossing, settledAt, thin, timeAbove } from './series.ts';

test('thinning keeps the peaks and the order', () => {
  const points: Point[] = [
    [0, 5],
    [1, 9],
    [2, 1],
    [12, 4],
  ];
  expect(thin(points, 10)).toEqual([
    [1, 9],
    [2, 1],
    [12, 4],
  ]);
});

test('a level that is never reached is never crossed', () => {
  expect(
    firstCrossing(
      [
        [0, 1],
        [1, 2],
      ],
      3,
    ),
  ).toBeUndefined();
  expect(firstCrossing([[0, 5]], 3)).toBe(0);
});

test('the time that any curve is at its level: overlaps count once, and a curve that ends there counts to its end', () => {
  const curve = (...points: Point[]): { points: Point[]; level: number } => ({ points, level: 5 });
  expect(timeAbove([curve([0, 5], [10, 4], [20, 9], [30, 0])])).toBe(20);
  expect(timeAbove([curve([0, 5], [10, 4]), curve([5, 5], [20, 1])])).toBe(20);
  expect(timeAbove([curve([0, 1], [10, 7], [13, 8])])).toBe(3);
  expect(timeAbove([curve()])).toBe(0);
});

test.each([
  [0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [2_000, [0, 500, 1000, 1500, 2000]],
  [0, [0, 1]],
])('the axis up to %d has round steps', (max, expected) => {
  expect(ticks(max, 5)).toEqual(expected);
});

test('a chart stays inside its frame and has no impossible number', () => {
  const svg = chartSvg({
    title: 't',
    yLabel: 'y',
    xUnit: 's',
    xMax: 100,
    yScale: 1,
    curves: [
      {
        name: 'c',
        color: '#000',
        points: [
          [-5, 1],
          [0, 0],
          [50, 7],
          [500, 9],
        ],
      },
    ],
  });
  expect(svg).not.toMatch(/NaN|Infinity/);
  const drawn = [...svg.match(/ d="([^"]*)"/)![1]!.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map((m) => [
    Number(m[1]),
    Number(m[2]),
  ]);
  expect(drawn).toHaveLength(2);
  expect(drawn.filter(([x, y]) => x! < 64 || x! > 904 || y! < 14 || y! > 222)).toEqual([]);
});

test('a queue has settled when it is below the level and stays there', () => {
  const points: Point[] = [
    [0, 0],
    [10, 60],
    [20, 40],
    [30, 70],
    [40, 30],
    [90, 20],
    [140, 10],
  ];
  expect(settledAt(points, 50, 100)).toBe(40);
  expect(settledAt(points, 50, 101)).toBeUndefined();
  expect(settledAt(points, 80, 10)).toBeUndefined();
});

test('a logarithmic axis has decades; what is below its floor lies on it', () => {
  expect(decades(1, 2000)).toEqual([1, 10, 100, 1000, 10_000]);
  expect(decades(1, 1)).toEqual([1, 10]);
  const flat = { title: 't', yLabel: 'y', xUnit: 's', xMax: 10, yScale: 1, yFloor: 1 } as const;
  const svg = chartSvg({
    ...flat,
    curves: [
      {
        name: 'c',
        color: '#000',
        points: [
          [0, 0],
          [5, 10],
          [10, 100],
        ],
      },
    ],
  });
  expect(svg).toContain('M64 222L484 118L904 14');
});
