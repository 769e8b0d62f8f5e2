// The processor time of all streams for samples and heartbeats: a fifth. Each part of each stream keeps to a fifth by
// itself, but there may be thousands of them. Only what runs is counted, not what is waited for.
import type { Steps } from '../../model/work.ts';

/** What costs so long rests so many times as long. */
export const REST = 4;
/** Rest that may be owed before nothing begins any more, milliseconds. Then all of it is taken: fewer wake-ups. */
const MOST_OWED_MS = 100;

export class Allowance {
  #restUntil = 0;
  #isResting = false;

  /** Until something may begin, milliseconds; 0: now. */
  get restMs(): number {
    const owed = this.#restUntil - performance.now();
    if (owed <= 0) this.#isResting = false;
    else if (owed > MOST_OWED_MS) this.#isResting = true;
    return this.#isResting ? owed : 0;
  }

  /** The same steps, and their time is counted. */
  *counted(steps: Steps): Steps {
    let resume = () => steps.next();
    try {
      for (;;) {
        const step = this.#timed(resume);
        if (step.done) return;
        try {
          const value = yield step.value;
          resume = () => steps.next(value);
        } catch (error) {
          resume = () => steps.throw(error);
        }
      }
    } finally {
      steps.return();
    }
  }

  #timed<T>(step: () => T): T {
    const begun = performance.now();
    try {
      return step();
    } finally {
      const cost = performance.now() - begun;
      this.#restUntil = Math.max(this.#restUntil, begun) + cost * (1 + REST);
    }
  }
}
