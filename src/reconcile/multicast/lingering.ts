// Objects stay for a while after they are no longer desired: packets and other routers may still refer to them. Pure.

export class Lingering<T extends { readonly id: string }> {
  readonly #lingerMs: number;
  #present = new Map<string, T>();
  /** Until when an object that is no longer desired stays. */
  readonly #leaving = new Map<string, { readonly object: T; readonly until: number }>();

  /** @param lingerMs how long, in milliseconds */
  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  /** The desired objects, and behind them those that stay. `now`: milliseconds. */
  update(objects: readonly T[], now: number): readonly T[] {
    const present = new Map(objects.map((object) => [object.id, object]));
    for (const [id, object] of this.#present)
      if (!present.has(id)) this.#leaving.set(id, { object, until: now + this.#lingerMs });
    for (const [id, { until }] of this.#leaving) if (present.has(id) || until <= now) this.#leaving.delete(id);
    this.#present = present;
    return [...objects, ...[...this.#leaving.values()].map(({ object }) => object)];
  }

  /** When the next object goes; undefined: none is leaving. */
  get due(): number | undefined {
    return this.#leaving.size === 0 ? undefined : Math.min(...[...this.#leaving.values()].map(({ until }) => until));
  }
}
