// What a router between IS-IS levels or OSPF areas has to decide about: keys that have changed, a batch per turn of the
// event loop, and those that have not been eligible for long enough. Which advertisement is leaked, and into which
// level or area, the carrier decides.

interface LeakQueueOptions {
  /** Keys decided about in one turn. */
  readonly batch: number;
  /**
   * How long something must be eligible before it is leaked: long enough for a withdrawal, or for the advertisement of
   * a router that comes first, to arrive.
   */
  readonly settleMs: number;
}

/**
 * Times are milliseconds of the carrier's own clock; a key names a prefix or a SID, a place one direction of leaking
 * it.
 */
export class LeakQueue {
  readonly #options: LeakQueueOptions;
  readonly #dirty = new Set<string>();
  /** Not ripe yet, and when they will be. */
  readonly #later = new Map<string, number>();
  /** Since when there is something eligible, by place. */
  readonly #since = new Map<string, number>();
  #dueAt = Infinity;

  constructor(options: LeakQueueOptions) {
    this.#options = options;
  }

  /** When `take` has something to do; Infinity for never. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** Keys are waiting that need no time to ripen. */
  get isBusy(): boolean {
    return this.#dirty.size > 0;
  }

  mark(key: string, now: number): void {
    this.#dirty.add(key);
    this.#dueAt = Math.min(this.#dueAt, now);
  }

  /** @param decide says when the key is to be decided about again; Infinity for when it is marked */
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
      const ripe = decide(key);
      if (ripe < Infinity) this.#later.set(key, ripe);
    }
    this.#dueAt = this.#dirty.size > 0 ? now : Infinity;
    for (const at of this.#later.values()) this.#dueAt = Math.min(this.#dueAt, at);
  }

  /** Something is eligible for this place. @returns when it will have been so for long enough */
  eligible(place: string, now: number): number {
    const since = this.#since.get(place) ?? now;
    this.#since.set(place, since);
    return since + this.#options.settleMs;
  }

  /** Nothing is. */
  notEligible(place: string): void {
    this.#since.delete(place);
  }
}
