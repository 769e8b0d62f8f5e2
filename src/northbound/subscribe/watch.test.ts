import { describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { StateSource } from '../../model/state.ts';
import { eventLoopWork } from '../../model/work.ts';
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
    const before = watches.watch(FLOWS, { changed: () => undefined, failed: ({ message }) => told.push(message) });
    await expect(before.ready).rejects.toThrow('map gone');
    await until('it is told', () => told.length > 0);
    isBroken = false;
    const anew = watches.watch(FLOWS, { changed: () => undefined, failed: () => undefined });
    await anew.ready;
    before.close();
    expect(watches.size).toBe(1);
    anew.close();
    expect(watches.size).toBe(0);
  });
});
