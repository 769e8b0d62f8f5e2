// What the periodic full pass of a reconciler does with kinds of objects that cannot be verified, that fail to be read,
// or that are read slowly; and what is left of timers.
import { describe, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import type { Log } from '../model/log.ts';
import { silentLog } from '../model/log.ts';
import type { Operations, DesiredIds } from './operations.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { Reconciler } from './reconciler.ts';

interface Thing {
  readonly id: string;
  readonly size: number;
}

const things = (count: number, size = 1): Thing[] => Array.from({ length: count }, (_, i) => ({ id: String(i), size }));

function world(own: Partial<Operations<Thing>> = {}, options: Partial<ReconcilerOptions<Thing>> = {}) {
  const updated: string[] = [];
  const counters = new Map<string, number>();
  const warned: object[] = [];
  const informed: object[] = [];
  const clock = manualClock();
  const work = new ManualWork();
  const log: Log = {
    ...silentLog,
    warn: (fields) => void warned.push(fields),
    info: (fields) => void informed.push(fields),
  };
  const operations: Operations<Thing> = {
    kind: 'thing',
    update: (o) => void updated.push(o.id),
    delete: () => {},
    prune: () => [],
    ...own,
  };
  const count = (name: string, by = 1): void => void counters.set(name, (counters.get(name) ?? 0) + by);
  const reconciler = new Reconciler(operations, { clock, work, log, count }, { retryMs: [100, 1000], ...options });
  return { updated, counters, warned, informed, clock, work, reconciler };
}

describe('a full pass', () => {
  test('runs every minute by default, repeatedly', () => {
    const { clock, work, reconciler, updated } = world();
    const advance = (ms: number): void => (clock.advance(ms), work.settle());
    reconciler.replace(things(1));
    reconciler.replace(things(1));
    advance(59_999);
    expect(updated).toEqual(['0']);
    advance(1);
    expect(updated).toEqual(['0', '0']);
    advance(60_000);
    expect(updated).toEqual(['0', '0', '0']);
  });

  test('that is due begins in a later turn, since those of all tables are due together; 25 objects are one step', () => {
    const verified: string[] = [];
    const { clock, work, reconciler } = world({ verify: ({ id }) => verified.push(id) > 0 });
    reconciler.replace(things(1000));
    clock.advance(60_000);
    expect(verified).toEqual([]);
    // The budget of a turn, two milliseconds, is two steps of the manual clock.
    const perTurn: number[] = [];
    for (let before = 0; work.waits; before = verified.length) {
      work.turn();
      perTurn.push(verified.length - before);
    }
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(50);
    expect(verified).toEqual(things(1000).map(({ id }) => id));
  });

  test('updates every object of a kind without verification, and counts no fault', () => {
    const { reconciler, updated, counters, informed } = world();
    reconciler.replace(things(3));
    reconciler.fullPass();
    expect(updated).toEqual(['0', '1', '2', '0', '1', '2']);
    expect({ counters: [...counters], informed }).toEqual({ counters: [], informed: [] });
  });

  test('does not touch objects that verify', () => {
    const { reconciler, updated, counters } = world({ verify: () => true });
    reconciler.replace(things(3));
    reconciler.fullPass();
    expect({ updated, counters: [...counters] }).toEqual({ updated: ['0', '1', '2'], counters: [] });
  });

  test('counts and reports a verification that throws, and updates the object', () => {
    const { reconciler, updated, counters, warned } = world({
      verify: ({ id }) => {
        if (id === '1') throw new Error('EIO');
        return true;
      },
    });
    reconciler.replace(things(3));
    reconciler.fullPass();
    expect(updated).toEqual(['0', '1', '2', '1']);
    expect(counters).toEqual(
      new Map([
        ['reconcile.thing.failed', 1],
        ['reconcile.thing.out-of-sync', 1],
      ]),
    );
    expect(warned).toEqual([{ kind: 'thing', id: '1', error: 'EIO' }]);
  });

  test('whose pruning fails midway reports what it removed, and still verifies the objects', () => {
    const { reconciler, updated, counters, warned, informed } = world({
      *prune() {
        yield true;
        yield false;
        yield true;
        throw new Error('EPERM');
      },
    });
    reconciler.replace(things(2));
    reconciler.fullPass();
    expect(updated).toEqual(['0', '1', '0', '1']);
    expect(counters).toEqual(
      new Map([
        ['reconcile.thing.failed', 1],
        ['reconcile.thing.pruned', 2],
      ]),
    );
    expect({ warned, informed }).toEqual({
      warned: [{ kind: 'thing', id: 'prune', error: 'EPERM' }],
      informed: [{ kind: 'thing', pruned: 2 }],
    });
  });

  test('prunes against the ids desired at that moment, without deleted or refused deletes', () => {
    const desired: string[][] = [];
    let busy = false;
    const { reconciler } = world({
      delete: () => {
        if (busy) throw new Error('EBUSY');
      },
      prune: (now: DesiredIds) => (
        desired.push(
          [...now.keys()],
          things(4)
            .map(({ id }) => id)
            .filter((id) => now.has(id)),
        ),
        []
      ),
    });
    reconciler.replace(things(3));
    busy = true;
    reconciler.change([], ['1']);
    reconciler.fullPass();
    expect(desired).toEqual([
      ['0', '2'],
      ['0', '2'],
    ]);
    expect(reconciler.status().map(({ id, state }) => [id, state])).toEqual([
      ['0', 'done'],
      ['1', 'failed'],
      ['2', 'done'],
    ]);
  });

  test('does not retry a refused delete, which has its own back-off', () => {
    let deletes = 0;
    const { clock, reconciler } = world({
      delete: () => {
        deletes++;
        throw new Error('EBUSY');
      },
      verify: () => true,
    });
    reconciler.replace(things(1));
    reconciler.replace([]);
    reconciler.fullPass();
    expect(deletes).toBe(1);
    clock.advance(100);
    expect(deletes).toBe(2);
  });

  test('verifies a large table in slices, and supersedes the pass before it', () => {
    let [read, ended] = [0, 0];
    const { work, reconciler } = world({
      *prune() {
        try {
          for (let i = 0; i < 1200; i++, read++) yield false;
        } finally {
          ended++;
        }
      },
    });
    reconciler.fullPass();
    const first = read;
    expect(ended).toBe(0);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(1200);
    reconciler.fullPass();
    expect({ read, ended }).toEqual({ read: 2 * first, ended: 1 });
    work.settle();
    expect({ read, ended }).toEqual({ read: first + 1200, ended: 2 });
    work.settle();
    expect(read).toBe(first + 1200);
  });
});

describe('after close', () => {
  test('no full pass starts, continues or is scheduled', () => {
    let read = 0;
    const { clock, reconciler, updated } = world({
      *prune() {
        for (let i = 0; i < 2000; i++, read++) yield false;
      },
    });
    reconciler.replace(things(1));
    reconciler.fullPass();
    const before = read;
    reconciler.close();
    reconciler.fullPass();
    clock.advance(600_000);
    expect({ read, updated }).toEqual({ read: before, updated: ['0'] });
  });

  test.each([
    ['what was refused', 0],
    ['what is refused at the close', 3],
  ])('%s is not tried again', (_, refusedFrom) => {
    let tries = 0;
    const { clock, work, reconciler } = world(
      {
        update: ({ id }) => {
          tries++;
          if (Number(id) >= refusedFrom) throw new Error('EBUSY');
        },
      },
      { atOnce: 2 },
    );
    reconciler.replace(things(4));
    const before = tries;
    expect(before).toBeLessThan(4);
    reconciler.close();
    expect(tries).toBe(4);
    clock.advance(600_000);
    work.settle();
    expect(tries).toBe(4);
  });
});

describe('retries', () => {
  test('retries due at the same time run together, and a later refusal does not postpone an earlier retry', () => {
    const tries: string[] = [];
    const { clock, reconciler } = world({
      update: ({ id }) => {
        tries.push(`${clock.now()} ${id}`);
        throw new Error('EBUSY');
      },
    });
    reconciler.change([{ id: 'a', size: 1 }], []);
    clock.advance(60);
    reconciler.change([{ id: 'b', size: 1 }], []);
    clock.advance(40);
    expect(tries).toEqual(['0 a', '60 b', '100 a', '100 b']);
  });

  test('an object that changes while it waits is tried once with its new value, and its back-off starts again', () => {
    const tries: string[] = [];
    const { clock, reconciler } = world({
      update: ({ size }) => {
        tries.push(`${clock.now()} ${size}`);
        throw new Error('EBUSY');
      },
    });
    reconciler.change([{ id: 'a', size: 1 }], []);
    clock.advance(100);
    clock.advance(200);
    expect(reconciler.status()).toEqual([{ id: 'a', state: 'failed', attempts: 3, error: 'EBUSY' }]);
    reconciler.change([{ id: 'a', size: 2 }], []);
    expect(reconciler.status()).toEqual([{ id: 'a', state: 'failed', attempts: 1, error: 'EBUSY' }]);
    clock.advance(100);
    expect(tries).toEqual(['0 1', '100 1', '300 1', '300 2', '400 2']);
  });

  test('an object that was refused often waits for its own back-off while others are updated', () => {
    let tries = 0;
    const { clock, reconciler } = world({
      update: ({ id }) => {
        if (id === 'bad') {
          tries++;
          throw new Error('EBUSY');
        }
      },
    });
    reconciler.change([{ id: 'bad', size: 1 }], []);
    clock.advance(300);
    expect(tries).toBe(3);
    reconciler.change([{ id: 'good', size: 1 }], []);
    clock.advance(399);
    expect(tries).toBe(3);
    clock.advance(1);
    expect(tries).toBe(4);
  });

  test('an object that was accepted with another value is not retried, and is verified again', () => {
    let present = true;
    const { clock, reconciler, updated } = world({
      update: ({ id, size }) => {
        updated.push(`${id} ${size}`);
        if (size === 1) throw new Error('EBUSY');
      },
      verify: () => present,
    });
    reconciler.change([{ id: 'a', size: 1 }], []);
    reconciler.change([{ id: 'a', size: 2 }], []);
    clock.advance(50_000);
    expect(updated).toEqual(['a 1', 'a 2']);
    present = false;
    reconciler.fullPass();
    expect(updated).toEqual(['a 1', 'a 2', 'a 2']);
  });

  test('an object that was accepted at a retry is verified again', () => {
    let [busy, present] = [true, true];
    const { clock, reconciler, updated } = world({
      update: ({ id }) => {
        if (busy) throw new Error('EBUSY');
        updated.push(id);
      },
      verify: () => present,
    });
    reconciler.change([{ id: 'a', size: 1 }], []);
    busy = false;
    clock.advance(100);
    present = false;
    reconciler.fullPass();
    expect(updated).toEqual(['a', 'a']);
  });

  test('a thrown value that is not an Error is reported too', () => {
    const { reconciler } = world({
      update: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- that is the case
        throw 'ENOSPC';
      },
    });
    reconciler.change(things(1), []);
    expect(reconciler.status()[0]!.error).toBe('ENOSPC');
  });

  test('without a refusal there is no retry, and success ends the retries', () => {
    let busy = true;
    const { clock, reconciler, updated } = world({
      update: ({ id }) => {
        updated.push(id);
        if (busy && id === 'b') throw new Error('EBUSY');
      },
      verify: () => true,
    });
    reconciler.change(
      [
        { id: 'a', size: 1 },
        { id: 'b', size: 1 },
      ],
      [],
    );
    busy = false;
    clock.advance(50_000);
    expect(updated).toEqual(['a', 'b', 'b']);
    expect(reconciler.status()).toEqual([
      { id: 'a', state: 'done', attempts: 0 },
      { id: 'b', state: 'done', attempts: 0 },
    ]);
  });
});

