// What the dataplane does with many attachments: some within the call, the rest one a step; and none is left behind.
import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { Reconciler } from './reconciler.ts';

const things = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ id: `${from + i}` }));

function world(refuses: (id: string) => boolean = () => false) {
  const kernel = new Set<string>();
  let inTurn = 0;
  const work = new ManualWork();
  const reconciler = new Reconciler<{ readonly id: string }>(
    {
      kind: 'attachment',
      update: ({ id }) => {
        inTurn++;
        if (refuses(id)) throw new Error('EBUSY');
        kernel.add(id);
      },
      delete: (id) => void kernel.delete(id),
      *prune(desired) {
        for (const id of [...kernel]) yield !desired.has(id) && kernel.delete(id);
      },
      verify: ({ id }) => kernel.has(id),
    },
    { clock: manualClock(), work, log: silentLog, count: () => {} },
    { atOnce: 3, perStep: 1 },
  );
  /** @returns the most in one turn */
  const settle = (): number => {
    let most = 0;
    for (; work.waits; most = Math.max(most, inTurn)) {
      inTurn = 0;
      work.turn();
    }
    return most;
  };
  return { kernel, work, reconciler, settle };
}

test('few are attached within the call', () => {
  const { kernel, reconciler } = world();
  reconciler.replace(things(0, 2));
  expect([kernel.size, reconciler.applying]).toEqual([2, undefined]);
});

test('of many each turn attaches a few, and whoever waits hears of the last one, though some are refused', async () => {
  const { kernel, reconciler, settle } = world((id) => id === '7');
  reconciler.replace(things(0, 20));
  expect(kernel.size).toBeLessThanOrEqual(3);
  let isOver = false;
  const waiting = reconciler.applying!.then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  // Two steps of the manual clock are the budget of a turn.
  expect(settle()).toBeLessThanOrEqual(2);
  await waiting;
  expect([kernel.size, reconciler.applying]).toEqual([19, undefined]);
});

test('what is no longer desired is detached within the call, whatever is still to be attached', () => {
  const { kernel, reconciler, settle } = world();
  reconciler.replace(things(0, 20));
  reconciler.deleteNow(['0', '1']);
  expect([...kernel].filter((id) => id === '0' || id === '1')).toEqual([]);
  reconciler.replace(things(2, 6));
  settle();
  expect([...kernel].sort()).toEqual(['2', '3', '4', '5']);
});

test('a full pass removes none of an earlier run that are still to be adopted', () => {
  const { kernel, reconciler, settle } = world();
  for (const { id } of things(0, 20)) kernel.add(id);
  kernel.add('stray');
  reconciler.replace(things(0, 20));
  const lost = new Set<string>();
  const { delete: remove } = kernel;
  kernel.delete = (id) => (lost.add(id), remove.call(kernel, id));
  reconciler.fullPass();
  settle();
  expect([...lost]).toEqual(['stray']);
});

test('close() attaches the rest, and nobody waits any more', async () => {
  const { kernel, reconciler } = world();
  reconciler.replace(things(0, 20));
  const waiting = reconciler.applying;
  reconciler.close();
  await waiting;
  expect(kernel.size).toBe(20);
});
