// Runs the congestion loop (Resume, refusals of Fast CNP, the latest notifications) while the desired state has a
// notifier. It hands the programs' sent notifications to the loop, and keeps the hosts that refuse a format for the
// plan.
import { type CongestionLoop, type CongestionSettings, createCongestionLoop } from '../congestion/congestion.edge.ts';
import { noResume } from '../diagnosis/lost-notifications.ts';
import type { Intent } from '../intent/intent.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import type { ReversePath } from '../kernel/reverse-path.ts';
import { HostCapabilities } from '../learned/capabilities.ts';
import type { Clock } from '../model/clock.ts';
import { Deadline } from '../model/deadline.ts';
import type { Numbered } from '../model/history.ts';
import type { Count, Log } from '../model/log.ts';
import type { SentNotification } from '../model/notification.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, NotifierPlan } from '../plan/desired.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';

/** Settings without `notifications`: no format is used that a host could refuse, and no Resume is sent. */
const NOBODY_REFUSES = { capabilityExpiryMs: 600_000, resume: { level: 0, parameter: 0 } };

export interface CongestionSupervisorDependencies {
  readonly poller: Poller;
  readonly rtnetlink: Rtnetlink;
  readonly clock: Clock;
  readonly log: Log;
  readonly count: Count;
  readonly reversePath: Pick<ReversePath, 'refuses'>;
  /** The set of hosts that refuse a format has changed. */
  readonly onCapabilities: () => void;
}

export class CongestionSupervisor {
  readonly #dependencies: CongestionSupervisorDependencies;
  /** Hosts that have refused a format, for the plan. */
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

  /** Follows a new plan. Never throws: a failure is a problem, and the next plan tries again. */
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
      this.#problem = noResume(error);
    }
  }

  get problems(): readonly Problem[] {
    return this.#problem ? [this.#problem] : [];
  }

  notifications(): readonly Numbered<SentNotification>[] {
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

  /** Listens once per opening of the congested node, and adopts senders that an earlier run has slowed down. */
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
