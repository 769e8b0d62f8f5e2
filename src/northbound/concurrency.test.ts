import { describe, expect, test } from 'vitest';
import { limitConcurrency } from './concurrency.ts';

describe('a limit on what runs at once', () => {
  test('so many at once, the others in order, the surplus refused, and a failure lets the next begin', async () => {
    const limited = limitConcurrency(2, 2);
    const running: number[] = [];
    const ends: (() => void)[] = [];
    const task = (n: number) =>
      limited(
        () => (
          running.push(n),
          new Promise<number>(
            (resolve, reject) => (ends[n] = () => (n === 0 ? reject(new Error('0 failed')) : resolve(n))),
          )
        ),
      );
    const results = [0, 1, 2, 3].map(task);
    await expect(task(4)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(running).toEqual([0, 1]);
    ends[0]!();
    await expect(results[0]).rejects.toThrow('0 failed');
    expect(running).toEqual([0, 1, 2]);
    ends[1]!();
    ends[2]!();
    await Promise.all([results[1], results[2]]);
    expect(running).toEqual([0, 1, 2, 3]);
    ends[3]!();
    expect(await results[3]).toBe(3);
    const next = task(5);
    ends[5]!();
    expect(await next).toBe(5);
  });
});
