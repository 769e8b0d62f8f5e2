// Objects stay for a while after they are no longer desired: packets and other routers may still refer to them. Pure.

/** Between two looks at an object that is in use longer than it was to stay. */
const LOOK_AGAIN_MS = 1000;

export class Lingering<T extends { readonly id: string }> {
  readonly #lingerMs: number;
  #present = new Map<string, T>();
  /** Until when an object that is no longer desired stays. */
  readonly #leaving = new Map<string, { readonly object: T; readonly until: number }>();

  /** @param lingerMs how long, in milliseconds */
  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  /**
   * The desired objects, and behind them those that stay. `now`: milliseconds. `isInUse`: an object whose time is over
   * stays while this is so.
   */
  update(objects: readonly T[], now: number, isInUse: (object: T) => boolean = () => false): readonly T[] {
    const present = new Map(objects.map((object) => [object.id, object]));
    for (const [id, object] of this.#present)
      if (!present.has(id)) this.#leaving.set(id, { object, until: now + this.#lingerMs });
    for (const [id, { object, until }] of this.#leaving) {
      if (present.has(id)) this.#leaving.delete(id);
      else if (until <= now && isInUse(object)) this.#leaving.set(id, { object, until: now + LOOK_AGAIN_MS });
      else if (until <= now) this.#leaving.delete(id);
    }
    this.#present = present;
    return [...objects, ...[...this.#leaving.values()].map(({ object }) => object)];
  }

  /** When the next object goes; undefined: none is leaving. */
  get due(): number | undefined {
    return this.#leaving.size === 0 ? undefined : Math.min(...[...this.#leaving.values()].map(({ until }) => until));
  }
}
