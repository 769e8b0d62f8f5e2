// Reachability of originators, and the hold after loss. A proxy has to be in the same routing domain (PNC-1-b). FRR
// keeps the LSPs of a dead router until they expire, so a learner must check that the originator is still there. A lost
// originator is held for the hold time and still counts. Then it is dormant: it is kept, because the carrier does not
// report it again when the router comes back, but it does not count.
import type { ReachabilityReport } from '../model/advertisement.ts';
import type { Origin, Originator, Reachability, Source } from './preference.ts';

export class Originators {
  private readonly byCarrier = new Map<Origin, Map<string, Originator>>();
  private readonly reachable = new Map<Origin, ReadonlySet<string>>();
  private readonly held = new Set<Originator>();
  /** The earliest end of a hold; NaN: not computed yet. */
  private deadline = Infinity;
  private readonly changed: (originator: Originator, before: Reachability) => void;

  /**
   * @param changed called after the reachability of an originator, and thus the rank of its advertisements, has changed
   */
  constructor(changed: (originator: Originator, before: Reachability) => void) {
    this.changed = changed;
  }

  /** The originator. A new one counts as reachable only if the carrier has already reported it so. */
  get(carrier: Origin, name: string): Originator {
    let names = this.byCarrier.get(carrier);
    if (!names) this.byCarrier.set(carrier, (names = new Map<string, Originator>()));
    let originator = names.get(name);
    if (!originator) {
      const reachable = carrier === 'local' || this.reachable.get(carrier)?.has(name) === true;
      originator = { carrier, name, reachability: reachable ? 'reachable' : 'dormant', heldUntil: 0, sources: [] };
      names.set(name, originator);
    }
    return originator;
  }

  attach(source: Source): void {
    const { sources } = source.originator;
    source.place = sources.length;
    sources.push(source);
  }

  /**
   * The last source takes the place of the removed one. A router in BGP has sources by the hundred thousand, and a Set
   * of them would be copied as a whole when it grows.
   */
  detach(source: Source): void {
    const { originator } = source;
    const { sources } = originator;
    const last = sources.pop()!;
    if (last !== source) sources[(last.place = source.place)] = last;
    if (sources.length > 0) return;
    this.byCarrier.get(originator.carrier)?.delete(originator.name);
    this.release(originator);
  }

  report(report: ReachabilityReport, now: number, holdMs: number): void {
    const { reachable } = report;
    this.reachable.set(report.carrier, reachable);
    for (const originator of this.byCarrier.get(report.carrier)?.values() ?? []) {
      if (reachable.has(originator.name)) {
        if (originator.reachability !== 'reachable') this.enter(originator, 'reachable');
      } else if (originator.reachability === 'reachable') {
        originator.heldUntil = now + holdMs;
        this.enter(originator, holdMs > 0 ? 'held' : 'dormant');
      }
    }
  }

  /** Drops those whose hold time is over. */
  expire(now: number): boolean {
    const over = [...this.held].filter((originator) => originator.heldUntil <= now);
    for (const originator of over) this.enter(originator, 'dormant');
    return over.length > 0;
  }

  nextDeadline(): number | undefined {
    if (Number.isNaN(this.deadline)) {
      this.deadline = Infinity;
      for (const { heldUntil } of this.held) this.deadline = Math.min(this.deadline, heldUntil);
    }
    return this.deadline === Infinity ? undefined : this.deadline;
  }

  counts(): { originators: number; held: number; dormant: number } {
    const all = [...this.byCarrier.values()].flatMap((names) => [...names.values()]);
    return {
      originators: all.length,
      held: this.held.size,
      dormant: all.filter((o) => o.reachability === 'dormant').length,
    };
  }

  private enter(originator: Originator, reachability: Reachability): void {
    const before = originator.reachability;
    originator.reachability = reachability;
    if (reachability === 'held') {
      this.held.add(originator);
      this.deadline = Math.min(this.deadline, originator.heldUntil);
    } else this.release(originator);
    this.changed(originator, before);
  }

  private release(originator: Originator): void {
    if (this.held.delete(originator) && originator.heldUntil === this.deadline)
      this.deadline = this.held.size === 0 ? Infinity : NaN;
  }
}