describe('changes', () => {
  test('of objects that are equal by the caller’s comparison are skipped', () => {
    const { reconciler, updated } = world({}, { same: (a, b) => Math.sign(a.size) === Math.sign(b.size) });
    reconciler.change([{ id: 'a', size: 1 }], []);
    reconciler.change([{ id: 'a', size: 7 }], []);
    expect(updated).toEqual(['a']);
    reconciler.change([{ id: 'a', size: -7 }], []);
    expect(updated).toEqual(['a', 'a']);
  });

  test('an object that is deleted and comes back unchanged is updated again; an unknown id is not deleted', () => {
    const deleted: string[] = [];
    const { reconciler, updated } = world({ delete: (id) => void deleted.push(id) });
    reconciler.change([{ id: 'a', size: 1 }], []);
    reconciler.change([], ['a']);
    reconciler.change([{ id: 'a', size: 1 }], ['never-there']);
    expect({ updated, deleted, status: reconciler.status() }).toEqual({
      updated: ['a', 'a'],
      deleted: ['a'],
      status: [{ id: 'a', state: 'done', attempts: 0 }],
    });
  });

  test('of the same object end with the last one, applied once', () => {
    const deleted: string[] = [];
    const { reconciler, updated } = world({ delete: (id) => void deleted.push(id) });
    reconciler.change(
      [
        { id: 'a', size: 1 },
        { id: 'b', size: 1 },
        { id: 'b', size: 2 },
      ],
      ['a'],
    );
    expect({ updated, deleted }).toEqual({ updated: ['b'], deleted: ['a'] });
  });

  test('per turn are limited by the caller, deletes and updates alike', () => {
    const deleted: string[] = [];
    const { work, reconciler, updated } = world({ delete: (id) => void deleted.push(id) }, { atOnce: 4 });
    reconciler.replace(things(4));
    expect(updated).toHaveLength(4);
    work.settle();
    reconciler.change(
      [{ id: 'new', size: 1 }],
      things(4).map(({ id }) => id),
    );
    expect({ updatedLength: updated.length, deleted }).toEqual({ updatedLength: 5, deleted: ['0', '1', '2'] });
    work.turn();
    expect(deleted).toEqual(['0', '1', '2', '3']);
  });
});
