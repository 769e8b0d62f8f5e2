// When a carrier's machine has its next `timer` event: at a moment of the clock, or, while something is due at once, as
// work beside that of others. A timer of 0 ms would wait a whole millisecond for each step of such work.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Steps, Work } from '../model/work.ts';

/** For the events of one machine in one turn of the event loop. */
const BUDGET_MS = 2;

export interface Machine {
  /** When it wants the next `timer` event: −Infinity for at once, Infinity for never. */
  dueAt(): number;
  /** Hands it the event, and calls `arm` as after every event. */
  timer(): void;
}

export class MachineTimer {
  readonly #clock: Clock;
  readonly #work: Work;
  readonly #machine: Machine;
  readonly #deadline: Deadline;
  #cancelJob: (() => void) | undefined;
  #closed = false;

  constructor({ clock, work }: { readonly clock: Clock; readonly work: Work }, machine: Machine) {
    this.#clock = clock;
    this.#work = work;
    this.#machine = machine;
    this.#deadline = new Deadline(clock, () => machine.timer());
  }

  /** To be called after every event. An earlier moment that is arranged already will do: what is due is found then. */
  arm(): void {
    if (this.#closed || this.#cancelJob) return;
    const at = this.#machine.dueAt();
    if (at > this.#clock.now()) return this.#deadline.by(at);
    this.#deadline.cancel();
    this.#cancelJob = this.#work.run(this.#job(), { budgetMs: BUDGET_MS, onDone: () => this.#done() });
  }

  /** No event any more. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#deadline.cancel();
    this.#cancelJob?.();
  }

  *#job(): Steps {
    do {
      this.#machine.timer();
      yield;
    } while (this.#machine.dueAt() <= this.#clock.now());
  }

  #done(): void {
    this.#cancelJob = undefined;
    this.arm();
  }
}
