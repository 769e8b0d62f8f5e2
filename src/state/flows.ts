// Flows for the northbound: those that the congested node watches, and those with Queue Pairs that the proxy has
// learned.
import { formatAddress } from '../model/address.ts';
import type { FlowState } from '../model/state.ts';
import { type Steps, type Work, finish } from '../model/work.ts';
import type { Facts } from '../plan/facts.ts';
import type { CongestedNode } from '../reconcile/congested-node.ts';
import type { Proxy } from '../reconcile/proxy.ts';
import { namesOf } from './names.ts';

/** Time for flows in one turn of the event loop. */
const BUDGET_MS = 4;

export interface FlowsDependencies {
  readonly work: Work;
  readonly facts: () => Pick<Facts, 'links'>;
  readonly dataplane: () =>
    | {
        readonly congestedNode: Pick<CongestedNode, 'flows'> | undefined;
        readonly proxy: Pick<Proxy, 'queuePairs'> | undefined;
      }
    | undefined;
}

/** Collects in steps, since the tables hold tens of thousands of flows. */
export const flows = (dependencies: FlowsDependencies): Promise<FlowState[]> =>
  finish(dependencies.work, collect(dependencies), BUDGET_MS);

/** One flow per step. */
function* collect(dependencies: FlowsDependencies): Steps<FlowState[]> {
  const states = new Map<string, FlowState>();
  for (const state of everyFlow(dependencies)) {
    // A learned entry has a tenant, which is not part of the key.
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
 * Merges flows with equal keys in different tunnels, or of different datagram sources: the keys of a gNMI list are
 * unique.
 */
const together = (a: FlowState, b: FlowState): FlowState => ({
  ...(a.lastSeen < b.lastSeen ? b : a),
  sourceQpn: a.sourceQpn === b.sourceQpn ? a.sourceQpn : null,
  packets: a.packets + b.packets,
  bytes: a.bytes + b.bytes,
  notifications: a.notifications + b.notifications,
});

function* everyFlow({ facts, dataplane }: FlowsDependencies): Generator<FlowState> {
  const { port, timeOfDay } = namesOf(facts());
  for (const f of dataplane()?.congestedNode?.flows(process.hrtime.bigint()) ?? []) {
    yield {
      port: port(f.ifindex),
      source: formatAddress(f.source),
      destination: formatAddress(f.destination),
      destinationQpn: f.destinationQpn,
      // Looked up when it was needed to notify the sender.
      sourceQpn: f.lastNotification?.sourceQpn || null,
      learnedFrom: null,
      packets: Number(f.packets),
      bytes: Number(f.bytes),
      lastSeen: timeOfDay(f.lastSeen),
      notifications: Number(f.notices),
    };
  }
  for (const q of dataplane()?.proxy?.queuePairs() ?? []) {
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
