import { expect, test } from 'vitest';
import { manualClock } from './clock.ts';
import { Deadline } from './deadline.ts';

function world(start = 0) {
  const clock = manualClock(start);
  const runs: number[] = [];
  const deadline = new Deadline(clock, () => runs.push(clock.now()));
  return { clock, runs, deadline };
}

test('an earlier time replaces a later one, a later one changes nothing', () => {
  const { clock, runs, deadline } = world();
  for (const at of [100, 50, 80]) deadline.by(at);
  clock.advance(49);
  expect(runs).toEqual([]);
  clock.advance(200);
  expect(runs).toEqual([50]);
});

test('a past time does not run within the call, and runs once', () => {
  const { clock, runs, deadline } = world(1000);
  for (const at of [10, 1000, 2000]) deadline.by(at);
  expect(runs).toEqual([]);
  clock.advance(5000);
  expect(runs).toEqual([1000]);
});

test('the run sets the next', () => {
  const clock = manualClock();
  const runs: number[] = [];
  const deadline: Deadline = new Deadline(clock, () => {
    runs.push(clock.now());
    if (runs.length < 3) deadline.by(clock.now() + 10);
  });
  deadline.by(10);
  clock.advance(100);
  expect(runs).toEqual([10, 20, 30]);
});

test('with Infinity, or canceled, nothing runs; it can be set again', () => {
  const { clock, runs, deadline } = world();
  deadline.by(Infinity);
  deadline.by(undefined);
  deadline.by(10);
  deadline.cancel();
  clock.advance(100);
  expect(runs).toEqual([]);
  deadline.by(150);
  clock.advance(100);
  expect(runs).toEqual([150]);
});
