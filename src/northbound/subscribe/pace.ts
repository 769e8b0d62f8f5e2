// How often the units are compared: every 10 ms while they change, and every 100 ms after a while without a change. All
// comparisons together take at most a tenth of the time: what costs much is compared less often.
const SHORTEST_MS = 10;
const LONGEST_IDLE_MS = 100;
const SHARE = 10;
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
   * @returns how long to wait for the next, milliseconds
   */
  next(unit: string, costMs: number, hasChanged: boolean): number {
    const pace = this.#units.get(unit) ?? { costMs, waitMs: SHORTEST_MS, quiet: 0 };
    this.#units.set(unit, pace);
    pace.costMs = costMs;
    pace.quiet = hasChanged ? 0 : pace.quiet + 1;
    if (hasChanged) pace.waitMs = SHORTEST_MS;
    else if (pace.quiet % QUIET === 0) pace.waitMs = Math.min(pace.waitMs * 2, LONGEST_IDLE_MS);
    const all = [...this.#units.values()].reduce((sum, other) => sum + other.costMs, 0);
    return Math.max(pace.waitMs, all * SHARE);
  }

  forget(unit: string): void {
    this.#units.delete(unit);
  }
}
