import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { eventLoopWork } from '../model/work.ts';
import { until } from '../../test/support/until.ts';
import { Paced } from './paced.ts';

const clock = manualClock();
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const turns = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await turn();
};

test('the next one waits for as long as the last one took, also when that has failed', async () => {
  const paced = new Paced(clock, eventLoopWork());
  const done: string[] = [];
  const taking = (name: string, ms: number) =>
    paced.run(async (timed) => {
      // Behind a reload: that is not its own time.
      clock.advance(5000);
      return timed(async () => {
        clock.advance(ms);
        done.push(name);
        if (name === 'b') throw new Error('b');
        return name;
      });
    });
  const [a, b, c] = [taking('a', 500), taking('b', 300), taking('c', 0)];
  expect(await a).toBe('a');
  await turns();
  clock.advance(499);
  await turns();
  expect(done).toEqual(['a']);
  clock.advance(1);
  await expect(b).rejects.toThrow('b');
  clock.advance(299);
  await turns();
  expect(done).toEqual(['a', 'b']);
  clock.advance(1);
  expect(await c).toBe('c');
});

test('each has a turn of the event loop of its own', async () => {
  const paced = new Paced(clock, eventLoopWork());
  let passed = 0;
  const at: number[] = [];
  const ticking = async (): Promise<void> => {
    for (; at.length < 3; passed++) await turn();
  };
  void ticking();
  for (let i = 0; i < 3; i++) void paced.run(async () => void at.push(passed));
  await until('all have run', () => at.length === 3);
  expect(new Set(at).size).toBe(3);
});
