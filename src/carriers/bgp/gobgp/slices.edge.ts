// Work in slices: a queue whose pieces are done for a few milliseconds at a time, everybody else's turn in between, and
// which says when it is so long that nothing more should be fetched for it.

const SLICE_MS = 4;
/**
 * Pieces: above the first nothing more is fetched, below the second it goes on. To take that many out of the connection
 * is the work of a few milliseconds too, and comes on top of the slice.
 */
const FULL = 128;
const LOW = 32;

export interface SlicesModules {
  /** At the end of each turn. */
  turned(): void;
  /** The queue has become too long (false), or short enough again. */
  room(room: boolean): void;
  /** A piece threw: nothing more is done. */
  failed(error: unknown): void;
}

export class Slices {
  readonly #modules: SlicesModules;
  #queue: (() => void)[] = [];
  #next = 0;
  #scheduled: NodeJS.Immediate | undefined;
  #room = true;

  constructor(modules: SlicesModules) {
    this.#modules = modules;
  }

  /** Whether more should be fetched. */
  get hasRoom(): boolean {
    return this.#room;
  }

  push(piece: () => void): void {
    this.#queue.push(piece);
    this.#scheduled ??= setImmediate(this.#turn);
    if (this.#room && this.#queue.length - this.#next > FULL) this.#modules.room((this.#room = false));
  }

  close(): void {
    clearImmediate(this.#scheduled);
    this.#queue = [];
    this.#next = 0;
  }

  readonly #turn = (): void => {
    this.#scheduled = undefined;
    const end = performance.now() + SLICE_MS;
    try {
      while (this.#next < this.#queue.length && performance.now() < end) this.#queue[this.#next++]!();
    } catch (error) {
      this.close();
      return this.#modules.failed(error);
    }
    if (this.#next === this.#queue.length || this.#next > FULL) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    this.#modules.turned();
    const left = this.#queue.length - this.#next;
    if (left > 0) this.#scheduled ??= setImmediate(this.#turn);
    if (!this.#room && left < LOW) this.#modules.room((this.#room = true));
  };
}
