// How full the bounded tables of the programs are. The programs write some of them, with up to a hundred thousand
// entries, and the kernel does not say how many there are. So they are counted in steps, at most once a minute, and
// only when somebody asks. Whoever asks gets the latest count and its age; the first one waits for it.
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { TableUse, TablesSummary } from '../model/telemetry-state.ts';
import { type Steps, type Work, finish } from '../model/work.ts';

const RECOUNT_MS = 60_000;
/** In one turn of the event loop. */
const BUDGET_MS = 2;

export interface TableCensusDependencies {
  readonly work: Work;
  readonly clock: Clock;
  /** Undefined: there are no tables yet. */
  readonly count: () => Steps<TableUse[]> | undefined;
}

export class TableCensus {
  readonly #dependencies: TableCensusDependencies;
  #latest: { readonly tables: readonly TableUse[]; readonly at: number } | undefined;
  #counting: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(dependencies: TableCensusDependencies) {
    this.#dependencies = dependencies;
  }

  /** Rejects with the error of the latest count: an old number would hide it. */
  async tables(): Promise<TablesSummary> {
    const { clock } = this.#dependencies;
    if (this.#latest === undefined || clock.now() - this.#latest.at >= RECOUNT_MS) this.#counting ??= this.#recount();
    if (this.#latest === undefined) await this.#counting;
    if (this.#failure !== undefined) throw this.#failure;
    return { tables: this.#latest?.tables ?? [], ageMs: clock.now() - (this.#latest?.at ?? clock.now()) };
  }

  async #recount(): Promise<void> {
    const { work, clock, count } = this.#dependencies;
    try {
      const steps = count();
      this.#latest = steps && { tables: await finish(work, steps, BUDGET_MS), at: clock.now() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(messageOf(error));
      this.#latest = undefined;
    } finally {
      this.#counting = undefined;
    }
  }
}
