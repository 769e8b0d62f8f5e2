// The queue of decisions of a router between IS-IS levels or OSPF areas. It has keys that changed, a batch per turn of
// the event loop, and keys that have not been eligible for long enough. The carrier decides which advertisement is
// leaked, and into which level or area.

interface LeakQueueOptions {
  /** Keys decided in one turn. */
  readonly batch: number;
  /**
   * How long an advertisement must be eligible before it is leaked. A withdrawal, or the advertisement of a preferred
   * router, must be able to arrive in that time.
   */
  readonly settleMs: number;
}

/**
 * Times are milliseconds of the carrier's clock. A key names a prefix or a SID; a place is one direction of leaking it.
 */
export class LeakQueue {
  readonly #options: LeakQueueOptions;
  readonly #dirty = new Set<string>();
  /** Keys that have not settled yet, and when they will. */
  readonly #later = new Map<string, number>();
  /** By place, since when an advertisement is eligible. */
  readonly #since = new Map<string, number>();
  #dueAt = Infinity;

  constructor(options: LeakQueueOptions) {
    this.#options = options;
  }

  /** When `take` has work to do; Infinity for never. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** Whether keys are waiting that need no more time to settle. */
  get isBusy(): boolean {
    return this.#dirty.size > 0;
  }

  mark(key: string, now: number): void {
    this.#dirty.add(key);
    this.#dueAt = Math.min(this.#dueAt, now);
  }

  /** @param decide returns when the key must be decided again; Infinity for not before it is marked */
  take(now: number, decide: (key: string) => number): void {
    for (const [key, at] of this.#later) {
      if (at > now) continue;
      this.#later.delete(key);
      this.#dirty.add(key);
    }
    let left = this.#options.batch;
    for (const key of this.#dirty) {
      if (left-- === 0) break;
      this.#dirty.delete(key);
      const settled = decide(key);
      if (settled < Infinity) this.#later.set(key, settled);
    }
    this.#dueAt = this.#dirty.size > 0 ? now : Infinity;
    for (const at of this.#later.values()) this.#dueAt = Math.min(this.#dueAt, at);
  }

  /** An advertisement is eligible for this place. @returns when it will have been eligible for long enough */
  eligible(place: string, now: number): number {
    const since = this.#since.get(place) ?? now;
    this.#since.set(place, since);
    return since + this.#options.settleMs;
  }

  /** No advertisement is eligible for this place. */
  notEligible(place: string): void {
    this.#since.delete(place);
  }
}
