// From the carriers to the dataplane: reports go into the learned table, its difference goes to reconcile, a slice a
// turn of the event loop, so that ten thousand prefixes that arrive at once do not hold up hellos.
import type { CarrierSink } from '../carriers/carrier.ts';
import type { Intent } from '../intent/intent.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { CarrierName, LearnedReport, ReachabilityReport } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import { nextTurn } from '../model/turns.ts';
import { senderProxyChanges } from '../plan/congested-node.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';

/** Prefixes looked at in one turn: some milliseconds of work. */
const SLICE = 1000;

export interface LearningModules {
  readonly table: LearnedTable;
  readonly clock: Clock;
  readonly intent: () => Intent;
  readonly congestedNode: () => CongestedNode | undefined;
  /** SIDs or router addresses have changed, or their reachability has. */
  readonly onRouters: () => void;
}

interface Said {
  readonly carrier: CarrierName;
  readonly source: string;
  readonly originator: string;
}

const keyOf = ({ carrier, source }: Pick<Said, 'carrier' | 'source'>): string => `${carrier} ${source}`;

export class Learning implements CarrierSink {
  readonly #modules: LearningModules;
  /**
   * What carriers that were stopped had reported and their successor has not, and when it is forgotten; by carrier and
   * source.
   */
  readonly #unsaid = new Map<string, Said & { readonly forgetAt: number }>();
  readonly #cancelForget = new Set<() => void>();
  #scheduled = false;
  #cancelDeadline: (() => void) | undefined;
  #closed = false;

  constructor(modules: LearningModules) {
    this.#modules = modules;
  }

  learned(report: LearnedReport): void {
    if (this.#unsaid.size > 0) this.#unsaid.delete(keyOf(report));
    this.#modules.table.learned(report);
    this.#schedule();
  }

  reachability(report: ReachabilityReport): void {
    this.#modules.table.reachability(report);
    this.#schedule();
  }

  /**
   * The carrier was stopped, perhaps to be replaced. What it taught is held like that of a lost originator; what its
   * successor has not said again by then is forgotten.
   */
  carrierStopped(carrier: CarrierName, holdMs: number): void {
    const { clock, table } = this.#modules;
    const forgetAt = clock.now() + holdMs;
    for (const { source, originator } of table.sourcesOf(carrier)) {
      const key = keyOf({ carrier, source });
      if (!this.#unsaid.has(key)) this.#unsaid.set(key, { carrier, source, originator, forgetAt });
    }
    this.reachability({ carrier, reachable: new Set() });
    // A timer for each stop: what an earlier one left unsaid is due earlier.
    const cancel = clock.after(holdMs, () => {
      this.#cancelForget.delete(cancel);
      this.#forgetUnsaid(carrier, forgetAt);
    });
    this.#cancelForget.add(cancel);
  }

  #forgetUnsaid(carrier: CarrierName, until: number): void {
    for (const [key, { carrier: by, source, originator, forgetAt }] of this.#unsaid) {
      if (by !== carrier || forgetAt > until) continue;
      this.#unsaid.delete(key);
      this.#modules.table.learned({ carrier, source, originator, prefixes: [] });
    }
    this.#schedule();
  }

  /** After the table was changed by other hands. */
  changed(): void {
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancelDeadline?.();
    for (const cancel of this.#cancelForget) cancel();
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    nextTurn(() => {
      this.#scheduled = false;
      if (!this.#closed) this.#turn();
    });
  }

  #turn(): void {
    const { table, intent, congestedNode, onRouters } = this.#modules;
    const changes = table.takeChanges(SLICE);
    const { upserts, deletes } = senderProxyChanges(intent(), changes);
    congestedNode()?.changeSenders(upserts, deletes);
    if (table.routers.takeChanged()) onRouters();
    if (changes.more) this.#schedule();
    this.#watchDeadline();
  }

  /** Entries held for an unreachable originator are dropped when their time has come. */
  #watchDeadline(): void {
    this.#cancelDeadline?.();
    const { table, clock } = this.#modules;
    const deadline = table.nextDeadline();
    if (deadline === undefined) return;
    this.#cancelDeadline = clock.after(Math.max(1, deadline - clock.now()), () => {
      table.tick();
      this.#schedule();
    });
  }
}
