// One timer for what is due at several moments: only the earliest is waited for, and whoever runs then finds out when
// the next is due.
import type { Clock } from './clock.ts';

export class Deadline {
  readonly #clock: Clock;
  readonly #run: () => void;
  #at = Infinity;
  #cancel: () => void = () => {};

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /**
   * Runs at this moment of the clock, or as soon as possible when it is past; by default never. An earlier one that is
   * set will do.
   */
  by(at = Infinity): void {
    if (at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#at = Infinity;
      this.#run();
    });
  }

  /** Nothing is waited for any more. */
  cancel(): void {
    this.#cancel();
    this.#at = Infinity;
  }
}
