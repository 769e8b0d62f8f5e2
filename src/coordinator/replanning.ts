// When a plan is due. Kernel announcements and other changes only trigger it. Most changes come alone: the first after
// a quiet time is planned at once, or nearly, since a group's new member waits for a plan at every router. The rest of
// a burst costs one plan more, and changes during a plan cost one after it. A few plans may follow each other as
// closely as that. In a storm of changes PACE_MS lie between two plans, and more where plans take long: a third of the
// time is theirs, the rest for everything else. A failed plan is repeated, because it has not taken its change into
// account.
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';

/** Changes within this time cost one plan. Milliseconds. */
const SETTLE_MS = 50;
/** The same when there was no plan for PACE_MS: for what one cause announces in several messages. */
const FIRST_SETTLE_MS = 10;
/** In a storm, the least time from the start of one plan to the next. Milliseconds. */
const PACE_MS = 250;
/** The time that a plan has taken, times this, passes from its start to the next one. */
const SHARE = 3;
/** But no more than this. Milliseconds. */
const LONGEST_PACE_MS = 5000;
/** So many plans are not delayed by it. */
const BURST = 4;
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
  /** From the start of the latest plan to the next, in a storm. Milliseconds. */
  #pace = PACE_MS;
  /** When all earlier plans would have started at that pace. */
  #pacedTo = -Infinity;
  #startedAt = -Infinity;
  #isRunning = false;
  #isDue = false;
  #isClosed = false;

  constructor(dependencies: ReplanningDependencies) {
    this.#dependencies = dependencies;
  }

  /** An input has changed. */
  due(): void {
    if (this.#isRunning) this.#isDue = true;
    else this.#later(this.#settleMs);
  }

  get #settleMs(): number {
    return this.#dependencies.clock.now() - this.#startedAt < PACE_MS ? SETTLE_MS : FIRST_SETTLE_MS;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #later(ms: number): void {
    const { clock } = this.#dependencies;
    const paced = this.#pacedTo - (BURST - 1) * this.#pace - clock.now();
    if (!this.#isClosed) this.#cancel ??= clock.after(Math.max(ms, paced), () => void this.#run());
  }

  async #run(): Promise<void> {
    const { replan, clock, log, count } = this.#dependencies;
    this.#startedAt = clock.now();
    this.#cancel = undefined;
    this.#isDue = false;
    this.#isRunning = true;
    try {
      await replan();
    } catch (error) {
      count('kernel.facts.not-taken-in');
      log.error({ error: messageOf(error) }, 'cannot read the kernel for a new plan; will try again');
      this.#later(RETRY_MS);
    } finally {
      this.#isRunning = false;
      const share = Math.min(SHARE * (clock.now() - this.#startedAt), LONGEST_PACE_MS);
      this.#pace = Math.max(PACE_MS, share);
      this.#pacedTo = Math.max(this.#pacedTo, this.#startedAt) + this.#pace;
      if (this.#isDue) this.#later(this.#settleMs);
    }
  }
}
