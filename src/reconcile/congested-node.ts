// The congested node in the kernel: its monitored ports, and whom it may notify in which format (policies,
// capabilities, proxies, END.CON SIDs). The detector runs at the egress of the ports, the builder of notifications at
// the ingress of the loopback interface. This file also reads their records of sent notifications and the flow table.
import { randomBytes } from 'node:crypto';
import type { BpfObject } from '../kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../kernel/bpf/ring-buffer.ts';
import {
  DEFAULT_FLOW_AGEING_NS,
  EGRESS_CONFIG_SIZE,
  EGRESS_MAPS,
  EGRESS_PROGRAMS,
  decodeEgressConfig,
  encodeEgressConfig,
} from '../kernel/dataplane/egress.ts';
import { EgressPortTable } from '../kernel/dataplane/egress-ports.ts';
import {
  type EgressFlow,
  type LastNotification,
  decodeFlowSet,
  FLOW_WAYS,
  type FlowAtPort,
  RESUME_ANSWERS,
  encodeResumeClaim,
  flowsIn,
} from '../kernel/dataplane/flows.ts';
import {
  NOTICE_CONFIG_MAP,
  NOTICE_CONFIG_SIZE,
  encodeNoticeConfig,
  ntpOffsetNs,
} from '../kernel/dataplane/notice-config.ts';
import { decodeNotification } from '../kernel/dataplane/notifications.ts';
import type { Poller } from '../kernel/poller.ts';
import type { Count } from '../model/log.ts';
import type { TableUse } from '../model/telemetry-state.ts';
import type { Steps } from '../model/work.ts';
import type { SentNotification, ResumeAnswer } from '../model/notification.ts';
import type {
  DesiredState,
  EgressPortPlan,
  EndConSidPlan,
  NotifierPlan,
  OwnAddressPlan,
  ReplicationEndConPlan,
  SenderCapabilityPlan,
  SenderPolicyPlan,
  SenderProxies,
  SenderProxyPlan,
} from '../plan/desired.ts';
import { type Attachment, LOOPBACK, attachment } from './attachments.ts';
import {
  END_CON_SIDS,
  OWN_ADDRESSES,
  PORTS,
  REPLICATION_END_CONS,
  SENDER_CAPABILITIES,
  SENDER_POLICIES,
  SENDER_PROXIES,
  sameSender,
  sameSid,
  senderValues,
} from './congested-node-tables.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { Reconciler } from './reconciler.ts';

/**
 * Entries per call for the two large tables, about 3 ms. No other step waits until these tables are complete. At least
 * as many as learning passes on in one step, so that no backlog builds up.
 */
const SENDERS_AT_ONCE = 1000;

type Notifier = NotifierPlan & { readonly id: 'notifier' };
/**
 * Notifier of a node that marks CE but notifies no sender. Its flow table still needs the rest of the configuration:
 * the ageing time and the seed.
 */
const SILENT: NotifierPlan = { source4: null, source6: null, udpPort: 0 };
/** The parts of the desired state that the congested node reads. */
export type CongestedNodeShare = Pick<
  DesiredState,
  | 'ports'
  | 'notifier'
  | 'builder'
  | 'senderPolicies'
  | 'senderCapabilities'
  | 'endConSids'
  | 'replicationEndCons'
  | 'ownAddresses'
  | 'senderProxies'
>;
/** A flow whose last notification instructed its sender to pause or to slow down. */
export type SlowedFlow = EgressFlow & { readonly lastNotification: LastNotification };

export class CongestedNode extends Feature {
  /** Thresholds and measurements of the watched ports. */
  readonly ports: EgressPortTable;
  readonly #count: Count;
  readonly #ports: Reconciler<EgressPortPlan>;
  readonly #senders: Reconciler<SenderProxyPlan>;
  readonly #policies: Reconciler<SenderPolicyPlan>;
  readonly #capabilities: Reconciler<SenderCapabilityPlan>;
  readonly #endConSids: Reconciler<EndConSidPlan>;
  readonly #replicationEndCons: Reconciler<ReplicationEndConPlan>;
  readonly #ownAddresses: Reconciler<OwnAddressPlan>;
  readonly #notifier: Reconciler<Notifier>;
  readonly #builder: Reconciler<Notifier>;
  /** The senders last written to the table. */
  #applied: SenderProxies | undefined;
  readonly #readers = new Set<RingBufferReader>();

