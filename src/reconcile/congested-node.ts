// The congested node's share of the kernel: monitored ports, whom it may tell and how (policies, capabilities, proxies,
// END.CON SIDs), how notifications are built, the detector at the ports' egress and the builder at the loopback
// interface's ingress. What they say of themselves is read here: each notification as it is sent, and the flow table.
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
  encodeEgressPort,
  encodeSenderProxy,
} from '../kernel/dataplane/egress.ts';
import { EgressPortTable } from '../kernel/dataplane/egress-ports.ts';
import {
  type EgressFlow,
  type ToldSender,
  decodeFlowSet,
  type FlowAtPort,
  RESUME_ANSWERS,
  encodeResumeClaim,
} from '../kernel/dataplane/flows.ts';
import { mappedAddress, prefixKey, u32Key } from '../kernel/dataplane/layout.ts';
import {
  NOTICE_CONFIG_MAP,
  NOTICE_CONFIG_SIZE,
  encodeNoticeConfig,
  ntpOffsetNs,
} from '../kernel/dataplane/notice-config.ts';
import { decodeNotification } from '../kernel/dataplane/notifications.ts';
import {
  OWN_ADDRESS,
  encodeEndCon,
  encodeSenderCapability,
  encodeSenderPolicy,
} from '../kernel/dataplane/sender-policies.ts';
import type { Poller } from '../kernel/poller.ts';
import type { Count } from '../model/log.ts';
import type { SentNotification, ResumeAnswer } from '../model/notification.ts';
import type {
  DesiredState,
  EgressPortPlan,
  EndConSidPlan,
  NotifierPlan,
  OwnAddressPlan,
  SenderCapabilityPlan,
  SenderPolicyPlan,
  SenderProxies,
  SenderProxyPlan,
} from '../plan/desired.ts';
import { LOOPBACK, attachment } from './attachments.ts';
import { Feature, type FeatureDependencies, type FeatureKind } from './feature.ts';
import type { TableCodec } from './map-table.ts';
import type { Reconciler } from './reconciler.ts';

/**
 * Of the one large table, for whose completeness nothing waits. No fewer than learning hands over in a step, so that
 * none wait for another: some 3 ms.
 */
const SENDERS_AT_ONCE = 1000;

type Notifier = NotifierPlan & { readonly id: 'notifier' };
/**
 * Of a node that marks CE and tells nobody. Its flow table needs the rest of the configuration all the same: the ageing
 * time and the seed.
 */
const SILENT: NotifierPlan = { source4: null, source6: null, udpPort: 0 };
/** What the congested node reads of the desired state. */
export type CongestedNodeShare = Pick<
  DesiredState,
  | 'ports'
  | 'notifier'
  | 'builder'
  | 'senderPolicies'
  | 'senderCapabilities'
  | 'endConSids'
  | 'ownAddresses'
  | 'senderProxies'
>;
/** A flow whose sender was told to pause or to slow down, and has not been told otherwise since. */
export type SlowedFlow = EgressFlow & { readonly told: ToldSender };

export class CongestedNode extends Feature {
  /** Thresholds and measurements of the watched ports. */
  readonly ports: EgressPortTable;
  readonly #count: Count;
  readonly #ports: Reconciler<EgressPortPlan>;
  readonly #senders: Reconciler<SenderProxyPlan>;
  readonly #policies: Reconciler<SenderPolicyPlan>;
  readonly #capabilities: Reconciler<SenderCapabilityPlan>;
  readonly #endConSids: Reconciler<EndConSidPlan>;
  readonly #ownAddresses: Reconciler<OwnAddressPlan>;
  readonly #notifier: Reconciler<Notifier>;
  readonly #builder: Reconciler<Notifier>;
  /** What the table of senders was last made to hold. */
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
    ownAddresses = [],
    senderProxies,
  }: CongestedNodeShare): void {
    const how = [{ ...(notifier ?? builder ?? SILENT), id: 'notifier' }] as const;
    this.#notifier.replace(how);
    this.#builder.replace(how);
    this.#policies.replace(senderPolicies);
    this.#capabilities.replace(senderCapabilities);
    this.#endConSids.replace(endConSids);
    this.#ownAddresses.replace(ownAddresses);
    this.#ports.replace(ports);
    this.applySenders({ senderProxies });
  }

  /**
   * The longest-match table alone. Costs what changed since the last state, not what is there. Entries of an earlier
   * run that are not among all of them stay until forgetUnknown.
   */
  applySenders({ senderProxies }: Pick<DesiredState, 'senderProxies'>): void {
    const pieces = this.#applied && senderProxies.since(this.#applied);
    this.#applied = senderProxies;
    if (!pieces) this.#senders.replace([...senderProxies.all()]);
    else for (const { upserts, deletes } of pieces) this.#senders.change(upserts, deletes);
  }

  attachments({ ports, builder }: Pick<DesiredState, 'ports' | 'builder'>) {
    if (ports.length === 0 && !builder) return [];
    // The builder is first on the loopback interface: a proxy there sees finished notices only.
    return [
      attachment(EGRESS_PROGRAMS.notice, LOOPBACK, 'ingress', true),
      ...ports.map((p) => attachment(EGRESS_PROGRAMS.egress, p, 'egress')),
    ];
  }

  /**
   * Calls `listener` for every notification that is handed to the builder from now on, and for those of the time in
   * which nobody listened, as far as the ring held them. One listener at a time: a record is read once. Ends with
   * close() of what is returned, or of this object.
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

  /** The flow table, entries seen within the ageing time. Read as it is asked for. */
  *flows(nowNs: bigint): Generator<EgressFlow> {
    const since = nowNs > BigInt(DEFAULT_FLOW_AGEING_NS) ? nowNs - BigInt(DEFAULT_FLOW_AGEING_NS) : 0n;
    for (const [, set] of this.object.map(EGRESS_MAPS.flows).entries()) yield* decodeFlowSet(set, since);
  }

  /** Flows that wait for a Resume: what a restarted agent takes up again (LHCNP-5.5.1-i). */
  *slowedFlows(nowNs: bigint): Generator<SlowedFlow> {
    for (const flow of this.flows(nowNs)) if (isSlowed(flow)) yield flow;
  }

  /** Takes the tokens of a Resume for this flow, if there are any. Some microseconds. @throws KernelError */
  claimResume(flow: FlowAtPort): ResumeAnswer {
    const { retval } = this.object.program(EGRESS_PROGRAMS.resume).testRun({ data: encodeResumeClaim(flow) });
    return RESUME_ANSWERS[retval] ?? 'port-unknown';
  }

  override close(): void {
    for (const reader of this.#readers) reader.close();
    super.close();
  }
}

