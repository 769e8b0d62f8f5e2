import { describe, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { Replanning } from './replanning.ts';

function world() {
  const clock = manualClock();
  const counted: string[] = [];
  const calls: { done: () => void; failed: (error: Error) => void }[] = [];
  const replan = (): Promise<void> => new Promise((done, failed) => calls.push({ done, failed }));
  const replanning = new Replanning({ clock, log: silentLog, count: (name) => counted.push(name), replan });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { clock, calls, counted, replanning, settled };
}

describe('when a plan is due', () => {
  test('a change after a quiet time is planned soon, with all that comes with it', () => {
    const { clock, calls, replanning } = world();
    for (let i = 0; i < 100; i++) replanning.due();
    clock.advance(9);
    expect(calls).toHaveLength(0);
    clock.advance(1);
    expect(calls).toHaveLength(1);
    clock.advance(1000);
    expect(calls).toHaveLength(1);
  });

  test('the rest of a burst costs one plan more', async () => {
    const { clock, calls, replanning, settled } = world();
    replanning.due();
    clock.advance(10);
    calls[0]!.done();
    await settled();
    for (let i = 0; i < 100; i++) replanning.due();
    clock.advance(49);
    expect(calls).toHaveLength(1);
    clock.advance(1000);
    expect(calls).toHaveLength(2);
  });

  test('changes during a plan cost one more after it', async () => {
    const { clock, calls, replanning, settled } = world();
    replanning.due();
    clock.advance(50);
    for (let i = 0; i < 100; i++) replanning.due();
    clock.advance(1000);
    expect(calls).toHaveLength(1);
    calls[0]!.done();
    await settled();
    clock.advance(50);
    expect(calls).toHaveLength(2);
    calls[1]!.done();
    await settled();
    clock.advance(10_000);
    expect(calls).toHaveLength(2);
  });

  test('a few plans follow each other at once; in a storm there are four a second, and none is delayed after it', async () => {
    const { clock, calls, replanning, settled } = world();
    /** One change a millisecond; each plan is done at once. @returns how many plans there were */
    const storm = async (ms: number): Promise<number> => {
      const before = calls.length;
      for (let i = 0; i < ms; i++) {
        replanning.due();
        clock.advance(1);
        calls.at(-1)?.done();
        await settled();
      }
      return calls.length - before;
    };
    expect([await storm(250), await storm(2000), await storm(4000)]).toEqual([4, 8, 16]);
    clock.advance(10_000);
    expect(await storm(51)).toBe(1);
  });

  test.each([
    ['of 1 s have a third of the time after the first three', 1000, 30_000, 3 + 10],
    ['of 20 s follow each other: everything else has had 5 s', 20_000, 100_000, 5],
  ])('in a storm, plans %s', async (_, tookMs, stormMs, plans) => {
    const { clock, calls, replanning, settled } = world();
    let ends = Infinity;
    for (let i = 0; i < stormMs / 10; i++) {
      replanning.due();
      const before = calls.length;
      clock.advance(10);
      if (calls.length > before) ends = i * 10 + tookMs;
      if (i * 10 < ends) continue;
      ends = Infinity;
      calls.at(-1)!.done();
      await settled();
    }
    expect(calls).toHaveLength(plans);
  });

  test('a plan that fails is counted and repeated', async () => {
    const { clock, calls, counted, replanning, settled } = world();
    replanning.due();
    clock.advance(50);
    calls[0]!.failed(new Error('ENOBUFS'));
    await settled();
    expect(counted).toEqual(['kernel.facts.not-taken-in']);
    clock.advance(1000);
    expect(calls).toHaveLength(2);
  });

  test('nothing is planned after close', async () => {
    const { clock, calls, replanning, settled } = world();
    replanning.due();
    clock.advance(50);
    replanning.close();
    calls[0]!.failed(new Error('EBADF'));
    await settled();
    clock.advance(10_000);
    expect(calls).toHaveLength(1);
  });
});
