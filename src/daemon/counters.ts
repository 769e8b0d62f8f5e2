// Every counter of the daemon, by dotted name. Components are handed `count`. Counters that the kernel keeps (per-CPU
// arrays of the programs) are read when somebody asks and appear under the same kind of name.
import type { Count } from '../model/log.ts';
import type { CounterState } from '../model/state.ts';

export interface Counters {
  readonly count: Count;
  /**
   * Registers counters that live elsewhere; `read` is called on every snapshot and may throw, which hides only its own.
   */
  addReader(read: () => Iterable<CounterState>): void;
  /** Sorted by name. */
  snapshot(): CounterState[];
}

export function createCounters(): Counters {
  const values = new Map<string, number>();
  const readers: (() => Iterable<CounterState>)[] = [];
  const count: Count = (name, by = 1) => void values.set(name, (values.get(name) ?? 0) + by);
  return {
    count,
    addReader: (read) => void readers.push(read),
    snapshot: () => {
      const all = new Map(values);
      for (const read of readers) {
        try {
          for (const { name, value } of read()) all.set(name, (all.get(name) ?? 0) + value);
        } catch {
          count('counters.unreadable');
        }
      }
      return [...all].map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}
