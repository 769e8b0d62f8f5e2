// How often the units are compared: every 5 ms while they change. All comparisons together take at most a fifth of the
// time then. While nothing changes they take a fiftieth, but are not further apart than 100 ms for that. Of that time
// each unit has a part by the square root of its cost: a large table is compared less often, and delays small ones
// little. No other division has a smaller sum of waits.
const SHORTEST_MS = 5;
const IDLE_MS = { least: 20, most: 100 } as const;
const SHARE = 5;
const IDLE_SHARE = 50;
/** Of the latest comparison in the average cost, where it is higher, and where it is lower. */
const WEIGHT = { higher: 0.2, lower: 0.5 } as const;
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
    // What else ran meanwhile is in it too: one costly comparison is none yet. The first is costly, since it is new.
    pace.costMs += (costMs - pace.costMs) * (costMs > pace.costMs ? WEIGHT.higher : WEIGHT.lower);
    pace.quiet = hasChanged ? 0 : pace.quiet + 1;
    const longest = Math.min(Math.max(this.#waitMs(pace, IDLE_SHARE), IDLE_MS.least), IDLE_MS.most);
    if (hasChanged) pace.waitMs = SHORTEST_MS;
    else if (pace.quiet % QUIET === 0) pace.waitMs = Math.min(pace.waitMs * 2, longest);
    return Math.max(pace.waitMs, this.#waitMs(pace, SHARE));
  }

  /** So that all comparisons together take one part in `share` of the time. */
  #waitMs({ costMs }: UnitPace, share: number): number {
    let roots = 0;
    for (const other of this.#units.values()) roots += Math.sqrt(other.costMs);
    return share * Math.sqrt(costMs) * roots;
  }

  forget(unit: string): void {
    this.#units.delete(unit);
  }
}
