// One timer for several due times. Only the earliest is set; the callback determines the next one.
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
   * Sets the callback for time `at` of the clock, or as soon as possible if that is past; by default never. An earlier
   * time that is already set stays.
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

  /** Cancels the timer. */
  cancel(): void {
    this.#cancel();
    this.#at = Infinity;
  }
}
