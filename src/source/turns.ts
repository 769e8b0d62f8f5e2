// Slots that are to be changed in the kernel, each once, however often it was asked for. They have their turns in
// batches, in the order in which they became due, and the scheduler lets other work go on between two batches.
import { type Steps, type Work, finish, wait } from '../model/work.ts';

interface TurnsDependencies {
  readonly work: Work;
  readonly settle: (slot: number) => Promise<void>;
  readonly onRefused: (error: unknown) => void;
}

/** In one batch: a few milliseconds. */
const SLOTS_A_TURN = 32;
/** A batch ends the turn of the event loop. */
const BUDGET_MS = 0;

export class Turns {
  readonly #dependencies: TurnsDependencies;
  readonly #due = new Set<number>();
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(dependencies: TurnsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Slots that wait. */
  get size(): number {
    return this.#due.size;
  }

  due(slot: number): void {
    if (this.#stopped) return;
    this.#due.add(slot);
    this.#working ??= finish(this.#dependencies.work, this.#settleAll(), BUDGET_MS);
  }

  /** Each of them, beside the slots that wait. */
  each<T>(items: readonly T[], run: (item: T) => void | Promise<void>): Promise<void> {
    return finish(this.#dependencies.work, this.#batches(items, run), BUDGET_MS);
  }

  /** Forgets the slots that wait. Resolves when those that have their turn are settled. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#due.clear();
    await this.#working;
  }

  *#settleAll(): Steps {
    while (this.#due.size > 0) {
      const slots: number[] = [];
      for (const slot of this.#due) if (slots.push(slot) === SLOTS_A_TURN) break;
      for (const slot of slots) this.#due.delete(slot);
      yield* wait(this.#together(slots, this.#dependencies.settle));
    }
    // At once: what becomes due from now on finds nobody at work.
    this.#working = undefined;
  }

  *#batches<T>(items: readonly T[], run: (item: T) => void | Promise<void>): Steps {
    for (let from = 0; from < items.length; from += SLOTS_A_TURN)
      yield* wait(this.#together(items.slice(from, from + SLOTS_A_TURN), run));
  }

  async #together<T>(items: readonly T[], run: (item: T) => void | Promise<void>): Promise<void> {
    const tried = async (item: T): Promise<void> => {
      try {
        await run(item);
      } catch (error) {
        this.#dependencies.onRefused(error);
      }
    };
    await Promise.all(items.map(tried));
  }
}
