import { expect, test } from 'vitest';
import { type Layout, layout } from './layout.ts';

const chain = (...names: string[]): { a: string; b: string }[] => names.slice(1).map((b, i) => ({ a: names[i]!, b }));
const at = ({ places }: Layout, name: string): { x: number; y: number } => places.find((place) => place.name === name)!;
const nearest = ({ places }: Layout): number =>
  Math.min(...places.flatMap((a, i) => places.slice(i + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y))));

const PATH = ['h1', 'leaf1', 'p1', 'p2', 'leaf2', 'h2'];

test('a path is a level line, evenly spaced, with the first node on the left', () => {
  const drawn = layout(PATH, chain(...PATH));
  expect(new Set(drawn.places.map(({ y }) => y)).size).toBe(1);
  expect(PATH.map((name) => at(drawn, name).x)).toEqual([80, 230, 380, 530, 680, 830]);
  expect(drawn.width).toBeGreaterThan(drawn.height);
});

test('the order of the file decides on which side a path begins', () => {
  const drawn = layout(PATH.toReversed(), chain(...PATH));
  expect(at(drawn, 'h2').x).toBeLessThan(at(drawn, 'h1').x);
});

test('the first node is on the left, also when it is not an end', () => {
  const drawn = layout(['b', 'd', 'c', 'a'], chain('a', 'b', 'c', 'd'));
  expect(at(drawn, 'b').x).toBeLessThan(at(drawn, 'c').x);
});

const star = (leaves: number): [string[], { a: string; b: string }[]] => {
  const names = Array.from({ length: leaves }, (_, i) => `n${i}`);
  return [['hub', ...names], names.map((b) => ({ a: 'hub', b }))];
};
const grid = (side: number): [string[], { a: string; b: string }[]] => {
  const name = (x: number, y: number): string => `g${x}-${y}`;
  const cells = Array.from({ length: side * side }, (_, i): [number, number] => [i % side, Math.floor(i / side)]);
  const links = cells.flatMap(([x, y]) => [
    ...(x + 1 < side ? [{ a: name(x, y), b: name(x + 1, y) }] : []),
    ...(y + 1 < side ? [{ a: name(x, y), b: name(x, y + 1) }] : []),
  ]);
  return [cells.map(([x, y]) => name(x, y)), links];
};

test.each([
  ['3 nodes', ['a', 'b', 'c'], chain('a', 'b', 'c')],
  ['a triangle', ['a', 'b', 'c'], [...chain('a', 'b', 'c'), { a: 'c', b: 'a' }]],
  ['a star of 30', ...star(29)],
  ['a grid of 25', ...grid(5)],
  ['two parts without a link', ['a', 'b', 'c', 'd'], [...chain('a', 'b'), ...chain('c', 'd')]],
  ['one node', ['a'], []],
] as const)('%s: no two nodes touch, all are inside the picture, and it is the same each time', (_, names, links) => {
  const drawn = layout(names, links);
  expect(nearest(drawn)).toBeGreaterThanOrEqual(95);
  for (const { x, y } of drawn.places) {
    expect(x).toBeGreaterThanOrEqual(80);
    expect(y).toBeGreaterThanOrEqual(70);
    expect(x).toBeLessThanOrEqual(drawn.width - 80);
    expect(y).toBeLessThanOrEqual(drawn.height - 70);
  }
  expect(layout(names, links)).toEqual(drawn);
});

test('without nodes there is an empty picture', () => {
  expect(layout([], []).places).toEqual([]);
});

test('nodes with the same neighbors lie apart, and the picture stays small enough to read', () => {
  const spines = ['s1', 's2', 's3', 's4'];
  const leaves = Array.from({ length: 6 }, (_, i) => `leaf${i}`);
  const hosts = Array.from({ length: 20 }, (_, i) => `h${i}`);
  const links = [
    ...leaves.flatMap((a) => spines.map((b) => ({ a, b }))),
    ...hosts.map((a, i) => ({ a, b: leaves[i % leaves.length]! })),
  ];
  const drawn = layout([...spines, ...leaves, ...hosts], links);
  expect(nearest(drawn)).toBeGreaterThanOrEqual(95);
  expect(Math.max(drawn.width, drawn.height)).toBeLessThan(1300);
});
