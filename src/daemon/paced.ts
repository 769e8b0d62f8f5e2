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

  /** Rejects as `run` does. The next one waits for as long as this one took. */
  run<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#line.then(async () => {
      await nextTurn(this.#work);
      return this.#timed(run);
    });
    this.#line = done.then(
      ({ took }) => this.#rest(took),
      () => undefined,
    );
    return done.then(({ outcome }) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  async #timed<T>(run: () => Promise<T>): Promise<{ took: number; outcome: PromiseSettledResult<T> }> {
    const start = this.#clock.now();
    const [outcome] = await Promise.allSettled([run()]);
    return { took: this.#clock.now() - start, outcome };
  }

  #rest(ms: number): Promise<void> | undefined {
    return ms <= 0 ? undefined : new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}
