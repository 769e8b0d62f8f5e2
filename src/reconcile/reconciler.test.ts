import { describe, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { silentLog } from '../model/log.ts';
import type { Operations } from './operations.ts';
import { Reconciler } from './reconciler.ts';

interface Thing {
  readonly id: string;
  readonly size: bigint;
}

function world(refuse: (id: string) => boolean = () => false, together = false, atOnce?: number) {
  const kernel = new Map<string, bigint>();
  const calls: string[] = [];
  const operations: Operations<Thing> = {
    kind: 'thing',
    update: (o) => {
      calls.push(`update ${o.id}`);
      if (refuse(o.id)) throw new Error('EBUSY: not now');
      kernel.set(o.id, o.size);
    },
    ...(together && {
      updateMany: (objects) => {
        calls.push(`together ${objects.map((o) => o.id).join(' ')}`);
        for (const o of objects) {
          if (refuse(o.id)) throw new Error('EBUSY: not now');
          kernel.set(o.id, o.size);
        }
      },
    }),
    delete: (id) => {
      calls.push(`delete ${id}`);
      if (refuse(id)) throw new Error('EBUSY: not now');
      kernel.delete(id);
    },
    *prune(desired) {
      for (const id of [...kernel.keys()]) yield !desired.has(id) && kernel.delete(id);
    },
    verify: (o) => kernel.get(o.id) === o.size,
  };
  const clock = manualClock();
  const work = new ManualWork();
  const counters = new Map<string, number>();
  const count = (name: string, by = 1): void => void counters.set(name, (counters.get(name) ?? 0) + by);
  const reconciler = new Reconciler(
    operations,
    { clock, work, log: silentLog, count },
    { retryMs: [100, 1000], fullPassMs: 60_000, ...(atOnce && { atOnce }) },
  );
  return { kernel, calls, clock, work, counters, reconciler };
}

describe('reconciler', () => {
  test('touches only changed objects', () => {
    const { reconciler, calls, kernel } = world();
    reconciler.replace([
      { id: 'a', size: 1n },
      { id: 'b', size: 1n },
    ]);
    calls.length = 0;
    reconciler.replace([
      { id: 'a', size: 1n },
      { id: 'b', size: 2n },
    ]);
    expect(calls).toEqual(['update b']);
    reconciler.replace([{ id: 'b', size: 2n }]);
    expect([...kernel]).toEqual([['b', 2n]]);
    expect(reconciler.status()).toEqual([{ id: 'b', state: 'done', attempts: 0 }]);
  });

  test('a refused object waits for its retry, whatever else changes or is refused meanwhile', () => {
    const { reconciler, clock, calls, counters } = world((id) => id.startsWith('bad'));
    const tries = (id: string): number => calls.filter((c) => c === `update ${id}`).length;
    reconciler.change([{ id: 'bad', size: 1n }], []);
    for (let i = 0; i < 50; i++) reconciler.change([{ id: `good${i}`, size: 1n }], []);
    clock.advance(90);
    reconciler.change([{ id: 'bad2', size: 1n }], []);
    reconciler.fullPass();
    expect({ bad: tries('bad'), bad2: tries('bad2') }).toEqual({ bad: 1, bad2: 1 });
    expect(counters.get('reconcile.thing.out-of-sync')).toBeUndefined();
    clock.advance(10);
    expect(tries('bad')).toBe(2);
    reconciler.change([{ id: 'bad', size: 2n }], ['bad2']);
    expect(tries('bad')).toBe(3);
  });

  test('retries refused objects with growing pauses, and reports the reason meanwhile', () => {
    let busy = true;
    const { reconciler, clock, kernel, calls } = world((id) => busy && id === 'a');
    reconciler.replace([
      { id: 'a', size: 1n },
      { id: 'b', size: 1n },
    ]);
    expect(reconciler.status()[0]).toEqual({ id: 'a', state: 'failed', attempts: 1, error: 'EBUSY: not now' });
    expect([...kernel.keys()]).toEqual(['b']);
    clock.advance(100);
    clock.advance(199);
    expect(calls.filter((c) => c === 'update a')).toHaveLength(2);
    busy = false;
    clock.advance(1);
    expect(kernel.get('a')).toBe(1n);
    expect(reconciler.status().filter((s) => s.state !== 'done')).toEqual([]);
  });

  test('the pause between retries doubles up to its maximum', () => {
    const { reconciler, clock, calls } = world((id) => id === 'a');
    reconciler.replace([{ id: 'a', size: 1n }]);
    const pauses: number[] = [];
    for (let since = clock.now(); pauses.length < 7; clock.advance(1)) {
      if (calls.length < pauses.length + 2) continue;
      pauses.push(clock.now() - since);
      since = clock.now();
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
  });

  test('a new replace retries refused objects at once, even if unchanged; accepted ones are not touched', () => {
    let busy = true;
    const { reconciler, kernel, calls } = world((id) => busy && id === 'a');
    const desired = [
      { id: 'a', size: 1n },
      { id: 'b', size: 1n },
    ];
    reconciler.replace(desired);
    busy = false;
    calls.length = 0;
    reconciler.replace(desired);
    expect(calls).toEqual(['update a']);
    expect(kernel.get('a')).toBe(1n);
    expect(reconciler.status()[0]).toEqual({ id: 'a', state: 'done', attempts: 0 });
  });

  test('retries a refused delete and forgets the object afterwards', () => {
    let busy = false;
    const { reconciler, clock, kernel } = world(() => busy);
    reconciler.replace([{ id: 'a', size: 1n }]);
    busy = true;
    reconciler.replace([]);
    expect(kernel.has('a')).toBe(true);
    busy = false;
    clock.advance(100);
    expect(kernel.has('a')).toBe(false);
    expect(reconciler.status()).toEqual([]);
  });

  test('a full pass restores removed objects and prunes strays, and counts both', () => {
    const { reconciler, clock, work, kernel, counters } = world();
    reconciler.replace([{ id: 'a', size: 1n }]);
    kernel.delete('a');
    kernel.set('stray', 9n);
    clock.advance(60_000);
    work.settle();
    expect([...kernel]).toEqual([['a', 1n]]);
    expect(counters.get('reconcile.thing.out-of-sync')).toBe(1);
    expect(counters.get('reconcile.thing.pruned')).toBe(1);
  });

  test('close leaves the kernel unchanged', () => {
    const { reconciler, clock, kernel } = world();
    reconciler.replace([{ id: 'a', size: 1n }]);
    reconciler.close();
    kernel.set('stray', 9n);
    clock.advance(600_000);
    expect([...kernel.keys()]).toEqual(['a', 'stray']);
  });

  test('updates in batches if the kernel supports them, before it deletes', () => {
    const { reconciler, calls, kernel } = world(() => false, true);
    reconciler.change(
      [
        { id: 'a', size: 1n },
        { id: 'b', size: 1n },
      ],
      [],
    );
    expect(calls).toEqual(['together a b']);
    reconciler.change(
      [
        { id: 'c', size: 1n },
        { id: 'd', size: 1n },
      ],
      ['a'],
    );
    expect(calls.slice(1)).toEqual(['together c d', 'delete a']);
    reconciler.replace([
      { id: 'c', size: 2n },
      { id: 'd', size: 2n },
    ]);
    expect(calls.slice(3)).toEqual(['delete b', 'together c d']);
    expect([...kernel]).toEqual([
      ['c', 2n],
      ['d', 2n],
    ]);
    reconciler.change([{ id: 'e', size: 1n }], []);
    expect(calls.slice(5)).toEqual(['update e']);
  });

  test('tries each object alone when the kernel refuses a batch, so one refusal concerns one object', () => {
    const { reconciler, kernel, counters, calls } = world((id) => id === 'b', true);
    reconciler.replace(['a', 'b', 'c'].map((id) => ({ id, size: 1n })));
    expect({ kernel: [...kernel.keys()], calls }).toEqual({
      kernel: ['a', 'c'],
      calls: ['together a b c', 'update a', 'update b', 'update c'],
    });
    expect(reconciler.status().map((s) => s.state)).toEqual(['done', 'failed', 'done']);
    expect(counters.get('reconcile.thing.failed')).toBe(1);
  });
});

describe('a large table', () => {
  const things = (from: number, to: number, size = 1n): Thing[] =>
    Array.from({ length: to - from }, (_, i) => ({ id: String(from + i), size }));
  const large = (refuse?: (id: string) => boolean) => world(refuse, true, 10);

  test('is replaced in slices, the first at once: deletes before updates, each in order', () => {
    const { reconciler, work, kernel, calls } = large();
    reconciler.change(things(0, 10), []);
    work.settle();
    calls.length = 0;
    reconciler.replace(things(5, 35));
    expect(calls.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((id) => `delete ${id}`));
    expect(kernel.size).toBeLessThan(30);
    work.settle();
    expect([...kernel.keys()]).toEqual(things(5, 35).map((t) => t.id));
    const together = calls.slice(5).map((c) => c.split(' ').slice(1));
    expect(together.flat()).toEqual(things(10, 35).map((t) => t.id));
    expect(Math.max(...together.map((ids) => ids.length))).toBeLessThanOrEqual(10);
  });

  test('is emptied in slices of the allowed size', () => {
    const { reconciler, work, kernel } = large();
    reconciler.change(things(0, 10), []);
    reconciler.change(things(10, 20), []);
    work.settle();
    reconciler.replace([]);
    expect(kernel.size).toBe(10);
    work.settle();
    expect(kernel.size).toBe(0);
  });

  test('applies changes made meanwhile after earlier requests', () => {
    const { reconciler, work, kernel } = large();
    reconciler.replace(things(0, 30));
    expect(kernel.size).toBeLessThanOrEqual(10);
    reconciler.change(
      [
        { id: '29', size: 2n },
        { id: 'new', size: 2n },
      ],
      ['28'],
    );
    reconciler.change([], ['new']);
    expect(kernel.size).toBeLessThanOrEqual(10);
    work.settle();
    expect([kernel.size, kernel.get('29'), kernel.has('28'), kernel.has('new')]).toEqual([29, 2n, false, false]);
  });

  test('that is replaced again before it was complete ends as last requested', () => {
    const { reconciler, work, kernel, calls } = large((id) => id === '3');
    reconciler.replace(things(0, 30));
    reconciler.replace(things(3, 8, 2n));
    work.settle();
    expect([...kernel]).toEqual([4, 5, 6, 7].map((id) => [String(id), 2n]));
    expect(calls).not.toContain('29');
    expect(reconciler.status().map((s) => [s.id, s.state])).toEqual([
      ['3', 'failed'],
      ['4', 'done'],
      ['5', 'done'],
      ['6', 'done'],
      ['7', 'done'],
    ]);
  });

  test('is pruned only after every desired object was tried: entries of an earlier run stay until then', () => {
    const { reconciler, work, kernel, counters } = large();
    for (const { id } of things(0, 40)) kernel.set(id, 1n);
    reconciler.replace(things(0, 30));
    reconciler.fullPass();
    expect(kernel.size).toBe(40);
    work.settle();
    expect(kernel.size).toBe(30);
    expect(counters.get('reconcile.thing.pruned')).toBe(10);
  });

  test('is pruned in slices against the objects desired at that moment', () => {
    const { reconciler, work, kernel, counters } = world();
    for (const { id } of things(0, 2000)) kernel.set(id, 1n);
    reconciler.fullPass();
    expect(kernel.size).toBeGreaterThan(1000);
    reconciler.change([{ id: '1999', size: 5n }], []);
    work.settle();
    expect([...kernel]).toEqual([['1999', 5n]]);
    expect(counters.get('reconcile.thing.pruned')).toBe(1999);
  });

  test('restarts a full pass from the beginning if another is requested', () => {
    const { reconciler, work, kernel } = world();
    reconciler.replace(things(0, 2000));
    reconciler.fullPass();
    kernel.delete('0');
    kernel.set('stray', 1n);
    reconciler.fullPass();
    work.settle();
    expect({ kernelSize: kernel.size, hasN0: kernel.has('0') }).toEqual({ kernelSize: 2000, hasN0: true });
  });

  test('that the kernel refuses completely is retried in slices, and recovers', () => {
    let busy = true;
    const { reconciler, clock, work, kernel, calls } = large(() => busy);
    reconciler.replace(things(0, 30));
    work.settle();
    expect(reconciler.status().filter((s) => s.state === 'failed')).toHaveLength(30);
    busy = false;
    calls.length = 0;
    clock.advance(2000);
    work.settle();
    expect(kernel.size).toBe(30);
    expect(Math.max(...calls.map((c) => c.split(' ').length - 1))).toBeLessThanOrEqual(10);
  });

  test('is completed when it is closed midway', () => {
    const { reconciler, clock, work, kernel } = large();
    reconciler.replace(things(0, 30));
    reconciler.close();
    expect(kernel.size).toBe(30);
    clock.advance(600_000);
    work.settle();
    expect(kernel.size).toBe(30);
  });
});
