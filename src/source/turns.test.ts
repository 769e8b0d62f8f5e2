import { beforeEach, expect, test } from 'vitest';
import { ManualWork } from '../model/work.fixture.ts';
import { Turns } from './turns.ts';

let work: ManualWork;
let settled: number[];
let refused: unknown[];
let settle: (slot: number) => Promise<void>;
let turns: Turns;
beforeEach(() => {
  work = new ManualWork();
  [settled, refused] = [[], []];
  settle = (slot) => Promise.resolve(void settled.push(slot));
  turns = new Turns({ work, settle: (slot) => settle(slot), onRefused: (error) => void refused.push(error) });
});
/** One turn, and what follows from its answers. */
const turn = async (): Promise<void> => {
  work.turn();
  for (let i = 0; i < 10; i++) await Promise.resolve();
};
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test('slots have their turns in batches, in order, each once however often it was due', async () => {
  for (let times = 0; times < 100; times++) for (const slot of range(1, 100)) turns.due(slot);
  expect([settled, turns.size]).toEqual([[], 100]);
  await turn();
  expect(settled).toEqual(range(1, 32));
  expect(turns.size).toBe(68);
  await turn();
  expect(settled).toEqual(range(1, 64));
  for (let i = 0; i < 10; i++) await turn();
  expect([settled, turns.size, work.waits]).toEqual([range(1, 100), 0, false]);
  turns.due(7);
  await turn();
  expect(settled.at(-1)).toBe(7);
});

test('a slot that becomes due during its turn has another one, and never two at the same time', async () => {
  const answers: (() => void)[] = [];
  settle = (slot) => new Promise((resolve) => (settled.push(slot), answers.push(resolve)));
  turns.due(1);
  await turn();
  turns.due(1);
  turns.due(2);
  await turn();
  expect(settled).toEqual([1]);
  answers[0]!();
  await turn();
  await turn();
  expect(settled).toEqual([1, 1, 2]);
});

test('a slot that is refused keeps no other from its turn, whether at once or later', async () => {
  settle = (slot) => {
    if (slot === 1) throw new Error('at once');
    settled.push(slot);
    return slot === 2 ? Promise.reject(new Error('later')) : Promise.resolve();
  };
  for (const slot of range(1, 3)) turns.due(slot);
  await turn();
  expect([settled, refused]).toEqual([
    [2, 3],
    [new Error('at once'), new Error('later')],
  ]);
});

test('each: batches of any list, beside the slots', async () => {
  const done: string[] = [];
  const all = turns.each(range(1, 40).map(String), (item) => void done.push(item));
  turns.due(1);
  await turn();
  await turn();
  expect([done.length, settled]).toEqual([32, [1]]);
  for (let i = 0; i < 5; i++) await turn();
  await all;
  expect(done).toHaveLength(40);
});

test('stop forgets what waits, and resolves once what has its turn is settled', async () => {
  let answer = (): void => {};
  settle = (slot) => new Promise((resolve) => (settled.push(slot), (answer = resolve)));
  turns.due(1);
  await turn();
  turns.due(2);
  let stopped = false;
  void turns.stop().then(() => (stopped = true));
  await turn();
  expect(stopped).toBe(false);
  answer();
  for (let i = 0; i < 5; i++) await turn();
  expect([stopped, settled]).toEqual([true, [1]]);
  turns.due(3);
  expect(work.waits).toBe(false);
});
