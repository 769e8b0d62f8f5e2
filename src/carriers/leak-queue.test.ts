import { expect, test } from 'vitest';
import { LeakQueue } from './leak-queue.ts';

const options = { batch: 2, settleMs: 1000 };

test('decides about each marked key once, a batch a turn, and is due while there are more', () => {
  const queue = new LeakQueue(options);
  const decided: string[] = [];
  const decide = (key: string): number => (decided.push(key), Infinity);
  expect([queue.dueAt, queue.isBusy]).toEqual([Infinity, false]);
  for (const key of ['a', 'b', 'a', 'c']) queue.mark(key, 5);
  expect([queue.dueAt, queue.isBusy]).toEqual([5, true]);
  queue.take(6, decide);
  expect([decided, queue.dueAt, queue.isBusy]).toEqual([['a', 'b'], 6, true]);
  queue.take(7, decide);
  expect([decided, queue.dueAt, queue.isBusy]).toEqual([['a', 'b', 'c'], Infinity, false]);
});

test('comes back to a key when it is ripe, and not before', () => {
  const queue = new LeakQueue(options);
  queue.mark('a', 0);
  queue.take(0, () => queue.eligible('up:a', 0));
  expect([queue.dueAt, queue.isBusy]).toEqual([1000, false]);
  const decided: string[] = [];
  const decide = (key: string): number => (decided.push(key), Infinity);
  queue.take(999, decide);
  expect(decided).toEqual([]);
  queue.take(1000, decide);
  expect([decided, queue.dueAt]).toEqual([['a'], Infinity]);
});

test('counts from when a place has become eligible, and anew after it was not', () => {
  const queue = new LeakQueue(options);
  expect([queue.eligible('up:a', 10), queue.eligible('up:a', 500), queue.eligible('down:a', 500)]).toEqual([
    1010, 1010, 1500,
  ]);
  queue.notEligible('up:a');
  expect(queue.eligible('up:a', 600)).toBe(1600);
});
