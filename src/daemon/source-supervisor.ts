// Reads what the source's program has taken while the desired state has a source, and obeys it where that says so.
import type { Poller } from '../kernel/poller.ts';
import { formatAddress, sameAddress } from '../model/address.ts';
import type { Clock } from '../model/clock.ts';
import { messageOf } from '../model/error-text.ts';
import type { Count, Log } from '../model/log.ts';
import type { Problem } from '../model/problem.ts';
import type { Queueing } from '../model/queueing.ts';
import { recordCalls } from '../model/recorded-calls.ts';
import type { Recorder } from '../model/recording.ts';
import type { ReleaseRequest, SourceNotification } from '../model/source.ts';
import { type HoldsSummary, NO_HOLDS } from '../model/telemetry-state.ts';
import type { Work } from '../model/work.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { IoamPlan, SourcePlan } from '../plan/source-plan.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Hold } from '../reconcile/hold.ts';
import type { Source } from '../reconcile/source.ts';
import { drainMs } from '../source/class-rate.ts';
import { Enforcement, type EnforcementSettings } from '../source/enforcement.ts';
import { type HoldView, type SourceFlow, defaultHoldOptions } from '../source/hold.ts';
import type { HpccOptions } from '../source/hpcc.ts';
import { LongestMatch } from '../source/longest-match.ts';
import { RECEIVED_EVENTS, ReceivedNotifications } from '../source/received.ts';

/** How long a flow that was not held is a problem. */
const NO_SLOT_MS = 60_000;

export interface SourceSupervisorDependencies {
  readonly poller: Poller;
  readonly clock: Clock;
  readonly work: Work;
  readonly count: Count;
  readonly log: Log;
  readonly recorder?: Recorder | undefined;
  /** RTT_est that STAMP has measured, by the name of the port. */
  readonly rttMs: () => ReadonlyMap<string, number>;
}

export class SourceSupervisor {
  readonly #dependencies: SourceSupervisorDependencies;
  #received: ReceivedNotifications | undefined;
  #feature: Source | undefined;
  #reader: { close(): void } | undefined;
  #enforcement: Enforcement | undefined;
  #hold: Hold | undefined;
  #queueing: Queueing | undefined;
  #stopping: Promise<void> | undefined;
  /** Names of the ports at which flows are held, by ifindex. */
  #ports: ReadonlyMap<number, string> = new Map();

  constructor(dependencies: SourceSupervisorDependencies) {
    this.#dependencies = dependencies;
  }

  /** Undefined while this router takes no notifications. */
  get received(): ReceivedNotifications | undefined {
    return this.#received;
  }

  /** Held flows. */
  holds(): readonly HoldView[] {
    return this.#enforcement?.views() ?? [];
  }

  summary(): HoldsSummary {
    return this.#enforcement?.summary() ?? NO_HOLDS;
  }

