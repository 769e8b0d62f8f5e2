// What is made of instructions that are doubled, impossible or contradictory.
import { expect, test } from 'vitest';
import { World } from './holds.fixture.ts';

test.each([
  ['pause', 0],
  ['pause', 65_536],
  ['pause', 2 ** 32],
  ['rate-reduce', 101],
  ['rate-reduce', -1],
  ['resume', 101],
  ['pause', NaN],
] as const)('%s %d is no instruction, and changes nothing', (action, parameter) => {
  const w = new World();
  w.instruct('rate-reduce', 50);
  expect(w.instruct(action, parameter)).toEqual([]);
  expect(w.counts['source.hold.bad-instruction']).toBe(1);
});

test('LHCNP-5.5-h: the same instruction of a node within half an RTT_est is one; another, or a later one, is not', () => {
  const w = new World();
  w.pass(1000);
  w.instruct('rate-reduce', 50);
  w.pass(1004.9);
  expect(w.instruct('rate-reduce', 50)).toEqual([]);
  expect(w.counts['source.hold.duplicate']).toBe(1);
  // The doubled one does not count as the first of the next.
  w.pass(1005);
  w.instruct('rate-reduce', 50);
  expect(w.rate()).toBe(0.25);
  w.instruct('rate-reduce', 20);
  expect(w.rate()).toBe(0.2);
  w.instruct('resume', 20);
  expect(w.rate()).toBe(0.36);
  expect(w.counts['source.hold.duplicate']).toBe(1);
});

test('the interval of duplicates can be set', () => {
  const w = new World({ duplicateWithinMs: 2 });
  w.instruct('rate-reduce', 50);
  w.pass(1.9);
  expect(w.instruct('rate-reduce', 50)).toEqual([]);
  w.pass(2);
  expect(w.instruct('rate-reduce', 50)).toHaveLength(1);
});

test('a pause that is over may be repeated at once', () => {
  const w = new World();
  w.instruct('rate-reduce', 50);
  w.instruct('pause', 1000);
  w.pass(0.9);
  expect(w.instruct('pause', 1000)).toEqual([]);
  w.pass(1);
  expect(w.instruct('pause', 1000)).toMatchObject([{ kind: 'pause', microseconds: 1000 }]);
});

test('the last of contradictory instructions of a node counts', () => {
  const w = new World({ resumeCap: 1 });
  w.instruct('rate-reduce', 100);
  w.instruct('pause', 50_000);
  w.instruct('resume', 0);
  expect([w.rate(), w.paused()]).toEqual([undefined, false]);
  w.instruct('rate-reduce', 40);
  expect(w.rate()).toBe(0.6);
});

test('less than 100 percent never goes below the minimum', () => {
  const w = new World({ minimumShare: 0.1 });
  for (let percent = 90; percent < 95; percent++) w.instruct('rate-reduce', percent);
  expect(w.rate()).toBe(0.1);
});
