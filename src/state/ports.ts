// Watched ports for the northbound: planned thresholds, and the programs' counters and measurements.
import type { Intent } from '../intent/intent.ts';
import type { EgressMeasure, OpaquePackets, TunnelKind } from '../kernel/dataplane/egress-measurements.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { PortState } from '../model/state.ts';
import { type Steps, type Work, finish } from '../model/work.ts';
import type { DesiredState, EgressPortPlan } from '../plan/desired.ts';
import type { Facts } from '../plan/facts.ts';
import { declaredThresholds } from '../plan/thresholds.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';

export interface PortsDependencies {
  readonly work: Work;
  readonly intent: () => Pick<Intent, 'ports'>;
  readonly facts: () => Pick<Facts, 'links'>;
  readonly desired: () => Pick<DesiredState, 'ports'> | undefined;
  readonly dataplane: () => Pick<Dataplane, 'congestedNode' | 'isAttached'> | undefined;
  readonly rtnetlink: () => Pick<Rtnetlink, 'qdiscs'> | undefined;
}

/** Time for ports in one turn of the event loop. */
const BUDGET_MS = 4;

export async function ports(m: PortsDependencies): Promise<PortState[]> {
  const qdiscs = (await m.rtnetlink()?.qdiscs()) ?? [];
  return finish(m.work, collect(m, qdiscs), BUDGET_MS);
}

/** One port per step: each is some reads of maps. */
function* collect(m: PortsDependencies, qdiscs: readonly Qdisc[]): Steps<PortState[]> {
  const states: PortState[] = [];
  for (const port of m.intent().ports) {
    states.push(portState(port, m, qdiscs));
    yield;
  }
  return states;
}

function portState(port: Intent['ports'][number], m: PortsDependencies, qdiscs: readonly Qdisc[]): PortState {
  const link = m.facts().links.find((l) => l.name === port.interface);
  const planned = m.desired()?.ports.find((p) => p.interface === port.interface);
  const thresholds = planned ?? declaredThresholds(port);
  const root = qdiscs.find((q) => q.ifindex === link?.ifindex && q.parent === TC_H.ROOT);
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

/** Divides a number; absent becomes null. */
const divided = (value: number | null | undefined, by: number): number | null =>
  value === null || value === undefined ? null : value / by;

/**
 * Quantities measured per interval. A measurement older than two intervals is stale: no packet has entered the queue
 * since.
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
