// Operational state for the northbound (src/model/state.ts), read from whoever owns it at the moment it is asked for.
import { isHeard } from '../diagnosis/advertised.ts';
import type { EgressMeasure, OpaquePackets, TunnelKind } from '../kernel/dataplane/egress.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { LearnedTable } from '../learned/table.ts';
import { formatAddress, sameAddress } from '../model/address.ts';
import { CODE_POINTS } from '../model/code-points.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { BgpState } from '../model/carrier-state.ts';
import type {
  FlowState,
  Lazy,
  LocalProxyState,
  NotificationState,
  PortState,
  RttState,
  SidState,
  StateSource,
} from '../model/state.ts';
import { type Steps, type Work, finish } from '../model/work.ts';
import type { Problem } from '../model/problem.ts';
import type { DesiredState, EgressPortPlan } from '../plan/desired.ts';
import type { Facts } from '../plan/facts.ts';
import { advertisedIn } from '../plan/origination.ts';
import { proxyAddressFor, proxyAddresses } from '../plan/proxy.ts';
import { declaredThresholds } from '../plan/thresholds.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Carriers } from './carriers.ts';
import type { Counters } from './counters.ts';
import type { IntentFile } from './intent-file.ts';
import { VERSION } from './version.ts';

/** For flows in one turn of the event loop. */
const FLOWS_BUDGET_MS = 4;

export interface StateModules {
  readonly work: Work;
  readonly file: IntentFile;
  readonly table: LearnedTable;
  readonly counters: Counters;
  readonly startedAt: Date;
  /** Everything declared was tried once. */
  readonly started: () => boolean;
  /** What comes and goes is asked for: it may not be there yet. */
  readonly facts: () => Facts;
  readonly desired: () => DesiredState | undefined;
  readonly dataplane: () => Dataplane | undefined;
  readonly carriers: () => Pick<Carriers, 'isis' | 'ospfv2' | 'ospfv3' | 'bgp'>;
  readonly rtnetlink: () => Rtnetlink | undefined;
  readonly problems: () => readonly Problem[];
  /** What only runs while it is declared. */
  readonly notifications?: (names: {
    port: (ifindex: number) => string;
    timeOfDay: (ns: bigint) => string;
  }) => NotificationState[];
  readonly sids?: () => Promise<SidState[]>;
  readonly rtt?: () => RttState[];
}

export function stateSource(m: StateModules): StateSource {
  return {
    status: () => {
      const problems = [...m.problems()];
      return {
        version: VERSION,
        pid: process.pid,
        startedAt: m.startedAt.toISOString(),
        health: !m.started() ? 'starting' : problems.length === 0 ? 'running' : 'degraded',
        problems,
        intent: m.file.state(),
        adopted: m.dataplane()?.adopted ?? false,
      };
    },
    proxies: () => proxies(m),
    senders: () => m.table.entries(),
    isis: () => carrierState(m.carriers().isis),
    ospfv2: () => carrierState(m.carriers().ospfv2),
    ospfv3: () => carrierState(m.carriers().ospfv3),
    bgp: () => bgpState(m.carriers().bgp),
    ports: () => ports(m),
    flows: () => finish(m.work, flows(m), FLOWS_BUDGET_MS),
    notifications: () => m.notifications?.({ port: portNames(m), timeOfDay }) ?? [],
    sids: () => m.sids?.() ?? [],
    rtt: () => m.rtt?.() ?? [],
    counters: () => m.counters.snapshot(),
    codepoints: () => {
      const values = m.file.intent.codePoints;
      return CODE_POINTS.map(({ name, default: fallback, description, source }) => ({
        name,
        value: values[name],
        default: fallback,
        description,
        source,
      }));
    },
  };
}