  constructor(object: BpfObject, dependencies: FeatureDependencies) {
    super(object, dependencies);
    this.#count = dependencies.count;
    const map = (name: keyof typeof EGRESS_MAPS) => object.map(EGRESS_MAPS[name]);
    this.ports = EgressPortTable.of(object);
    const off = new Uint8Array(EGRESS_CONFIG_SIZE);
    this.#notifier = this.configuration({ kind: 'notifier', map: map('config'), value: notifierValue, off });
    this.#builder = this.configuration({
      kind: 'notice-builder',
      map: object.map(NOTICE_CONFIG_MAP),
      value: builderValue,
      off: new Uint8Array(NOTICE_CONFIG_SIZE),
    });
    this.#policies = this.table(map('senderPolicies'), SENDER_POLICIES);
    this.#capabilities = this.table(map('senderCapabilities'), SENDER_CAPABILITIES);
    this.#endConSids = this.learnedTable(map('endConSids'), END_CON_SIDS, { same: sameSid, atOnce: SENDERS_AT_ONCE });
    this.#replicationEndCons = this.table(map('replicationEndCons'), REPLICATION_END_CONS);
    this.#ownAddresses = this.table(map('ownAddresses'), OWN_ADDRESSES);
    this.#ports = this.table(this.ports, PORTS);
    const senders = { ...SENDER_PROXIES, value: senderValues() };
    this.#senders = this.learnedTable(map('senderProxies'), senders, { same: sameSender, atOnce: SENDERS_AT_ONCE });
  }

  apply({
    ports,
    notifier,
    builder,
    senderPolicies,
    senderCapabilities,
    endConSids,
    replicationEndCons = [],
    ownAddresses = [],
    senderProxies,
  }: CongestedNodeShare): void {
    const how = [{ ...(notifier ?? builder ?? SILENT), id: 'notifier' }] as const;
    this.#notifier.replace(how);
    this.#builder.replace(how);
    this.#policies.replace(senderPolicies);
    this.#capabilities.replace(senderCapabilities);
    this.#endConSids.replace(endConSids);
    this.#replicationEndCons.replace(replicationEndCons);
    this.#ownAddresses.replace(ownAddresses);
    this.#ports.replace(ports);
    this.applySenders({ senderProxies });
  }

  /**
   * Updates only the longest-match table of sender proxies. Cost is proportional to the changes since the last state,
   * not to the table. Stale entries of an earlier run stay until forgetUnknown.
   */
  applySenders({ senderProxies }: Pick<DesiredState, 'senderProxies'>): void {
    const pieces = this.#applied && senderProxies.since(this.#applied);
    this.#applied = senderProxies;
    if (!pieces) this.#senders.replace([...senderProxies.all()]);
    else for (const { upserts, deletes } of pieces) this.#senders.change(upserts, deletes);
  }

  attachments(desired: Pick<DesiredState, 'ports' | 'builder'>) {
    return congestedNodeAttachments(desired);
  }

  /**
   * Calls `listener` for every notification that is handed to the builder from now on, and for earlier ones that are
   * still in the ring. One listener at a time: a record is read once. Ends with close() of the returned reader, or of
   * this object.
   * @throws KernelError
   */
  onNotification(
    listener: (sent: SentNotification) => void,
    { poller }: { readonly poller: Poller },
  ): RingBufferReader {
    const reader = openRingBuffer(this.object.map(EGRESS_MAPS.notifications), {
      poller,
      onRecord: (data, offset, length) => {
        let sent: SentNotification;
        try {
          sent = decodeNotification(data, offset, length);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          this.#count('congested-node.record-refused');
          return;
        }
        listener(sent);
      },
    });
    this.#readers.add(reader);
    return reader;
  }

  /**
   * Frees entries of the flow table that no packet has touched for the ageing time (LHCNP-5.2-e). Costs about a
   * millisecond.
   */
  ageFlows(): void {
    this.object.program(EGRESS_PROGRAMS.age).testRun({ data: new Uint8Array(64) });
  }

  /**
   * Entries of the flow table that were seen within the ageing time. Reads the map lazily. `nowNs` is CLOCK_MONOTONIC.
   */
  *flows(nowNs: bigint): Generator<EgressFlow> {
    const since = nowNs > BigInt(DEFAULT_FLOW_AGEING_NS) ? nowNs - BigInt(DEFAULT_FLOW_AGEING_NS) : 0n;
    for (const [, set] of this.object.map(EGRESS_MAPS.flows).entries()) yield* decodeFlowSet(set, since);
  }

  /** The flow table is an array of sets: all sets are there, most without a flow. */
  override *tableUse(): Steps<TableUse[]> {
    const map = this.object.map(EGRESS_MAPS.flows);
    let entries = 0;
    for (const [, set] of map.entries()) {
      entries += flowsIn(set);
      yield;
    }
    return [...(yield* super.tableUse()), { name: EGRESS_MAPS.flows, limit: map.limit * FLOW_WAYS, entries }];
  }

  /** Flows that wait for a Resume, for an agent that has restarted (LHCNP-5.5.1-i). */
  *slowedFlows(nowNs: bigint): Generator<SlowedFlow> {
    for (const flow of this.flows(nowNs)) if (isSlowed(flow)) yield flow;
  }

  /** Takes the tokens of a Resume for this flow, if available. Costs some microseconds. @throws KernelError */
  claimResume(flow: FlowAtPort): ResumeAnswer {
    const { retval } = this.object.program(EGRESS_PROGRAMS.resume).testRun({ data: encodeResumeClaim(flow) });
    return RESUME_ANSWERS[retval] ?? 'port-unknown';
  }

  override close(): void {
    for (const reader of this.#readers) reader.close();
    super.close();
  }
}