const PORTS: TableCodec<EgressPortPlan> = {
  kind: 'egress-port',
  key: (p) => u32Key(p.ifindex),
  value: encodeEgressPort,
};
const SENDER_POLICIES: TableCodec<SenderPolicyPlan> = {
  kind: 'sender-policy',
  key: (p) => prefixKey(p.prefix),
  value: encodeSenderPolicy,
};
const SENDER_CAPABILITIES: TableCodec<SenderCapabilityPlan> = {
  kind: 'sender-capability',
  key: (c) => mappedAddress(c.host),
  value: encodeSenderCapability,
};
const OWN_ADDRESSES: TableCodec<OwnAddressPlan> = {
  kind: 'own-address',
  key: (a) => mappedAddress(a.address),
  value: () => OWN_ADDRESS,
};
const END_CON_SIDS: TableCodec<EndConSidPlan> = {
  kind: 'end-con-sid',
  key: (s) => mappedAddress(s.sid),
  value: (s) => encodeEndCon(s.tenant),
};
const SENDER_PROXIES = {
  kind: 'sender-proxy',
  fixed: true,
  key: (s: SenderProxyPlan) => prefixKey(s.prefix),
} as const satisfies Omit<TableCodec<SenderProxyPlan>, 'value'>;

/** The value of a sender. Senders that follow each other mostly have the same proxy, and then the same bytes. */
function senderValues(): (sender: SenderProxyPlan) => Uint8Array {
  let last: { readonly of: SenderProxyPlan; readonly bytes: Uint8Array } | undefined;
  return (sender) => {
    const { prefix, proxy } = sender;
    if (!last || last.of.proxy !== proxy || last.of.prefix.address.family !== prefix.address.family)
      last = { of: sender, bytes: encodeSenderProxy(sender) };
    return last.bytes;
  };
}

function sameSender(a: SenderProxyPlan, b: SenderProxyPlan): boolean {
  return a.id === b.id && a.proxy?.value === b.proxy?.value && a.proxy?.family === b.proxy?.family;
}

const sameSid = (a: EndConSidPlan, b: EndConSidPlan): boolean => a.id === b.id && a.tenant === b.tenant;

const isSlowed = (flow: EgressFlow): flow is SlowedFlow =>
  flow.told?.action === 'pause' || flow.told?.action === 'rate-reduce';

/**
 * The seed of the flow table's hash stays what it is for the table's life: with another one its entries would not be
 * found.
 */
function notifierValue(notifier: Notifier, before: Uint8Array | undefined): Uint8Array {
  const seed = before ? decodeEgressConfig(before).flowSeed : 0n;
  return encodeEgressConfig({
    ...notifier,
    flowAgeingNs: DEFAULT_FLOW_AGEING_NS,
    flowSeed: seed || randomBytes(8).readBigUInt64LE() || 1n,
    disclose: notifier.longHaul?.disclose ?? false,
  });
}

/** The offset of the clock is written anew when the clock was set: a full pass sees it. */
const builderValue = (notifier: Notifier, before: Uint8Array | undefined): Uint8Array =>
  encodeNoticeConfig(notifier, ntpOffsetNs(BigInt(Date.now()) * 1_000_000n, process.hrtime.bigint()), before);

export const congestedNode: FeatureKind<CongestedNode> = {
  name: 'congested-node',
  objectFile: 'egress.bpf.o',
  scratchMaps: [EGRESS_MAPS.buffer],
  desired: (state) => state.ports.length > 0 || state.builder !== undefined,
  open: (object, dependencies) => new CongestedNode(object, dependencies),
};
