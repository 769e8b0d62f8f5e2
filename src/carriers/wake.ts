// When a carrier has its next turn: at a moment of its clock, or, for work that is left over, as soon as whatever else
// is ready in this process has had its own turn. A timer of 0 ms would wait a whole millisecond for each slice of such
// work.
import type { Clock } from '../model/clock.ts';
import { nextTurn } from '../model/turns.ts';

export class Wake {
  readonly #clock: Clock;
  readonly #run: () => void;
  #at = Infinity;
  #cancel: () => void = () => {};

  constructor(clock: Clock, run: () => void) {
    this.#clock = clock;
    this.#run = run;
  }

  /**
   * Asks for a turn at `at` of the clock, or at once when that is past; Infinity for none. An earlier turn that is
   * arranged already will do: whoever runs then finds out when the next is due.
   */
  by(at: number): void {
    if (at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    const wait = at - this.#clock.now();
    if (wait > 0) this.#cancel = this.#clock.after(wait, () => this.#turn());
    else this.#cancel = nextTurn(() => this.#turn());
  }

  /** No turn any more. Idempotent. */
  close(): void {
    this.#cancel();
    this.#at = -Infinity;
  }

  #turn(): void {
    this.#at = Infinity;
    this.#run();
  }
}
