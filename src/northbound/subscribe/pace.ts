// How often the units are compared: every 5 ms while they change. All comparisons together take at most a fifth of the
// time then: what costs much is compared less often. While nothing changes they take a fiftieth, but are not further
// apart than 100 ms for that.
const SHORTEST_MS = 5;
const IDLE_MS = { least: 20, most: 100 } as const;
const SHARE = 5;
const IDLE_SHARE = 50;
/** Of the latest comparison in the average cost. */
const WEIGHT = 0.2;
/** Without a change for so many comparisons, the wait doubles. */
const QUIET = 10;

interface UnitPace {
  costMs: number;
  waitMs: number;
  quiet: number;
}

export class Pace {
  readonly #units = new Map<string, UnitPace>();

  /**
   * Called after a comparison.
   * @param costMs processor time
   * @returns how long to wait for the next, milliseconds
   */
  next(unit: string, costMs: number, hasChanged: boolean): number {
    const pace = this.#units.get(unit) ?? { costMs, waitMs: SHORTEST_MS, quiet: 0 };
    this.#units.set(unit, pace);
    // What else ran meanwhile is in it too: one costly comparison is none yet.
    pace.costMs += (costMs - pace.costMs) * WEIGHT;
    pace.quiet = hasChanged ? 0 : pace.quiet + 1;
    const all = [...this.#units.values()].reduce((sum, other) => sum + other.costMs, 0);
    const longest = Math.min(Math.max(all * IDLE_SHARE, IDLE_MS.least), IDLE_MS.most);
    if (hasChanged) pace.waitMs = SHORTEST_MS;
    else if (pace.quiet % QUIET === 0) pace.waitMs = Math.min(pace.waitMs * 2, longest);
    return Math.max(pace.waitMs, all * SHARE);
  }

  forget(unit: string): void {
    this.#units.delete(unit);
  }
}
