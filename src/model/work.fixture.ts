// For tests: work whose turns the test takes. Each look at the clock is a millisecond after the one before, so that a
// budget in milliseconds is a number of steps.
import { FairWork, type JobOptions, type Steps, type Work } from './work.ts';

/** Work whose turns are microtasks: it is done when a test has awaited some. */
export const microtaskWork = (): Work => new FairWork({ now: () => performance.now(), schedule: queueMicrotask });

export class ManualWork implements Work {
  #now = 0;
  #turn: (() => void) | undefined;
  readonly #work = new FairWork({ now: () => this.#now++, schedule: (turn) => void (this.#turn = turn) });
  /** Turns taken so far. */
  turns = 0;

  run<T>(steps: Steps<T>, options: JobOptions<T>): () => void {
    return this.#work.run(steps, options);
  }

  /** Whether a job waits for its turn. */
  get waits(): boolean {
    return this.#turn !== undefined;
  }

  /** Takes one turn of the event loop, if there is anything to do in it. */
  turn(): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#turn = undefined;
    this.turns++;
    turn();
  }

  /** Takes turns until nothing is left. */
  settle(): void {
    for (const limit = this.turns + 1_000_000; this.waits; this.turn())
      if (this.turns === limit) throw new Error('the work does not come to an end');
  }
}
