// The parts of the agent that receive packets themselves, or the programs' records of them: STAMP, the congestion loop
// and the source, and the reverse-path check of the first two. They live as long as the daemon and follow the intent
// and the plan.
import type { Intent } from '../intent/intent.ts';
import { Neighbors } from '../kernel/netlink/neighbors.ts';
import { RoutesBack } from '../kernel/netlink/routes-back.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import { ReversePath } from '../kernel/reverse-path.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { Recorder } from '../model/recording.ts';
import type { ReleaseRequest } from '../model/source.ts';
import type { Work } from '../model/work.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import { CongestionSupervisor } from './congestion-supervisor.ts';
import { FlowControlSupervisor } from './flow-control-supervisor.ts';
import type { Logging } from './logging.ts';
import { SourceSupervisor } from './source-supervisor.ts';
import { StampSupervisor } from './stamp-supervisor.ts';

export interface ReceiversDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Rtnetlink;
  readonly clock: Clock;
  readonly work: Work;
  readonly logging: Logging;
  readonly count: Count;
  readonly recorder: Recorder;
  readonly interfaceName: (ifindex: number) => string | undefined;
  /** A round-trip time, or the known capabilities of a host, have changed. */
  readonly onInput: () => void;
  /** Packets that arrived at these ports, or whose source is behind them, were rejected. */
  readonly onDoubts: (ports: readonly number[]) => void;
}

export class Receivers {
  readonly stamp: StampSupervisor;
  readonly congestion: CongestionSupervisor;
  readonly source: SourceSupervisor;
  readonly flowControl: FlowControlSupervisor;
  readonly #reversePath: ReversePath;
  readonly #routesBack: RoutesBack;
  readonly #neighbors: Neighbors;

  constructor(dependencies: ReceiversDependencies) {
    const { poller, rtnetlink, clock, work, logging, count, interfaceName, onInput, onDoubts, recorder } = dependencies;
    const routesBack = (this.#routesBack = RoutesBack.open());
    const reversePath = (this.#reversePath = new ReversePath({
      waysTo: (to) => routesBack.waysTo(to),
      onDoubts,
      now: () => clock.now(),
      count,
    }));
    const common = { poller, rtnetlink, clock, count, reversePath };
    this.stamp = new StampSupervisor({ ...common, log: logging.component('stamp'), interfaceName, onChange: onInput });
    this.congestion = new CongestionSupervisor({
      ...common,
      log: logging.component('congestion'),
      onCapabilities: onInput,
    });
    this.source = new SourceSupervisor({
      ...{ poller, clock, work, count, recorder },
      log: logging.component('source'),
      rttMs: () => this.stamp.rttMs,
    });
    const neighbors = (this.#neighbors = Neighbors.open());
    this.flowControl = new FlowControlSupervisor({
      ...{ poller, clock, work, count, recorder, routesBack, neighbors, interfaceName },
      log: logging.component('flow-control'),
    });
  }

  /** Called before the plan of this intent, which uses the measurements. */
  configure(intent: Intent): void {
    this.#reversePath.enabled = intent.router.reversePathCheck;
    this.stamp.apply(intent);
  }

  /** Called after each plan. */
  follow(
    desired: DesiredState,
    intent: Intent,
    dataplane: Pick<Dataplane, 'congestedNode' | 'source' | 'hold'> | undefined,
  ): void {
    this.#reversePath.ports = new Map(desired.learning?.ports.map((port) => [port.ifindex, port]));
    this.congestion.apply(intent, desired, dataplane?.congestedNode);
    this.source.apply(desired, dataplane);
    this.flowControl.apply(desired, dataplane);
  }

  problems(): readonly Problem[] {
    return [
      ...this.stamp.problems,
      ...this.congestion.problems,
      ...this.source.problems(),
      ...this.flowControl.problems(),
    ];
  }

  /** Stops the congestion loop also if STAMP throws. */
  stop(): void {
    try {
      this.stamp.stop();
    } finally {
      this.congestion.stop();
    }
  }

  /** All that is held goes on. */
  async letGo(): Promise<void> {
    await Promise.all([this.source.stop(), this.flowControl.stop()]);
  }

  /** Machines that hold begin anew; those of the source with the next plan. */
  async restart(): Promise<void> {
    await Promise.all([this.source.stop(), this.flowControl.restart()]);
  }

  /** Returns how many flows, and how much traffic, are let go. */
  release(which: ReleaseRequest): number {
    return this.source.release(which) + (which === 'all' ? this.flowControl.releaseAll() : 0);
  }

  /** Called after the receivers' sockets are closed. */
  close(): void {
    this.#routesBack.close();
    this.#neighbors.close();
  }
}
