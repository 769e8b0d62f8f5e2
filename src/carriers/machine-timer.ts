// Schedules the next `timer` event of a carrier's machine: at a moment of the clock, or as shared work while something
// is due at once. A timer of 0 ms would delay each step of such work by a whole millisecond.
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Steps, Work } from '../model/work.ts';

/** Time for the events of one machine in one turn of the event loop. */
const BUDGET_MS = 2;

export interface Machine {
  /** When the next `timer` event is needed: −Infinity for at once, Infinity for never. */
  dueAt(): number;
  /** Gives the machine the event, and then calls `arm` as after every event. */
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

  /** Call after every event. An earlier moment that is already scheduled is kept: the event finds out what is due. */
  arm(): void {
    if (this.#closed || this.#cancelJob) return;
    const at = this.#machine.dueAt();
    if (at > this.#clock.now()) return this.#deadline.by(at);
    this.#deadline.cancel();
    this.#cancelJob = this.#work.run(this.#job(), { budgetMs: BUDGET_MS, onDone: () => this.#done() });
  }

  /** Delivers no further event. Idempotent. */
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