/** A row for each address, with the senders that are advertised with it. */
function proxies({ file: { intent }, carriers }: StateModules): LocalProxyState[] {
  const { proxy } = intent;
  if (!proxy) return [];
  return proxyAddresses(proxy).map((address) => {
    const senders = proxy.senders.filter(({ prefix }) =>
      sameAddress(proxyAddressFor(proxy, prefix.address.family), address),
    );
    return {
      address: formatAddress(address),
      prefixes: senders.map((s) => formatPrefix(s.prefix)),
      format: [...new Set(senders.map((s) => s.format))].join(', '),
      advertisedIn: advertisedIn(intent, senders).filter((name) => isHeard(carriers(), name)),
    };
  });
}

/** A carrier that does not run has neither. */
const carrierState = <N, L>({
  carrier,
}: {
  readonly carrier: { neighbors(): N[]; database(): L[] } | undefined;
}): { neighbors: N[]; database: L[] } => ({
  neighbors: carrier?.neighbors() ?? [],
  database: carrier?.database() ?? [],
});

async function bgpState({ carrier }: Carriers['bgp']): Promise<Lazy<BgpState>> {
  if (!carrier) return { session: [], peers: [], paths: [] };
  const peers = await carrier.peers();
  return {
    session: [{ ...carrier.session(), ...(peers && { neighbors: peers.length }) }],
    peers: peers ?? [],
    // Of many paths only when they are asked for: who watches the session would keep the event loop busy with them.
    get paths() {
      return carrier.paths();
    },
  };
}

async function ports(m: StateModules): Promise<PortState[]> {
  const qdiscs = (await m.rtnetlink()?.qdiscs()) ?? [];
  return m.file.intent.ports.map((port) => {
    const link = m.facts().links.find((l) => l.name === port.interface);
    const planned = m.desired()?.ports.find((p) => p.interface === port.interface);
    const thresholds = planned ?? declaredThresholds(port);
    const root = qdiscs.find((q: Qdisc) => q.ifindex === link?.ifindex && q.parent === TC_H.ROOT);
    const table = m.dataplane()?.congestedNode?.ports;
    const stats = planned && table?.stats(planned.ifindex);
    const measure = planned && table?.measure(planned.ifindex);
    return {
      interface: port.interface,
      ifindex: link?.ifindex ?? 0,
      attached: planned !== undefined && (m.dataplane()?.isAttached(port.interface) ?? false),
      rootQdisc: root?.kind ?? 'none',
      queueBytes: root?.stats.backlogBytes ?? 0,
      peakQueueBytes: (planned && table?.peakQueueBytes(planned.ifindex)) ?? 0,
      kMin: thresholds.kMin ?? 0,
      kMax: thresholds.kMax ?? 0,
      explanation: [...(planned?.explanation ?? [])],
      packets: Number(stats?.packets ?? 0),
      bytes: Number(stats?.bytes ?? 0),
      ceMarked: Number(stats?.ceMarked ?? 0),
      triggers: Number(stats?.triggers ?? 0),
      notifications: Number(stats?.notifications ?? 0),
      suppressedPerFlow: Number(stats?.suppressedPerFlow ?? 0),
      suppressedPerPort: Number(stats?.suppressedPerPort ?? 0),
      noProxy: Number(stats?.noProxy ?? 0),
      rttMs: divided(planned?.rttNs, 1e6),
      vEcn: divided(planned?.vEcnPpm, 1e4),
      ...measured(planned, measure),
      notContributing: Number(stats?.notContributing ?? 0),
      deferred: Number(stats?.deferred ?? 0),
      noFormat: Number(stats?.noFormat ?? 0),
      ...unseen(planned && table?.opaque(planned.ifindex)),
    };
  });
}

function unseen(packets: OpaquePackets | undefined): Pick<PortState, 'unseen' | `unseen${Capitalize<TunnelKind>}`> {
  const of = (kind: TunnelKind): number => Number(packets?.[kind] ?? 0);
  const unseenMpls = of('mpls'),
    unseenGre = of('gre'),
    unseenVxlan = of('vxlan'),
    unseenEsp = of('esp'),
    unseenGeneve = of('geneve'),
    unseenOther = of('other');
  return {
    unseen: unseenMpls + unseenGre + unseenVxlan + unseenEsp + unseenGeneve + unseenOther,
    unseenMpls,
    unseenGre,
    unseenVxlan,
    unseenEsp,
    unseenGeneve,
    unseenOther,
  };
}

