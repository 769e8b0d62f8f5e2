// Work that many may ask for, and that takes long: one after another, and for half of the time at most.
import type { Clock } from '../model/clock.ts';
import { type Work, nextTurn } from '../model/work.ts';

export class Paced {
  readonly #clock: Clock;
  readonly #work: Work;
  #line: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, work: Work) {
    this.#clock = clock;
    this.#work = work;
  }

  /**
   * The next one waits for as long as the work of this one took. Rejects as `run` does.
   * @param run does the work in what it is given, once; what it waits for before that is not counted
   */
  run<T>(run: (timed: <U>(work: () => Promise<U>) => Promise<U>) => Promise<T>): Promise<T> {
    let took = 0;
    const timed = async <U>(work: () => Promise<U>): Promise<U> => {
      const start = this.#clock.now();
      try {
        return await work();
      } finally {
        took = this.#clock.now() - start;
      }
    };
    const done = this.#line.then(async () => {
      await nextTurn(this.#work);
      return run(timed);
    });
    const rest = (): Promise<void> | undefined => this.#rest(took);
    this.#line = done.then(rest, rest);
    return done;
  }

  #rest(ms: number): Promise<void> | undefined {
    return ms <= 0 ? undefined : new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}
