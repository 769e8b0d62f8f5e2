// Whether a gobgpd still lives. One that hangs keeps its connection; one that is busy answers late, and goes on sending
// events meanwhile: whatever comes from it counts. Pure.
import type { Clock } from '../../../model/clock.ts';

/** Nothing at all for so long, though something was asked: it hangs. Milliseconds. */
export const DEAD_MS = 20_000;

export class Liveness {
  readonly #clock: Pick<Clock, 'now'>;
  #heardAt = -Infinity;
  /** The first question since something was heard. */
  #askedAt: number | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
    this.#askedAt = undefined;
  }

  asked(): void {
    this.#askedAt ??= this.#clock.now();
  }

  /** For how long a question has gone without an answer, and anything else; 0: none is open. Milliseconds. */
  get silentMs(): number {
    return this.#askedAt === undefined ? 0 : this.#clock.now() - this.#askedAt;
  }

  /** @param ms within that time */
  heardWithin(ms: number): boolean {
    return this.#clock.now() - this.#heardAt < ms;
  }
}
