import { describe, expect, test } from 'vitest';
import type { CounterState } from '../model/state.ts';
import type { Steps } from '../model/work.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { type Counters, createCounters } from './counters.ts';

/** Begins a snapshot, of one step a turn. Returns its result, once it is there. */
function begin(counters: Counters, work = new ManualWork()): { readonly work: ManualWork; found?: CounterState[] } {
  const begun: ReturnType<typeof begin> = { work };
  work.run(counters.snapshot(), { budgetMs: 0, onDone: (found) => void (begun.found = found) });
  return begun;
}

function snapshot(counters: Counters): CounterState[] {
  const begun = begin(counters);
  begun.work.settle();
  return begun.found!;
}

describe('counters', () => {
  test('adds up counts of components and of the kernel under the same name', () => {
    const counters = createCounters();
    counters.count('b');
    counters.count('b', 4);
    // oxlint-disable-next-line require-yield -- one step
    counters.addReader(function* () {
      return [
        { name: 'a', value: 7 },
        { name: 'b', value: 10 },
      ];
    });
    expect(snapshot(counters)).toEqual([
      { name: 'a', value: 7 },
      { name: 'b', value: 15 },
    ]);
  });

  test('counters that cannot be read hide only themselves, and that is counted', () => {
    const counters = createCounters();
    counters.count('a');
    counters.addReader(function* () {
      yield;
      throw new Error('EBADF');
    });
    snapshot(counters);
    expect(snapshot(counters)).toEqual([
      { name: 'a', value: 1 },
      { name: 'counters.unreadable', value: 1 },
    ]);
  });

  test('a snapshot over several turns has all values as they were at its first step; the next has the new ones', () => {
    const counters = createCounters();
    const kernel = [1, 1, 1];
    counters.addReader(function* (): Steps<CounterState[]> {
      const read = kernel.map((value, i) => ({ name: `kernel.${i}`, value }));
      for (const _ of kernel) yield;
      return read;
    });
    counters.count('own');
    const first = begin(counters);
    first.work.turn();
    counters.count('own');
    kernel.fill(2);
    const second = begin(counters);
    for (const { work } of [first, second]) work.settle();
    const values = ({ found }: typeof first): unknown => found?.map(({ value }) => value);
    expect(first.work.turns).toBeGreaterThan(3);
    expect([values(first), values(second)]).toEqual([
      [1, 1, 1, 1],
      [2, 2, 2, 2],
    ]);
  });
});
