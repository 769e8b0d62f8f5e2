import { expect, test } from 'vitest';
import { Lingering } from './lingering.ts';

const one = (id: string, value = 0) => ({ id, value });

test('an object stays for the given time after it was last desired, then goes', () => {
  const lists = new Lingering<{ id: string; value: number }>(100);
  expect(lists.update([one('a'), one('b')], 0)).toEqual([one('a'), one('b')]);
  expect(lists.due).toBeUndefined();
  expect(lists.update([one('c')], 10)).toEqual([one('c'), one('a'), one('b')]);
  expect(lists.due).toBe(110);
  expect(lists.update([one('c')], 109)).toEqual([one('c'), one('a'), one('b')]);
  expect(lists.update([one('c')], 110)).toEqual([one('c')]);
  expect(lists.due).toBeUndefined();
});

test('one that is desired again is so with its new value, and its time begins anew', () => {
  const lists = new Lingering<{ id: string; value: number }>(100);
  lists.update([one('a', 1)], 0);
  lists.update([], 10);
  expect(lists.update([one('a', 2)], 50)).toEqual([one('a', 2)]);
  expect(lists.update([], 105)).toEqual([one('a', 2)]);
  expect(lists.due).toBe(205);
});

test('one that is in use stays, until it is not at one of the looks, a second apart', () => {
  const lists = new Lingering<{ id: string; value: number }>(5000);
  const used = new Set(['a']);
  const at = (now: number): string[] => lists.update([], now, ({ id }) => used.has(id)).map(({ id }) => id);
  lists.update([one('a'), one('b')], 0);
  expect([at(0), at(4999), at(5000), lists.due]).toEqual([['a', 'b'], ['a', 'b'], ['a'], 6000]);
  used.clear();
  expect([at(5999), lists.due, at(6000), lists.due]).toEqual([['a'], 6000, [], undefined]);
});
