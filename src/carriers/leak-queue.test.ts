import { expect, test } from 'vitest';
import { LeakQueue } from './leak-queue.ts';

const options = { batch: 2, settleMs: 1000 };

test('decides each marked key once, one batch a turn, and stays due while more are queued', () => {
  const queue = new LeakQueue(options);
  const decided: string[] = [];
  const decide = (key: string): number => (decided.push(key), Infinity);
  expect({ dueAt: queue.dueAt, isBusy: queue.isBusy }).toEqual({ dueAt: Infinity, isBusy: false });
  for (const key of ['a', 'b', 'a', 'c']) queue.mark(key, 5);
  expect({ dueAt: queue.dueAt, isBusy: queue.isBusy }).toEqual({ dueAt: 5, isBusy: true });
  queue.take(6, decide);
  expect({ decided, dueAt: queue.dueAt, isBusy: queue.isBusy }).toEqual({
    decided: ['a', 'b'],
    dueAt: 6,
    isBusy: true,
  });
  queue.take(7, decide);
  expect({ decided, dueAt: queue.dueAt, isBusy: queue.isBusy }).toEqual({
    decided: ['a', 'b', 'c'],
    dueAt: Infinity,
    isBusy: false,
  });
});

test('decides a key again once it has settled, and not before', () => {
  const queue = new LeakQueue(options);
  queue.mark('a', 0);
  queue.take(0, () => queue.eligible('up:a', 0));
  expect({ dueAt: queue.dueAt, isBusy: queue.isBusy }).toEqual({ dueAt: 1000, isBusy: false });
  const decided: string[] = [];
  const decide = (key: string): number => (decided.push(key), Infinity);
  queue.take(999, decide);
  expect(decided).toEqual([]);
  queue.take(1000, decide);
  expect({ decided, dueAt: queue.dueAt }).toEqual({ decided: ['a'], dueAt: Infinity });
});

test('the settling time starts when a place becomes eligible, and again after it was not', () => {
  const queue = new LeakQueue(options);
  expect([queue.eligible('up:a', 10), queue.eligible('up:a', 500), queue.eligible('down:a', 500)]).toEqual([
    1010, 1010, 1500,
  ]);
  queue.notEligible('up:a');
  expect(queue.eligible('up:a', 600)).toBe(1600);
});
