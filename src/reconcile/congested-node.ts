// The congested node's share of the kernel: monitored ports, the table of sender prefixes and their proxies (PNC §5), how notices are built, the
// detector at the ports' egress and the notice builder at the loopback interface's ingress.
import { randomBytes } from 'node:crypto';
import type { BpfObject } from '../kernel/bpf/object.ts';
import {
  DEFAULT_FLOW_AGEING_NS, EGRESS_CONFIG_SIZE, EGRESS_MAPS, EGRESS_PROGRAMS, decodeEgressConfig, encodeEgressConfig, encodeEgressPort, encodeSenderProxy,
} from '../kernel/dataplane/egress.ts';
import { EgressPortTable } from '../kernel/dataplane/egress-ports.ts';
import { type EgressFlow, decodeFlowSet } from '../kernel/dataplane/flows.ts';
import { prefixKey, u32Key } from '../kernel/dataplane/layout.ts';
import type { EgressPortPlan, NotifierPlan, SenderProxyPlan } from '../plan/desired.ts';
import { LOOPBACK, attachment } from './attachments.ts';
import { type Feature, type FeatureKind, type FeatureModules, configurationOperations, reconciledTable } from './feature.ts';
import { tableOperations } from './map-table.ts';
import type { ObjectStatus } from './operations.ts';
import { Reconciler } from './reconciler.ts';

/** The one large table; nothing waits for it to be complete. About 5 ms. */
const SENDERS_A_TURN = 500;

type Notifier = NotifierPlan & { readonly id: 'notifier' };

export class CongestedNode implements Feature {
  readonly object: BpfObject;
  readonly table: EgressPortTable;
  readonly #ports: Reconciler<EgressPortPlan>;
  readonly #senders: Reconciler<SenderProxyPlan>;
  readonly #notifier: Reconciler<Notifier>;
  /** Until the carriers have had time to learn again, entries of an earlier run stay in force: a restart forgets nobody's proxy. */
  #mayForget = false;

  constructor(object: BpfObject, modules: FeatureModules) {
    this.object = object;
    const map = (name: keyof typeof EGRESS_MAPS) => object.map(EGRESS_MAPS[name]);
    this.table = new EgressPortTable({ ports: map('ports'), stats: map('stats'), peaks: map('peaks'), buckets: map('buckets') });
    this.#ports = reconciledTable<EgressPortPlan>(this.table, { kind: 'egress-port', key: (p) => u32Key(p.ifindex), value: encodeEgressPort }, modules);
    const senders = tableOperations<SenderProxyPlan>(map('senderProxies'), { kind: 'sender-proxy', key: (s) => prefixKey(s.prefix), value: encodeSenderProxy });
    this.#senders = new Reconciler(
      { ...senders, prune: (wanted) => (this.#mayForget ? senders.prune(wanted) : []) },
      modules,
      { same: (a, b) => sameSender(a as SenderProxyPlan, b as SenderProxyPlan), perTurn: SENDERS_A_TURN },
    );
    this.#notifier = new Reconciler(
      configurationOperations<Notifier>({ kind: 'notifier', map: map('config'), value: notifierValue, off: new Uint8Array(EGRESS_CONFIG_SIZE) }),
      modules,
    );
  }

  apply(desired: { readonly ports: readonly EgressPortPlan[]; readonly notifier?: NotifierPlan }): void {
    if (desired.notifier) this.#notifier.replace([{ ...desired.notifier, id: 'notifier' }]);
    this.#ports.replace(desired.ports);
  }

  /** The whole longest-match table; entries of an earlier run that it does not name stay until forgetUnknownSenders. */
  replaceSenders(senders: Iterable<SenderProxyPlan>): void {
    this.#senders.replace([...senders]);
  }

  /** A difference of the longest-match table; costs what changed, not what is there. */
  changeSenders(upserts: Iterable<SenderProxyPlan>, deletes: Iterable<string>): void {
    this.#senders.change(upserts, deletes);
  }

  /** From now on entries that nobody advertises any more are removed. */
  forgetUnknownSenders(): void {
    this.#mayForget = true;
    this.#senders.fullPass();
  }

  attachments({ ports }: { readonly ports: readonly EgressPortPlan[] }) {
    if (ports.length === 0) return [];
    // The builder is first on the loopback interface: a proxy there sees finished notices only.
    return [attachment(EGRESS_PROGRAMS.notice, LOOPBACK, 'ingress', true), ...ports.map((p) => attachment(EGRESS_PROGRAMS.egress, p, 'egress'))];
  }

  /** Frees entries of the flow table that no packet has touched for the ageing time (LHCNP-5.2-e). Costs about a millisecond. */
  ageFlows(): void {
    this.object.program(EGRESS_PROGRAMS.age).testRun({ data: new Uint8Array(64) });
  }

  /** The flow table, entries seen within the ageing time. Read as it is asked for. */
  *flows(nowNs: bigint): Generator<EgressFlow> {
    const since = nowNs > BigInt(DEFAULT_FLOW_AGEING_NS) ? nowNs - BigInt(DEFAULT_FLOW_AGEING_NS) : 0n;
    for (const [, set] of this.object.map(EGRESS_MAPS.flows).entries()) yield* decodeFlowSet(set, since);
  }

  status(): ObjectStatus[] {
    return [this.#notifier, this.#ports, this.#senders].flatMap((r) => r.status().filter((s) => s.state !== 'done'));
  }

  fullPass(): void {
    for (const reconciler of [this.#notifier, this.#ports, this.#senders]) reconciler.fullPass();
  }

  close(): void {
    for (const reconciler of [this.#notifier, this.#ports, this.#senders]) reconciler.close();
    this.object.close();
  }
}

function sameSender(a: SenderProxyPlan, b: SenderProxyPlan): boolean {
  return a.id === b.id && a.proxy?.value === b.proxy?.value && a.proxy?.family === b.proxy?.family;
}

/** The seed of the flow table's hash stays what it is for the table's life: with another one its entries would not be found. */
function notifierValue(notifier: Notifier, before: Uint8Array | undefined): Uint8Array {
  const seed = before ? decodeEgressConfig(before).flowSeed : 0n;
  return encodeEgressConfig({ ...notifier, flowAgeingNs: DEFAULT_FLOW_AGEING_NS, flowSeed: seed || randomBytes(8).readBigUInt64LE() || 1n });
}

export const congestedNode: FeatureKind<CongestedNode> = {
  name: 'congested-node',
  objectFile: 'egress.bpf.o',
  scratchMaps: [EGRESS_MAPS.buffer],
  wanted: (desired) => desired.ports.length > 0,
  open: (object, modules) => new CongestedNode(object, modules),
};
