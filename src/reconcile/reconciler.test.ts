import { describe, expect, it } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { type Operations, Reconciler } from './reconciler.ts';

interface Thing {
  readonly id: string;
  readonly size: bigint;
}

function world(refuse: (id: string) => boolean = () => false, together = false) {
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
    prune: (wanted) => {
      const strays = [...kernel.keys()].filter((id) => !wanted.has(id));
      strays.forEach((id) => kernel.delete(id));
      return strays.length;
    },
    verify: (o) => kernel.get(o.id) === o.size,
  };
  const clock = manualClock();
  const counters = new Map<string, number>();
  const count = (name: string, by = 1): void => void counters.set(name, (counters.get(name) ?? 0) + by);
  const reconciler = new Reconciler(operations, { clock, log: silentLog, count }, { retryMs: [100, 1000], fullPassMs: 60_000 });
  return { kernel, calls, clock, counters, reconciler };
}

describe('reconciler', () => {
  it('touches only what changed', () => {
    const { reconciler, calls, kernel } = world();
    reconciler.replace([{ id: 'a', size: 1n }, { id: 'b', size: 1n }]);
    calls.length = 0;
    reconciler.replace([{ id: 'a', size: 1n }, { id: 'b', size: 2n }]);
    expect(calls).toEqual(['update b']);
    reconciler.replace([{ id: 'b', size: 2n }]);
    expect([...kernel]).toEqual([['b', 2n]]);
    expect(reconciler.status()).toEqual([{ id: 'b', state: 'done', attempts: 0 }]);
  });

  it('what was refused waits for its next try, however much else changes or is refused meanwhile', () => {
    const { reconciler, clock, calls, counters } = world((id) => id.startsWith('bad'));
    const tries = (id: string): number => calls.filter((c) => c === `update ${id}`).length;
    reconciler.change([{ id: 'bad', size: 1n }], []);
    for (let i = 0; i < 50; i++) reconciler.change([{ id: `good${i}`, size: 1n }], []);
    clock.advance(90);
    reconciler.change([{ id: 'bad2', size: 1n }], []);
    reconciler.fullPass();
    expect([tries('bad'), tries('bad2')]).toEqual([1, 1]);
    expect(counters.get('reconcile.thing.out-of-sync')).toBeUndefined();
    clock.advance(10);
    expect(tries('bad')).toBe(2);
    reconciler.change([{ id: 'bad', size: 2n }], ['bad2']);
    expect(tries('bad')).toBe(3);
  });

  it('keeps trying what the kernel refused, with growing pauses, and says why meanwhile', () => {
    let busy = true;
    const { reconciler, clock, kernel, calls } = world((id) => busy && id === 'a');
    reconciler.replace([{ id: 'a', size: 1n }, { id: 'b', size: 1n }]);
    expect(reconciler.status()[0]).toEqual({ id: 'a', state: 'failed', attempts: 1, error: 'EBUSY: not now' });
    expect([...kernel.keys()]).toEqual(['b']);
    clock.advance(100);
    clock.advance(199);
    expect(calls.filter((c) => c === 'update a')).toHaveLength(2);
    busy = false;
    clock.advance(1);
    expect(kernel.get('a')).toBe(1n);
    expect(reconciler.status().every((s) => s.state === 'done')).toBe(true);
  });

  it('retries a refused delete and forgets the object afterwards', () => {
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

  it('a full pass puts back what was taken away and prunes strays, and counts both', () => {
    const { reconciler, clock, kernel, counters } = world();
    reconciler.replace([{ id: 'a', size: 1n }]);
    kernel.delete('a');
    kernel.set('stray', 9n);
    clock.advance(60_000);
    expect([...kernel]).toEqual([['a', 1n]]);
    expect(counters.get('reconcile.thing.out-of-sync')).toBe(1);
    expect(counters.get('reconcile.thing.pruned')).toBe(1);
  });

  it('leaves the kernel as it is when closed', () => {
    const { reconciler, clock, kernel } = world();
    reconciler.replace([{ id: 'a', size: 1n }]);
    reconciler.close();
    kernel.set('stray', 9n);
    clock.advance(600_000);
    expect([...kernel.keys()]).toEqual(['a', 'stray']);
  });

  it('updates together what the kernel takes together, before it deletes', () => {
    const { reconciler, calls, kernel } = world(() => false, true);
    reconciler.change([{ id: 'a', size: 1n }, { id: 'b', size: 1n }], []);
    expect(calls).toEqual(['together a b']);
    reconciler.change([{ id: 'c', size: 1n }, { id: 'd', size: 1n }], ['a']);
    expect(calls.slice(1)).toEqual(['together c d', 'delete a']);
    reconciler.replace([{ id: 'c', size: 2n }, { id: 'd', size: 2n }]);
    expect(calls.slice(3)).toEqual(['delete b', 'together c d']);
    expect([...kernel]).toEqual([['c', 2n], ['d', 2n]]);
  });

  it('tries each by itself when the kernel does not take all together: one refusal is one object’s', () => {
    const { reconciler, kernel, counters } = world((id) => id === 'b', true);
    reconciler.replace(['a', 'b', 'c'].map((id) => ({ id, size: 1n })));
    expect([...kernel.keys()]).toEqual(['a', 'c']);
    expect(reconciler.status().map((s) => s.state)).toEqual(['done', 'failed', 'done']);
    expect(counters.get('reconcile.thing.failed')).toBe(1);
  });
});
