// The latest of many: a ring, so that an episode of congestion costs no more than its last thousand. Pure.

export const HISTORY_LENGTH = 1000;

export interface Numbered<T> {
  /** From 1. */
  readonly sequence: number;
  readonly value: T;
}

export class History<T> {
  readonly #ring: T[] = [];
  #added = 0;

  add(value: T): void {
    this.#ring[this.#added % HISTORY_LENGTH] = value;
    this.#added++;
  }

  /** The newest first, each with its number. */
  *latest(): Generator<Numbered<T>> {
    for (let sequence = this.#added; sequence > this.#added - this.#ring.length; sequence--)
      yield { sequence, value: this.#ring[(sequence - 1) % HISTORY_LENGTH]! };
  }
}
