// The time of day beside the table's clock, for display only.
import type { Clock } from '../model/clock.ts';

/** Smaller differences come from reading the two clocks one after the other, ms. */
const JITTER_MS = 50;

export class WallTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #wallClock: () => number;
  #shown = -Infinity;

  constructor(clock: Pick<Clock, 'now'>, wallClock: () => number) {
    this.#clock = clock;
    this.#wallClock = wallClock;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#wallClock();
  }

  /**
   * The offset from the clock to the time of day. It changes only when the time is set, so that a deadline is always
   * shown alike.
   */
  offset(): number {
    const fresh = this.#wallClock() - this.#clock.now();
    if (Math.abs(fresh - this.#shown) > JITTER_MS) this.#shown = fresh;
    return this.#shown;
  }
}
