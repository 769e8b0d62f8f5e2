// Operational state for the northbound (src/model/state.ts), read from whoever owns it at the moment it is asked for.
import type { IsisCarrier } from '../carriers/isis/carrier.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { LearnedTable } from '../learned/table.ts';
import { formatAddress } from '../model/address.ts';
import { CODE_POINTS } from '../model/code-points.ts';
import { formatPrefix } from '../model/prefix.ts';
import type { FlowState, PortState, StateSource } from '../model/state.ts';
import { createPace } from '../northbound/pace.ts';
import { explainPort } from '../plan/congested-node.ts';
import type { DesiredState, Problem } from '../plan/desired.ts';
import type { Facts } from '../plan/facts.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Counters } from './counters.ts';
import type { IntentFile } from './intent-file.ts';
import { VERSION } from './version.ts';

export interface StateModules {
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
  readonly carrier: () => IsisCarrier | undefined;
  readonly rtnetlink: () => Rtnetlink | undefined;
  readonly problems: () => readonly Problem[];
}

export function stateSource(m: StateModules): StateSource {
  return {
    status: () => {
      const problems = m.problems().map(({ feature, problem, remedy }) => ({ feature, problem, remedy }));
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
    proxies: () => {
      const { proxy, isis } = m.file.intent;
      if (!proxy) return [];
      const formats = [...new Set(proxy.senders.map((s) => s.format))].join(', ');
      return [{ address: formatAddress(proxy.address), prefixes: proxy.senders.map((s) => formatPrefix(s.prefix)), format: formats, advertisedIn: isis ? ['isis'] : [] }];
    },
    senders: () => m.table.entries(),
    isis: () => ({ neighbors: m.carrier()?.neighbors() ?? [], database: m.carrier()?.database() ?? [] }),
    ports: () => ports(m),
    flows: () => flows(m),
    counters: () => m.counters.snapshot(),
    codepoints: () => {
      const values = m.file.intent.codePoints;
      return CODE_POINTS.map(({ name, default: fallback, description, source }) => ({ name, value: values[name], default: fallback, description, source }));
    },
  };
}

async function ports(m: StateModules): Promise<PortState[]> {
  const qdiscs = (await m.rtnetlink()?.qdiscs()) ?? [];
  return m.file.intent.ports.map((port) => {
    const link = m.facts().links.find((l) => l.name === port.interface);
    const planned = m.desired()?.ports.find((p) => p.interface === port.interface);
    const root = qdiscs.find((q: Qdisc) => q.ifindex === link?.ifindex && q.parent === TC_H.ROOT);
    const table = m.dataplane()?.congestedNode?.table;
    const stats = planned && table?.stats(planned.ifindex);
    return {
      interface: port.interface,
      ifindex: link?.ifindex ?? 0,
      attached: planned !== undefined && (m.dataplane()?.isAttached(port.interface) ?? false),
      rootQdisc: root?.kind ?? 'none',
      queueBytes: root?.stats.backlogBytes ?? 0,
      peakQueueBytes: (planned && table?.peakQueueBytes(planned.ifindex)) ?? 0,
      kMin: port.kMin ?? 0,
      kMax: port.kMax ?? 0,
      explanation: planned ? explainPort(port, planned, root?.tbf?.limit) : [],
      packets: Number(stats?.packets ?? 0),
      bytes: Number(stats?.bytes ?? 0),
      ceMarked: Number(stats?.ceMarked ?? 0),
      triggers: Number(stats?.triggers ?? 0),
      notifications: Number(stats?.notifications ?? 0),
      suppressedPerFlow: Number(stats?.suppressedPerFlow ?? 0),
      suppressedPerPort: Number(stats?.suppressedPerPort ?? 0),
      noProxy: Number(stats?.noProxy ?? 0),
    };
  });
}

/** CLOCK_MONOTONIC nanoseconds of a program as a time of day. */
function timeOfDay(ns: bigint): string {
  const ago = Number(process.hrtime.bigint() - ns) / 1e6;
  return new Date(Date.now() - ago).toISOString();
}

/** Tables of tens of thousands of flows: the event loop keeps its other appointments meanwhile. */
async function flows(m: StateModules): Promise<FlowState[]> {
  const pace = createPace();
  const states: FlowState[] = [];
  for (const state of everyFlow(m)) {
    states.push(state);
    const turn = pace();
    if (turn) await turn;
  }
  return states;
}

function* everyFlow(m: StateModules): Generator<FlowState> {
  const names = new Map(m.facts().links.map((l) => [l.ifindex, l.name]));
  for (const f of m.dataplane()?.congestedNode?.flows(process.hrtime.bigint()) ?? []) {
    yield {
      port: names.get(f.ifindex) ?? `#${f.ifindex}`,
      source: formatAddress(f.source),
      destination: formatAddress(f.destination),
      destinationQpn: f.destinationQpn,
      sourceQpn: null,
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
