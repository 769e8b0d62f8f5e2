// The time of day beside a monotonic clock, for display only.
import { type Clock, systemClock } from './clock.ts';

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
   * The offset from the clock to the time of day. It changes only when the time is set, so that a moment is always
   * shown alike.
   */
  offset(): number {
    const before = this.#clock.now();
    const fresh = this.#wallClock() - before;
    // A process that had to wait between the two readings has read nothing new.
    const isClose = (): boolean => this.#shown === -Infinity || this.#clock.now() - before <= JITTER_MS;
    if (Math.abs(fresh - this.#shown) > JITTER_MS && isClose()) this.#shown = fresh;
    return this.#shown;
  }

  /** A moment of the clock, ms, in ISO 8601 and UTC. */
  iso(at: number): string {
    return isoOf(at, this.offset());
  }
}

/** @param at of some clock, ms @param offset from that clock to milliseconds since 1970 */
export const isoOf = (at: number, offset: number): string => new Date(Math.floor(at + offset)).toISOString();

/** Beside `systemClock`. */
export const processTime = new WallTime(systemClock, Date.now);

/** Beside CLOCK_MONOTONIC, which is the clock of BPF programs, in milliseconds. */
export const kernelTime = new WallTime({ now: () => Number(process.hrtime.bigint()) / 1e6 }, Date.now);
