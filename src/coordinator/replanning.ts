// When a plan is due. Kernel announcements and other changes only trigger it. A burst of them costs one plan, and
// changes during a plan cost one more after it. A failed plan is repeated, because it has not taken its change into
// account.
import type { Clock } from '../model/clock.ts';
import type { Count, Log } from '../model/log.ts';

/** Changes within this time cost one plan. Milliseconds. */
const SETTLE_MS = 50;
const RETRY_MS = 1000;

export interface ReplanningDependencies {
  readonly replan: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
}

export class Replanning {
  readonly #dependencies: ReplanningDependencies;
  #cancel: (() => void) | undefined;
  #isRunning = false;
  #isDue = false;
  #isClosed = false;

  constructor(dependencies: ReplanningDependencies) {
    this.#dependencies = dependencies;
  }

  /** An input has changed. */
  due(): void {
    if (this.#isRunning) this.#isDue = true;
    else this.#later(SETTLE_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #later(ms: number): void {
    if (!this.#isClosed) this.#cancel ??= this.#dependencies.clock.after(ms, () => void this.#run());
  }

  async #run(): Promise<void> {
    const { replan, log, count } = this.#dependencies;
    this.#cancel = undefined;
    this.#isDue = false;
    this.#isRunning = true;
    try {
      await replan();
    } catch (error) {
      count('kernel.facts.not-taken-in');
      log.error(
        { error: error instanceof Error ? error.message : String(error) },
        'cannot read the kernel for a new plan; will try again',
      );
      this.#later(RETRY_MS);
    } finally {
      this.#isRunning = false;
      if (this.#isDue) this.#later(SETTLE_MS);
    }
  }
}
