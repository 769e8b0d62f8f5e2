// From the carriers to the dataplane: reports go into the learned table, its difference goes to reconcile, a slice a turn of the event loop, so that
// ten thousand prefixes that arrive at once do not hold up hellos.
import type { CarrierSink } from '../carriers/carrier.ts';
import type { Intent } from '../intent/intent.ts';
import type { LearnedTable } from '../learned/table.ts';
import type { CarrierName } from '../model/advertisement.ts';
import type { Clock } from '../model/clock.ts';
import { senderProxyChanges } from '../plan/congested-node.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';

/** Prefixes looked at in one turn: some milliseconds of work. */
const SLICE = 1000;

export interface LearningModules {
  readonly table: LearnedTable;
  readonly clock: Clock;
  readonly intent: () => Intent;
  readonly congestedNode: () => CongestedNode | undefined;
}

export class Learning implements CarrierSink {
  readonly #modules: LearningModules;
  /** Source → originator, as the carrier that runs has reported it. */
  #reported = new Map<string, string>();
  #cancelForget: (() => void) | undefined;
  #scheduled = false;
  #cancelDeadline: (() => void) | undefined;
  #closed = false;

  constructor(modules: LearningModules) {
    this.#modules = modules;
  }

  learned(report: Parameters<CarrierSink['learned']>[0]): void {
    if (report.prefixes.length > 0) this.#reported.set(report.source, report.originator);
    else this.#reported.delete(report.source);
    this.#modules.table.learned(report);
    this.#schedule();
  }

  reachability(report: Parameters<CarrierSink['reachability']>[0]): void {
    this.#modules.table.reachability(report);
    this.#schedule();
  }

  /**
   * The carrier was stopped, perhaps to be replaced. What it taught is held like that of a lost originator; what its successor has not said again by
   * then is forgotten.
   */
  carrierStopped(carrier: CarrierName, holdMs: number): void {
    const before = this.#reported;
    this.#reported = new Map();
    this.reachability({ carrier, reachable: new Set() });
    this.#cancelForget?.();
    this.#cancelForget = this.#modules.clock.after(holdMs, () => {
      for (const [source, originator] of before) {
        if (!this.#reported.has(source)) this.#modules.table.learned({ carrier, source, originator, prefixes: [] });
      }
      this.#schedule();
    });
  }

  /** After the table was changed by other hands. */
  changed(): void {
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancelDeadline?.();
    this.#cancelForget?.();
  }

  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#closed) this.#turn();
    });
  }

  #turn(): void {
    const { table, intent, congestedNode } = this.#modules;
    const changes = table.takeChanges(SLICE);
    const { upserts, deletes } = senderProxyChanges(intent(), changes);
    congestedNode()?.changeSenders(upserts, deletes);
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