/** Absent stays absent. */
const divided = (value: number | null | undefined, by: number): number | null =>
  value === null || value === undefined ? null : value / by;

/**
 * What is measured over intervals. A measurement that is older than two of them is of a queue into which nothing has
 * come since.
 */
function measured(
  planned: EgressPortPlan | undefined,
  measure: EgressMeasure | undefined,
): Pick<PortState, 'vGrowth' | 'ecnMarkingRate' | 'queueGrowth' | 'measurementIntervalMs'> {
  const intervalNs = planned?.intervalNs;
  const fresh =
    intervalNs !== undefined &&
    measure !== undefined &&
    process.hrtime.bigint() - measure.measuredAt <= BigInt(2 * intervalNs);
  return {
    vGrowth: divided(planned?.vGrowthBytes, (intervalNs ?? 1e9) / 1e9),
    ecnMarkingRate: fresh ? measure.ecnMarkingPpm / 1e4 : 0,
    queueGrowth: fresh ? (measure.growthBytes * 1e9) / intervalNs : 0,
    measurementIntervalMs: divided(intervalNs, 1e6),
  };
}

/** What the northbound calls an interface; one that is gone by its number. */
function portNames(m: StateModules): (ifindex: number) => string {
  const names = new Map(m.facts().links.map((l) => [l.ifindex, l.name]));
  return (ifindex) => names.get(ifindex) ?? `#${ifindex}`;
}

/** CLOCK_MONOTONIC nanoseconds of a program as a time of day. */
function timeOfDay(ns: bigint): string {
  const ago = Number(process.hrtime.bigint() - ns) / 1e6;
  return new Date(Date.now() - ago).toISOString();
}

/** Tables of tens of thousands of flows: a step a flow. */
function* flows(m: StateModules): Steps<FlowState[]> {
  const states = new Map<string, FlowState>();
  for (const state of everyFlow(m)) {
    // What is learned has a tenant, which the name does not show.
    const key =
      state.learnedFrom === null
        ? `${state.port} ${state.source} ${state.destination} ${state.destinationQpn}`
        : `${states.size}`;
    const same = states.get(key);
    states.set(key, same ? together(same, state) : state);
    yield;
  }
  return [...states.values()];
}

/**
 * Flows of one name in different tunnels, or of different datagram sources, are one to whoever reads: a list has a key.
 */
const together = (a: FlowState, b: FlowState): FlowState => ({
  ...(a.lastSeen < b.lastSeen ? b : a),
  sourceQpn: a.sourceQpn === b.sourceQpn ? a.sourceQpn : null,
  packets: a.packets + b.packets,
  bytes: a.bytes + b.bytes,
  notifications: a.notifications + b.notifications,
});

function* everyFlow(m: StateModules): Generator<FlowState> {
  const nameOf = portNames(m);
  for (const f of m.dataplane()?.congestedNode?.flows(process.hrtime.bigint()) ?? []) {
    yield {
      port: nameOf(f.ifindex),
      source: formatAddress(f.source),
      destination: formatAddress(f.destination),
      destinationQpn: f.destinationQpn,
      // Looked up when it was needed to tell the sender.
      sourceQpn: f.told?.sourceQpn || null,
      learnedFrom: null,
      packets: Number(f.packets),
      bytes: Number(f.bytes),
      lastSeen: timeOfDay(f.lastSeen),
      notifications: Number(f.notices),
    };
  }
  for (const q of m.dataplane()?.proxy?.queuePairs() ?? []) {
    yield {
      port: 'proxy',
      source: formatAddress(q.sender),
      destination: formatAddress(q.receiver),
      destinationQpn: q.receiverQpn,
      sourceQpn: q.senderQpn,
      learnedFrom: q.source,
      packets: Number(q.packets),
      bytes: Number(q.bytes),
      lastSeen: timeOfDay(q.lastSeen),
      notifications: Number(q.cnps),
    };
  }
}