  /** Flows that found no class within the last minute. */
  problems(): Problem[] {
    const flow = this.#enforcement?.flowWithoutSlot(NO_SLOT_MS);
    // Without a port the problem is another one.
    if (!flow || !this.#hold?.isReady) return [];
    const { sender, receiver, receiverQpn } = flow;
    return [
      {
        code: 'source.holds-full',
        feature: 'source',
        problem:
          `all holds are in use: flows such as ${formatAddress(sender)} → ` +
          `${formatAddress(receiver)}, Queue Pair ${receiverQpn}, are left to their hosts`,
        remedy: 'raise `flows:` under source.enforce in cnpd.yaml, at most 16384',
      },
    ];
  }

  /** Returns how many flows are let go. */
  release(which: ReleaseRequest): number {
    const chosen = this.holds().filter(({ flow, state }) => state !== 'leaving' && isMeant(which, flow));
    for (const { flow } of chosen) this.#enforcement?.release(flow);
    return chosen.length;
  }

  /** Follows a new plan. @throws KernelError when the ring of records cannot be mapped */
  apply({ source }: Pick<DesiredState, 'source'>, dataplane: Pick<Dataplane, 'source' | 'hold'> | undefined): void {
    const feature = dataplane?.source;
    this.#enforce(source, dataplane);
    if (!source || !feature) return this.#end();
    const received = (this.#received ??= this.#newReceived());
    received.configure(source.senders.map(({ prefix }) => prefix));
    if (this.#feature === feature) return;
    this.#reader?.close();
    this.#reader = feature.onNotification((taken) => this.#taken(taken), this.#dependencies);
    this.#feature = feature;
  }

  #newReceived(): ReceivedNotifications {
    const { recorder, clock } = this.#dependencies;
    const tape = recorder?.begin('received', clock.now(), {});
    return recordCalls(new ReceivedNotifications(), RECEIVED_EVENTS, tape, () => clock.now());
  }

  #taken(taken: SourceNotification): void {
    this.#received?.add(taken);
    // While an earlier one lets its flows go, it may not be asked: the next notification will do.
    if (this.#stopping) return;
    if (taken.action === 'enforce') this.#enforcement?.onNotification(taken, this.#measuredRtt(taken));
    else this.#enforcement?.onLeftToHost(taken);
  }

  /**
   * Of the port at which the notification has arrived: the route back to the node leads out of it (source/admit.h), and
   * so does the flow, on whose path the node is.
   */
  #measuredRtt({ ifindex }: SourceNotification): number | undefined {
    const port = this.#ports.get(ifindex);
    return port === undefined ? undefined : this.#dependencies.rttMs().get(port);
  }

  #enforce(source: SourcePlan | undefined, dataplane: Pick<Dataplane, 'source' | 'hold'> | undefined): void {
    const { source: feature, hold } = dataplane ?? {};
    if (!source?.enforce || !feature || !hold) {
      void this.#stopEnforcement();
      return;
    }
    const settings = settingsOf(source, source.enforce);
    this.#ports = new Map(source.enforce.ports.map((port) => [port.ifindex, port.interface]));
    const isSame = this.#hold === hold && this.#queueing === source.enforce.queueing;
    if (this.#enforcement && isSame) return this.#enforcement.configure(settings);
    // What is held in another way has to leave before its queue goes.
    void this.#stopEnforcement();
    this.#hold = hold;
    this.#queueing = source.enforce.queueing;
    this.#enforcement = new Enforcement(settings, {
      ...this.#dependencies,
      dataplane: hold.classes,
      monotonicNs: () => process.hrtime.bigint(),
      // While an earlier one lets its flows go, notifications are the hosts'.
      isReady: () => hold.isReady && !this.#stopping,
      onHolding: (holding) => feature.setHolding(holding),
    });
    hold.onPorts = () => this.#look();
  }

  async #stopEnforcement(): Promise<void> {
    const enforcement = this.#enforcement;
    this.#enforcement = this.#hold = undefined;
    if (!enforcement) return this.#stopping;
    const stopping = (this.#stopping = both(this.#stopping, this.#stopOne(enforcement)));
    await stopping;
    if (this.#stopping !== stopping) return;
    this.#stopping = undefined;
    this.#look();
  }

  /** What can be held has changed. */
  #look(): void {
    this.#enforcement?.look();
  }

  async #stopOne(enforcement: Enforcement): Promise<void> {
    try {
      await enforcement.stop();
    } catch (error) {
      this.#dependencies.log.warn({ error: messageOf(error) }, 'held flows could not be let go');
    }
  }

  #end(): void {
    this.#reader?.close();
    this.#reader = this.#feature = this.#received = undefined;
  }

  /** Lets all flows go. */
  async stop(): Promise<void> {
    this.#end();
    await this.#stopEnforcement();
  }
}

async function both(earlier: Promise<void> | undefined, later: Promise<void>): Promise<void> {
  await earlier;
  await later;
}

const isMeant = (which: ReleaseRequest, { sender, receiver, receiverQpn }: SourceFlow): boolean =>
  which === 'all' ||
  (sameAddress(which.sender, sender) && sameAddress(which.receiver, receiver) && which.receiverQpn === receiverQpn);

function settingsOf({ senders }: SourcePlan, enforce: NonNullable<SourcePlan['enforce']>): EnforcementSettings {
  const { lineRate, rttMs, response, buffer, flows, ioam } = enforce;
  return {
    options: {
      ...defaultHoldOptions(lineRate),
      ...{ mostFlows: flows, rttMs, response, drainMs: drainMs(lineRate, buffer) },
      hpcc: ioam && hpccOf(ioam),
      enforces: enforcedBy(senders),
    },
    buffer,
  };
}

const TX_BYTES = {
  none: undefined,
  'namespace-data': 'namespaceData',
  'namespace-data-wide': 'namespaceDataWide',
} as const;

const hpccOf = ({ target, capacity, queueUnit, txBytes, timestamp }: IoamPlan): HpccOptions => ({
  ...{ target, queueUnit, timestamp },
  capacity: () => capacity,
  txBytes: TX_BYTES[txBytes],
});

/** Whether the longest prefix of a flow's sender says so. */
function enforcedBy(senders: SourcePlan['senders']): (flow: SourceFlow) => boolean {
  const actions = new LongestMatch(senders.map(({ prefix, action }) => ({ prefix, value: action })));
  return ({ sender }) => actions.of(sender) === 'enforce';
}
