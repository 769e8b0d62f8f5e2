// The agent's part of telling senders, put together: what the programs have sent reaches the congestion loop (Resume,
// refusals of Fast CNP, the latest notifications), and hosts that refuse a format are remembered for the plan. It runs
// while the desired state has a notifier.
import { type CongestionLoop, type CongestionSettings, createCongestionLoop } from '../congestion/congestion.edge.ts';
import type { NumberedNotification } from '../congestion/history.ts';
import { noResume } from '../diagnosis/lost-notifications.ts';
import type { Intent } from '../intent/intent.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { HostCapabilities } from '../learned/capabilities.ts';
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, NotifierPlan } from '../plan/desired.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';

/** Without `notifications` no format is used that a host could refuse, and nobody is told to resume. */
const NOBODY_REFUSES = { capabilityExpiryMs: 600_000, resume: { level: 0, parameter: 0 } };

export interface CongestionSupervisorDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Rtnetlink;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  /** Hosts that refuse a format have become more or fewer. */
  readonly onCapabilities: () => void;
}

export class CongestionSupervisor {
  readonly #dependencies: CongestionSupervisorDependencies;
  /** Hosts that have refused a format; for the plan. */
  readonly capabilities: HostCapabilities;
  #loop: CongestionLoop | undefined;
  #problem: Problem | undefined;
  #node: CongestedNode | undefined;
  #reader: { close(): void } | undefined;
  readonly #expiry: Deadline;

  constructor(dependencies: CongestionSupervisorDependencies) {
    this.#dependencies = dependencies;
    this.capabilities = new HostCapabilities({ expiryMs: NOBODY_REFUSES.capabilityExpiryMs }, dependencies);
    this.#expiry = new Deadline(dependencies.clock, () => void this.#refused(() => this.capabilities.tick()));
  }

  /** After every re-plan. Never throws: what cannot be had is a problem, and is tried again with the next plan. */
  apply(intent: Intent, desired: DesiredState, node: CongestedNode | undefined): void {
    const { notifications } = intent;
    this.capabilities.configure({ expiryMs: notifications?.capabilityExpiryMs ?? NOBODY_REFUSES.capabilityExpiryMs });
    this.#expiry.by(this.capabilities.nextDeadline());
    if (!desired.notifier || !node) return this.#end();
    const settings = settingsOf(intent, desired, desired.notifier);
    try {
      if (this.#loop) this.#loop.configure(settings);
      else this.#loop = this.#create(settings);
      this.#listen(node);
      this.#problem = undefined;
    } catch (error) {
      const problem = noResume(error);
      if (!this.#problem) this.#dependencies.log.error(problem, 'the congestion loop cannot run');
      this.#problem = problem;
    }
  }

  get problems(): readonly Problem[] {
    return this.#problem ? [this.#problem] : [];
  }

  notifications(): readonly NumberedNotification[] {
    return this.#loop?.notifications() ?? [];
  }

  stop(): void {
    this.#expiry.cancel();
    this.#end();
  }

  #create(settings: CongestionSettings): CongestionLoop {
    return createCongestionLoop(settings, {
      ...this.#dependencies,
      claimResume: (flow) => this.#node?.claimResume(flow) ?? 'port-unknown',
      onRefusal: (host, format) => this.#refused(() => this.capabilities.lacks(host, format)),
    });
  }

  /** Once for each time that the congested node was opened; who was slowed down by an earlier run is taken over. */
  #listen(node: CongestedNode): void {
    if (this.#node === node) return;
    const loop = this.#loop!;
    this.#reader?.close();
    this.#reader = node.onNotification((sent) => loop.notified(sent), this.#dependencies);
    loop.adopt(node.slowedFlows(process.hrtime.bigint()));
    this.#node = node;
  }

  #end(): void {
    this.#reader?.close();
    this.#loop?.stop();
    this.#reader = this.#loop = this.#node = this.#problem = undefined;
  }

  #refused(change: () => boolean): boolean {
    const changed = change();
    if (changed) this.#dependencies.onCapabilities();
    this.#expiry.by(this.capabilities.nextDeadline());
    return changed;
  }
}

function settingsOf({ notifications }: Intent, { ports }: DesiredState, notifier: NotifierPlan): CongestionSettings {
  const { level, parameter } = notifications?.longHaul.resume ?? NOBODY_REFUSES.resume;
  return { ...notifier, ports, resume: { level, parameter } };
}