export function congestedNodeAttachments({ ports, builder }: Pick<DesiredState, 'ports' | 'builder'>): Attachment[] {
  if (ports.length === 0 && !builder) return [];
  // The builder is first on the loopback interface: a proxy there sees finished notices only.
  return [
    attachment(EGRESS_PROGRAMS.notice, LOOPBACK, 'ingress', true),
    ...ports.map((p) => attachment(EGRESS_PROGRAMS.egress, p, 'egress')),
  ];
}

const isSlowed = (flow: EgressFlow): flow is SlowedFlow =>
  flow.lastNotification?.action === 'pause' || flow.lastNotification?.action === 'rate-reduce';

/** The hash seed of the flow table is kept for the table's life: with another seed its entries would not be found. */
function notifierValue(notifier: Notifier, before: Uint8Array | undefined): Uint8Array {
  const seed = before ? decodeEgressConfig(before).flowSeed : 0n;
  return encodeEgressConfig({
    ...notifier,
    flowAgeingNs: DEFAULT_FLOW_AGEING_NS,
    flowSeed: seed || randomBytes(8).readBigUInt64LE() || 1n,
    disclose: notifier.longHaul?.disclose ?? false,
  });
}

/** A full pass rewrites the clock offset after the clock was set. */
const builderValue = (notifier: Notifier, before: Uint8Array | undefined): Uint8Array =>
  encodeNoticeConfig(notifier, ntpOffsetNs(BigInt(Date.now()) * 1_000_000n, process.hrtime.bigint()), before);

export const congestedNode: FeatureKind<CongestedNode> = {
  name: 'congested-node',
  objectFile: 'egress.bpf.o',
  scratchMaps: [EGRESS_MAPS.buffer],
  desired: (state) => state.ports.length > 0 || state.builder !== undefined,
  open: (object, dependencies) => new CongestedNode(object, dependencies),
};
