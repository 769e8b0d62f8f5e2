// Changes of the kernel, one after another, in the order in which they were asked for. Each is executed within its call,
// so a long list is done in turns of the event loop: other work goes on between them.
import type { Clock } from '../model/clock.ts';

type Change = () => void | Promise<void>;

/** The length of a turn. */
const TURN_MS = 5;

export class Changes {
  readonly #clock: Clock;
  readonly #onRefused: (error: unknown) => void;
  readonly #waiting: Change[] = [];
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(dependencies: { readonly clock: Clock; readonly onRefused: (error: unknown) => void }) {
    this.#clock = dependencies.clock;
    this.#onRefused = dependencies.onRefused;
  }

  /** Behind those that wait. */
  do(change: Change): void {
    if (this.#stopped) return;
    this.#waiting.push(change);
    this.#working ??= this.#work();
  }

  /** Each of them, from now on, beside those that wait. */
  async each<T>(items: Iterable<T>, change: (item: T) => void | Promise<void>): Promise<void> {
    let since = this.#clock.now();
    for (const item of items) {
      await this.#tried(() => change(item));
      since = await this.#turn(since);
    }
  }

  /** Forgets those that wait. Resolves when the one that is being made is made. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.length = 0;
    await this.#working;
  }

  async #work(): Promise<void> {
    let since = this.#clock.now();
    for (let change = this.#waiting.shift(); change; change = this.#waiting.shift()) {
      await this.#tried(change);
      since = await this.#turn(since);
    }
    // At once: what comes from now on finds nobody at work.
    this.#working = undefined;
  }

  /** Returns when the present turn began. */
  async #turn(since: number): Promise<number> {
    if (this.#clock.now() - since < TURN_MS) return since;
    await new Promise((resolve) => void setImmediate(resolve));
    return this.#clock.now();
  }

  async #tried(change: Change): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.#onRefused(error);
    }
  }
}
