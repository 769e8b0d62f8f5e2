// Originators whose reachability has changed. Each of their advertisements is ordered again among those of its prefix,
// one source a step: a single originator may have advertised the whole table.
import type { Advertised } from './advertised.ts';
import { type Originator, type Reachability, advertisementsOf } from './preference.ts';
import type { WallTime } from '../model/wall-time.ts';

export class ReachabilityChanges {
  private readonly advertised: Advertised;
  private readonly wallTime: WallTime;
  /** And whether the originator was dormant at any time since its last evaluation. */
  private readonly changed = new Map<Originator, boolean>();
  private steps: Iterator<void> | undefined;

  constructor(advertised: Advertised, wallTime: WallTime) {
    this.advertised = advertised;
    this.wallTime = wallTime;
  }

  /** @param before what the originator's reachability was until now */
  add(originator: Originator, before: Reachability): void {
    this.changed.set(originator, before === 'dormant' || this.changed.get(originator) === true);
  }

  get pending(): boolean {
    return this.steps !== undefined || this.changed.size > 0;
  }

  /**
   * Evaluates at most `limit` sources.
   * @returns how much of `limit` is left; 0 if some are still to do
   */
  apply(limit: number): number {
    if (this.changed.size > 0) this.steps ??= this.evaluate();
    let left = limit;
    for (; this.steps && left > 0; left--) if (this.steps.next().done) this.steps = undefined;
    return left;
  }

  private *evaluate(): Generator<void> {
    for (const [originator, wasDormant] of this.changed) {
      this.changed.delete(originator); // later changes are evaluated again
      // From the end: removing an element moves one that was already visited into its place.
      const { sources } = originator;
      for (let i = sources.length - 1; i >= 0; i--) {
        const source = sources[i];
        if (!source) continue;
        for (const a of advertisementsOf(source)) {
          if (wasDormant) a.since = this.wallTime.now();
          this.advertised.reorder(a.node);
        }
        yield;
      }
    }
  }
}
