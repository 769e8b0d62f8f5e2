// One direction of a delayed link: frames in, the same frames out in order, a fixed time later. Bounded: a frame that
// finds the queue full is dropped and counted, as a cable with a store behind it would. Slots are reused, so that a
// busy line makes no garbage. Pure: the caller says what time it is.

interface DelayQueueOptions {
  readonly delayMs: number;
  /** Frames held at most. */
  readonly limit: number;
  /** Longest frame, bytes. */
  readonly maxFrame: number;
}

export class DelayQueue {
  /** Frames that found the queue full. */
  dropped = 0;
  /** Frames longer than `maxFrame`. */
  oversized = 0;
  readonly #opts: DelayQueueOptions;
  readonly #slots: Uint8Array[] = [];
  readonly #lengths: Uint32Array;
  readonly #due: Float64Array;
  #head = 0;
  #count = 0;

  constructor(opts: DelayQueueOptions) {
    this.#opts = opts;
    this.#lengths = new Uint32Array(opts.limit);
    this.#due = new Float64Array(opts.limit);
  }

  get length(): number {
    return this.#count;
  }

  /** When the next frame leaves, in the caller's milliseconds; undefined when there is none. */
  get nextDue(): number | undefined {
    return this.#count === 0 ? undefined : this.#due[this.#head];
  }

  /** Copies the frame. @returns whether it was taken */
  push(frame: Uint8Array, now: number): boolean {
    if (frame.length > this.#opts.maxFrame) {
      this.oversized++;
      return false;
    }
    if (this.#count === this.#opts.limit) {
      this.dropped++;
      return false;
    }
    const index = (this.#head + this.#count) % this.#opts.limit;
    // Slots come into being as the queue first grows, not all at the start.
    const slot = (this.#slots[index] ??= new Uint8Array(this.#opts.maxFrame));
    slot.set(frame);
    this.#lengths[index] = frame.length;
    this.#due[index] = now + this.#opts.delayMs;
    this.#count++;
    return true;
  }

  /** Hands out every frame that is due; each is valid only during the call of `out`. */
  release(now: number, out: (frame: Uint8Array) => void): void {
    while (this.#count > 0 && this.#due[this.#head]! <= now) {
      const index = this.#head;
      this.#head = (this.#head + 1) % this.#opts.limit;
      this.#count--;
      out(this.#slots[index]!.subarray(0, this.#lengths[index]));
    }
  }
}
