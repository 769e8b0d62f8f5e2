// All counters of the daemon, by dotted name. Components get `count` injected. Counters kept by the kernel (per-CPU
// arrays of the programs) are read on request, in steps, and have names of the same form.
import type { Count } from '../model/log.ts';
import type { CounterState } from '../model/state.ts';
import type { Steps } from '../model/work.ts';

export interface Counters {
  readonly count: Count;
  /**
   * Registers counters that live elsewhere. `read` is called on every snapshot; if it throws, only its counters are
   * missing. What belongs together is read in its first step.
   */
  addReader(read: () => Steps<Iterable<CounterState>>): void;
  /** Sorted by name. The daemon's own are as they are at the first step. */
  snapshot(): Steps<CounterState[]>;
}

export function createCounters(): Counters {
  const values = new Map<string, number>();
  const readers: (() => Steps<Iterable<CounterState>>)[] = [];
  const count: Count = (name, by = 1) => void values.set(name, (values.get(name) ?? 0) + by);
  return {
    count,
    addReader: (read) => void readers.push(read),
    *snapshot() {
      const all = new Map(values);
      for (const read of readers) {
        try {
          for (const { name, value } of yield* read()) all.set(name, (all.get(name) ?? 0) + value);
        } catch {
          count('counters.unreadable');
        }
      }
      return [...all].map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}
