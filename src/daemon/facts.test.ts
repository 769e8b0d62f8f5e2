import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { createRepeat, linkSpeed } from './facts.ts';

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

describe('LHCNP-5.3.2-a: the speed of a link', () => {
  const link = { name: 'eth2', mac: Uint8Array.of(2, 0, 0, 0, 0xab, 1) };

  /** What sysfs shows of eth2. */
  function speedOf(files: Readonly<Record<string, string>>): number | undefined {
    const sysfs = mkdtempSync(join(tmpdir(), 'cnpd-sysfs-'));
    try {
      mkdirSync(join(sysfs, 'eth2'));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(sysfs, 'eth2', name), text);
      return linkSpeed(link, sysfs);
    } finally {
      rmSync(sysfs, { recursive: true });
    }
  }

  it('is what the driver says, in Mbit/s', () => {
    expect(speedOf({ address: '02:00:00:00:ab:01\n', speed: '100000\n' })).toBe(100e9);
  });

  it.each(['-1', '0', '4294967295.5', 'unknown', ''])('is not known when the driver says %j', (speed) => {
    expect(speedOf({ address: '02:00:00:00:ab:01\n', speed: `${speed}\n` })).toBeUndefined();
  });

  it('is not taken from another interface of the same name: sysfs may show another network namespace', () => {
    expect(speedOf({ address: '02:00:00:00:ab:02\n', speed: '100000\n' })).toBeUndefined();
  });

  it('is not known when sysfs does not show the interface or its speed', () => {
    expect(linkSpeed({ ...link, name: 'eth3' }, '/nonexistent')).toBeUndefined();
    expect(speedOf({ address: '02:00:00:00:ab:01\n' })).toBeUndefined();
  });
});
