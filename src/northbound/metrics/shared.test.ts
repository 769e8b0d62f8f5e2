import { expect, test } from 'vitest';
import { manualClock } from '../../model/clock.ts';
import { Shared } from './shared.ts';

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function example() {
  const clock = manualClock();
  const ends: ((value: number) => void)[] = [];
  const shared = new Shared(() => new Promise<number>((resolve) => void ends.push(resolve)), 100, clock);
  return { clock, ends, shared };
}

test('who asks while one is made shares the next, which begins after the first has ended', async () => {
  const { clock, ends, shared } = example();
  const first = shared.get();
  await settle();
  const others = [shared.get(), shared.get()];
  clock.advance(1000);
  await settle();
  expect(ends).toHaveLength(1);
  ends[0]!(1);
  await settle();
  ends[1]!(2);
  expect(await Promise.all([first, ...others])).toEqual([1, 2, 2]);
  expect(ends).toHaveLength(2);
});

test('from the begin of one to the begin of the next there is a gap', async () => {
  const { clock, ends, shared } = example();
  const first = shared.get();
  await settle();
  ends[0]!(1);
  await first;
  const second = shared.get();
  clock.advance(99);
  await settle();
  expect(ends).toHaveLength(1);
  clock.advance(1);
  await settle();
  ends[1]!(2);
  expect(await second).toBe(2);
});

test('one that fails fails for those who wait for it, and not for the next', async () => {
  let calls = 0;
  const make = (): Promise<number> => (calls++ === 0 ? Promise.reject(new Error('no')) : Promise.resolve(7));
  const shared = new Shared(make, 0, manualClock());
  await expect(shared.get()).rejects.toThrow('no');
  expect(await shared.get()).toBe(7);
});
