import { describe, expect, it } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { createRepeat } from './facts.ts';

function world() {
  const clock = manualClock();
  const counted: string[] = [];
  const calls: { done: () => void; failed: (error: Error) => void }[] = [];
  const onChange = (): Promise<void> => new Promise((done, failed) => calls.push({ done, failed }));
  const repeat = createRepeat({ clock, log: silentLog, count: (name) => counted.push(name), onChange });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { clock, calls, counted, repeat, settled };
}

describe('taking in changes of the kernel', () => {
  it('a burst is one reading', () => {
    const { clock, calls, repeat } = world();
    for (let i = 0; i < 100; i++) repeat.again();
    clock.advance(49);
    expect(calls).toHaveLength(0);
    clock.advance(1000);
    expect(calls).toHaveLength(1);
  });

  it('what changes during a reading is one more, after it', async () => {
    const { clock, calls, repeat, settled } = world();
    repeat.again();
    clock.advance(50);
    for (let i = 0; i < 100; i++) repeat.again();
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

  it('a reading that fails is counted and repeated', async () => {
    const { clock, calls, counted, repeat, settled } = world();
    repeat.again();
    clock.advance(50);
    calls[0]!.failed(new Error('ENOBUFS'));
    await settled();
    expect(counted).toEqual(['kernel.facts.not-taken-in']);
    clock.advance(1000);
    expect(calls).toHaveLength(2);
  });

  it('nothing is read after the end', async () => {
    const { clock, calls, repeat, settled } = world();
    repeat.again();
    clock.advance(50);
    repeat.close();
    calls[0]!.failed(new Error('EBADF'));
    await settled();
    clock.advance(10_000);
    expect(calls).toHaveLength(1);
  });
});
