// What a reconciler is made of, and how it works.
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';
import type { Work } from '../model/work.ts';

export interface ReconcilerOptions<T> {
  /** First pause after a failure and the longest one; it doubles in between. Milliseconds. */
  readonly retryMs: readonly [number, number];
  /** Time between full passes, milliseconds. */
  readonly fullPassMs: number;
  /** Whether an object is unchanged. Absent: compared as plain data. */
  readonly same?: (a: T, b: T) => boolean;
  /**
   * How many objects replace() and change() apply within the call. The rest follows in later steps, in order of the
   * calls. Absent: all, so that code after the call can rely on it.
   */
  readonly atOnce?: number;
  /** How many of the rest are one step. Absent: as many, but no more than take a millisecond. */
  readonly perStep?: number;
}

export interface ReconcilerDependencies {
  readonly clock: Clock;
  readonly work: Work;
  readonly log: Log;
  readonly count: Count;
}
