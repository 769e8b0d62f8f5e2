// What has come from gobgpd and is still to be taken: piece after piece, as work beside that of others. It reports when
// so much waits that nothing more should be fetched.
import type { Steps, Work } from '../../../model/work.ts';

const BUDGET_MS = 4;
/**
 * Pieces: above the first nothing more is fetched, below the second it goes on. To take that many out of the connection
 * is the work of a few milliseconds too, and comes on top of the budget.
 */
const FULL = 128;
const LOW = 32;

interface IntakeDependencies {
  readonly work: Work;
  /** At the end of each turn. */
  turned(): void;
  /** It has become full, or is so no longer. */
  fullnessChanged(): void;
  /** A piece threw: nothing more is done. */
  failed(error: unknown): void;
}

export class Intake {
  readonly #dependencies: IntakeDependencies;
  #queue: (() => void)[] = [];
  #next = 0;
  #cancelJob: (() => void) | undefined;
  #full = false;
  #closed = false;

  constructor(dependencies: IntakeDependencies) {
    this.#dependencies = dependencies;
  }

  /** Nothing more should be fetched. */
  get isFull(): boolean {
    return this.#full;
  }

  push(piece: () => void): void {
    if (this.#closed) return;
    this.#queue.push(piece);
    this.#cancelJob ??= this.#dependencies.work.run(this.#job(), {
      budgetMs: BUDGET_MS,
      onPause: () => this.#turned(),
      onDone: () => {
        this.#cancelJob = undefined;
        this.#turned();
      },
      onError: (error) => {
        this.close();
        this.#dependencies.failed(error);
      },
    });
    if (!this.#full && this.#waiting > FULL) this.#setFull(true);
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelJob?.();
    this.#queue = [];
    this.#next = 0;
  }

  get #waiting(): number {
    return this.#queue.length - this.#next;
  }

  *#job(): Steps {
    while (this.#waiting > 0) {
      this.#queue[this.#next++]!();
      yield;
    }
  }

  #turned(): void {
    if (this.#waiting === 0 || this.#next > FULL) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    this.#dependencies.turned();
    if (this.#full && this.#waiting < LOW) this.#setFull(false);
  }

  #setFull(full: boolean): void {
    this.#full = full;
    this.#dependencies.fullnessChanged();
  }
}
