// The parts of the agent that receive packets of their own: STAMP and the congestion loop, and the reverse-path check
// that holds for both. They live as long as the daemon and work by the intent and the plan.
import type { Intent } from '../intent/intent.ts';
import { RoutesBack } from '../kernel/netlink/routes-back.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import { ReversePath } from '../kernel/reverse-path.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';
import { CongestionSupervisor } from './congestion-supervisor.ts';
import type { Logging } from './logging.ts';
import { StampSupervisor } from './stamp-supervisor.ts';

export interface ReceiversDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Rtnetlink;
  readonly clock: Clock;
  readonly logging: Logging;
  readonly count: Count;
  readonly interfaceName: (ifindex: number) => string | undefined;
  /** A round-trip time, or what is known of a host, is not what it was. */
  readonly onInput: () => void;
  /** Something that came by these ports, or has its source behind them, was not believed. */
  readonly onDoubts: (ports: readonly number[]) => void;
}

export class Receivers {
  readonly stamp: StampSupervisor;
  readonly congestion: CongestionSupervisor;
  readonly #reversePath: ReversePath;
  readonly #routesBack: RoutesBack;

  constructor(dependencies: ReceiversDependencies) {
    const { poller, rtnetlink, clock, logging, count, interfaceName, onInput, onDoubts } = dependencies;
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
  }

  /** Before the plan of this intent, which needs what is measured. */
  configure(intent: Intent): void {
    this.#reversePath.enabled = intent.router.reversePathCheck;
    this.stamp.apply(intent);
  }

  /** After each plan. */
  follow(desired: DesiredState, intent: Intent, node: CongestedNode | undefined): void {
    this.#reversePath.ports = new Map(desired.learning?.ports.map((port) => [port.ifindex, port]));
    this.congestion.apply(intent, desired, node);
  }

  problems(): readonly Problem[] {
    return [...this.stamp.problems, ...this.congestion.problems];
  }

  stop(): void {
    this.stamp.stop();
    this.congestion.stop();
  }

  /** After what was received on its sockets has ended. */
  close(): void {
    this.#routesBack.close();
  }
}
