// How this cnpd is watched: its state for gNMI, metrics and health over HTTP, and the log of problems. All three say
// the same.
import { counterMeaning } from '../state/counter-meanings.ts';
import { carrierSummaries, learnedSummary } from '../state/telemetry.ts';
import { healthOf } from '../state/state-source.ts';
import type { Intent } from '../intent/intent.ts';
import type { Clock } from '../model/clock.ts';
import type { Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { StateSource } from '../model/state.ts';
import { type CarrierSummary, type GroupSummary, NO_HOLDS, type TelemetrySource } from '../model/telemetry-state.ts';
import { finish } from '../model/work.ts';
import { TableCensus } from '../state/table-census.ts';
import { groupSummaries } from '../state/group-summaries.ts';
import { type ShownParts, daemonState, problemsOf } from './daemon-state.ts';
import type { Logging } from './logging.ts';
import { MetricsPart } from './metrics-part.ts';
import { ProblemWatch } from './problem-watch.ts';
import { Readiness } from './readiness.ts';
import { VERSION } from './version.ts';

/** Of a turn of the event loop, for the groups of a scrape. */
const GROUPS_BUDGET_MS = 2;

export interface TelemetryDependencies {
  readonly clock: Clock;
  readonly logging: Logging;
  readonly onError: (error: unknown) => void;
}

export class Telemetry {
  /** For gNMI. */
  readonly state: StateSource;
  readonly #parts: ShownParts;
  readonly #log: Log;
  readonly #readiness: Readiness;
  readonly #watch: ProblemWatch;
  readonly #metrics: MetricsPart;
  readonly #census: TableCensus;
  #isStarting = true;

  constructor(parts: ShownParts, { clock, logging, onError }: TelemetryDependencies) {
    this.#parts = parts;
    this.#log = logging.component('daemon');
    const problems = (): Problem[] => [...problemsOf(parts), ...this.#metrics.problems()];
    this.#readiness = this.#createReadiness();
    this.state = daemonState(parts, { problems, waitsFor: (known) => this.#readiness.waitsFor(known) });
    const { work, counters, kernel } = parts;
    this.#census = new TableCensus({ work, clock, count: () => kernel()?.dataplane.tableUse() });
    this.#metrics = new MetricsPart({
      ...{ source: this.#source(), work, clock, count: counters.count },
      log: logging.component('metrics'),
    });
    const log = logging.component('problems');
    this.#watch = new ProblemWatch({ problems, clock, log, onError, onLook: (known) => this.#looked(known) });
  }

  #createReadiness(): Readiness {
    const { kernel, coordinator, started, carriers } = this.#parts;
    return new Readiness({
      isKernelOpen: () => kernel() !== undefined,
      isPlanned: () => coordinator.desired !== undefined,
      isTried: started,
      carriers: () => this.#carriers(),
      runOf: (name) => carriers[name].carrier,
    });
  }

  #carriers(): CarrierSummary[] {
    return carrierSummaries(this.#parts.file.intent, this.#parts.carriers);
  }

  #source(): TelemetrySource {
    const { startedAt, table, receivers } = this.#parts;
    return {
      state: this.state,
      daemon: () => {
        const { known } = this.#watch;
        return {
          version: VERSION,
          startedAt: startedAt.getTime() / 1000,
          health: healthOf(known, this.#readiness.waitsFor(known)),
          problems: known,
        };
      },
      carriers: () => this.#carriers(),
      learned: () => learnedSummary(table),
      holds: () => receivers()?.source.summary() ?? NO_HOLDS,
      groups: () => this.#groups(),
      tables: () => this.#census.tables(),
      stages: () => this.#readiness.stages(this.#watch.known),
      meaningOf: counterMeaning,
    };
  }

  #groups(): Promise<GroupSummary[]> {
    const { work, file, members, table, kernel } = this.#parts;
    const roles = kernel()?.dataplane.multicast?.groupsView() ?? [];
    const sources = { named: file.intent, intent: members.intent, routers: table.routers, roles };
    return finish(work, groupSummaries(sources), GROUPS_BUDGET_MS);
  }

  /** The log has when a start is over: what is declared is in force, or named as a problem. */
  #looked(known: readonly Problem[]): void {
    const isStarting = this.#readiness.waitsFor(known).length > 0;
    if (this.#isStarting && !isStarting)
      this.#log.info({ event: 'daemon.running', health: healthOf(known, []), problems: known.length }, 'running');
    this.#isStarting = isStarting;
  }

  /** Serves what the file declares: first before the start is complete, so that it can be watched. */
  follow(intent: Pick<Intent, 'metrics'>): Promise<void> {
    return this.#metrics.configure(intent);
  }

  /** Everything was tried: its problems are logged at once, and looked for from now on. */
  look(): void {
    this.#watch.look();
  }

  async stop(): Promise<void> {
    this.#watch.stop();
    await this.#metrics.close();
  }
}
