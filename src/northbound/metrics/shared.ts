// Makes something that many ask for. One is made at a time, and not more often than allowed; whoever asks meanwhile
// shares the next one, which begins after all of them have asked.
import type { Clock } from '../../model/clock.ts';

export class Shared<T> {
  readonly #make: () => Promise<T>;
  readonly #gapMs: number;
  readonly #clock: Clock;
  #running: Promise<unknown> | undefined;
  #next: Promise<T> | undefined;
  #begun = -Infinity;

  /** @param gapMs from the begin of one to the begin of the next, at least */
  constructor(make: () => Promise<T>, gapMs: number, clock: Clock) {
    this.#make = make;
    this.#gapMs = gapMs;
    this.#clock = clock;
  }

  get(): Promise<T> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<T> {
    await this.#running;
    const early = this.#begun + this.#gapMs - this.#clock.now();
    if (early > 0) await new Promise<void>((resolve) => void this.#clock.after(early, resolve));
    this.#next = undefined;
    this.#begun = this.#clock.now();
    const made = this.#make();
    this.#running = made.catch(() => {});
    return made;
  }
}
