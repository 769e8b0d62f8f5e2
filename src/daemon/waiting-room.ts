// Requests that wait for their turn, of one kind: so many and no more. The rest is refused at once.
import type { ChangeRefusal } from '../model/group-change.ts';
import { type Result, fail } from '../model/result.ts';

export class WaitingRoom {
  readonly #what: string;
  readonly #most: number;
  #waiting = 0;

  /** @param what the kind, in the plural */
  constructor(what: string, most: number) {
    this.#what = what;
    this.#most = most;
  }

  async wait<T>(run: () => Promise<Result<T, ChangeRefusal>>): Promise<Result<T, ChangeRefusal>> {
    if (this.#waiting >= this.#most)
      return fail({ code: 'full', errors: [`${this.#most} ${this.#what} wait already: try again later`] });
    this.#waiting++;
    try {
      return await run();
    } finally {
      this.#waiting--;
    }
  }
}
