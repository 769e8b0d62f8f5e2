import { describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { StateSource } from '../../model/state.ts';
import { FairWork, eventLoopWork } from '../../model/work.ts';
import { exampleState, sourceOf } from '../state.fixture.ts';
import { unitsOf } from './units.ts';
import { Watches } from './watch.ts';

const FLOWS = unitsOf({
  steps: ['cnpd', 'flows'].map((name) => ({ name, keys: new Map(), keyed: false })),
  pattern: false,
})[0]!;

describe('what is watched', () => {
  test('a unit that failed and is watched anew outlives the last who watched it before', async () => {
    const state = sourceOf(exampleState());
    let isBroken = true;
    const flows = (): unknown => (isBroken ? Promise.reject(new Error('map gone')) : state.flows());
    const source = { ...state, flows } as StateSource;
    const watches = new Watches({ source, work: eventLoopWork(), now: () => 0n });
    const told: string[] = [];
    const before = watches.watch(FLOWS, { changed: () => true, failed: ({ message }) => told.push(message) });
    await expect(before.ready).rejects.toThrow('map gone');
    await until('it is told', () => told.length > 0);
    isBroken = false;
    const anew = watches.watch(FLOWS, { changed: () => true, failed: () => undefined });
    await anew.ready;
    before.close();
    expect(watches.size).toBe(1);
    anew.close();
    expect(watches.size).toBe(0);
  });

  /** Flows that all change; one watcher takes everything, the other nothing more after the first call. */
  async function tellMany(flows: number) {
    const state = exampleState();
    const rows = (packets: number) =>
      Array.from({ length: flows }, (_, i) => ({ ...state.flows[0]!, destinationQpn: i, packets }));
    state.flows = rows(1);
    let turns = 0;
    let clock = 0;
    // The clock moves on with each look at it: one step has all the time of a turn.
    const work = new FairWork({
      now: () => (clock += 10),
      schedule: (turn) => void setImmediate(() => (turns++, turn())),
    });
    const watches = new Watches({ source: { ...sourceOf(state), flows: () => state.flows }, work, now: () => 0n });
    const told: { turn: number; changes: number }[] = [];
    const full: number[] = [];
    const watcher = watches.watch(FLOWS, {
      changed: ({ length }) => (told.push({ turn: turns, changes: length }), true),
      failed: () => undefined,
    });
    const other = watches.watch(FLOWS, {
      changed: ({ length }) => (full.push(length), false),
      failed: () => undefined,
    });
    await watcher.ready;
    state.flows = rows(2);
    await until('all is told', () => told.reduce((sum, { changes }) => sum + changes, 0) >= flows && full.length > 0);
    watcher.close();
    other.close();
    return { told, full };
  }

  test('many changes are told in many turns, and no more of them to whom they were too many', async () => {
    const { told, full } = await tellMany(1000);
    expect(told.map(({ changes }) => changes)).toEqual([256, 256, 256, 232]);
    expect(new Set(told.map(({ turn }) => turn)).size).toBe(4);
    expect(full).toEqual([256]);
  });
});
