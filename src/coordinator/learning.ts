// Passes the carriers' reports to the learned table, and the table's changes to the plan. Changes are passed on in
// steps, so that a burst of ten thousand prefixes does not delay hellos.
import type { LearnedTable } from '../learned/table.ts';
import type { CarrierName, LearnedReport, ReachabilityReport } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import type { TopologyReport } from '../model/topology.ts';
import { Deadline } from '../model/deadline.ts';
import type { Steps, Work } from '../model/work.ts';

/** Prefixes per step: about 1 ms. */
const STEP = 250;
const BUDGET_MS = 3;

export interface LearningDependencies {
  readonly table: LearnedTable;
  readonly clock: Clock;
  readonly work: Work;
  /** The table's senders have changed. */
  readonly onSenders: () => void;
  /** SIDs or router addresses have changed, or their reachability has. */
  readonly onRouters: () => void;
  /** A carrier has reported another topology. */
  readonly onTopology: () => void;
  /** All that was reported so far has been passed on. */
  readonly onSettled: () => void;
}

interface Taught {
  readonly carrier: CarrierName;
  readonly source: string;
  readonly originator: string;
}

const keyOf = ({ carrier, source }: Pick<Taught, 'carrier' | 'source'>): string => `${carrier} ${source}`;

export class Learning {
  readonly #dependencies: LearningDependencies;
  /**
   * Sources of stopped carriers that their successors have not reported again, and when they are forgotten; by carrier
   * and source.
   */
  readonly #unrepeated = new Map<string, Taught & { readonly forgetAt: number }>();
  /** Carriers that have stopped and not reported a topology since, and when theirs is forgotten. */
  readonly #oldTopologies = new Map<CarrierName, number>();
  readonly #cancelForget = new Set<() => void>();
  /** The table has changes to pass on. */
  #changed = false;
  #cancelJob: (() => void) | undefined;
  /** Next expiry of entries that are held for an unreachable originator. */
  readonly #expiry: Deadline;
  #closed = false;

  constructor(dependencies: LearningDependencies) {
    this.#dependencies = dependencies;
    this.#expiry = new Deadline(dependencies.clock, () => {
      dependencies.table.tick();
      this.#schedule();
    });
  }

  learned(report: LearnedReport): void {
    if (this.#unrepeated.size > 0) this.#unrepeated.delete(keyOf(report));
    this.#dependencies.table.learned(report);
    this.#schedule();
  }

  reachability(report: ReachabilityReport): void {
    this.#dependencies.table.reachability(report);
    this.#schedule();
  }

  topology(report: TopologyReport): void {
    this.#oldTopologies.delete(report.carrier);
    this.#dependencies.table.topology.report(report);
    this.#schedule();
  }

  /**
   * The carrier was stopped, perhaps to be replaced. Its entries are held for `holdMs`, like those of a lost
   * originator. Entries that its successor has not reported by then are forgotten.
   */
  carrierStopped(carrier: CarrierName, holdMs: number): void {
    const { clock, table } = this.#dependencies;
    const forgetAt = clock.now() + holdMs;
    for (const { source, originator } of table.sourcesOf(carrier)) {
      const key = keyOf({ carrier, source });
      if (!this.#unrepeated.has(key)) this.#unrepeated.set(key, { carrier, source, originator, forgetAt });
    }
    if (!this.#oldTopologies.has(carrier)) this.#oldTopologies.set(carrier, forgetAt);
    this.reachability({ carrier, reachable: new Set() });
    // One timer per stop: entries of an earlier stop expire earlier.
    const cancel = clock.after(holdMs, () => {
      this.#cancelForget.delete(cancel);
      this.#forgetUnrepeated(carrier, forgetAt);
    });
    this.#cancelForget.add(cancel);
  }

  #forgetUnrepeated(carrier: CarrierName, until: number): void {
    for (const [key, { carrier: by, source, originator, forgetAt }] of this.#unrepeated) {
      if (by !== carrier || forgetAt > until) continue;
      this.#unrepeated.delete(key);
      this.#dependencies.table.learned({ carrier, source, originator, advertisements: [] });
    }
    if ((this.#oldTopologies.get(carrier) ?? Infinity) <= until) this.topology({ carrier, areas: [] });
    this.#schedule();
  }

  /** Schedules a step after another component has changed the table. */
  changed(): void {
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancelJob?.();
    this.#expiry.cancel();
    for (const cancel of this.#cancelForget) cancel();
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#changed = true;
    this.#cancelJob ??= this.#dependencies.work.run(this.#job(), {
      budgetMs: BUDGET_MS,
      onDone: () => (this.#cancelJob = undefined),
    });
  }

  *#job(): Steps {
    while (this.#changed) {
      this.#changed = false;
      this.#passOn();
      yield;
    }
  }

  #passOn(): void {
    const { table, onSenders, onRouters, onTopology, onSettled } = this.#dependencies;
    const before = table.senders;
    const { more } = table.takeChanges(STEP);
    if (table.senders !== before) onSenders();
    if (table.routers.takeChanged()) onRouters();
    if (table.topology.takeChanged()) onTopology();
    if (more) this.#changed = true;
    else onSettled();
    this.#expiry.by(table.nextDeadline());
  }
}
