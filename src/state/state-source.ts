// Operational state for the northbound (src/model/state.ts), read from its owner on each request.
import type { BgpCarrier } from '../carriers/bgp/carrier.ts';
import type { IsisCarrier } from '../carriers/isis/carrier.ts';
import type { OspfCarrier } from '../carriers/ospf/carrier.ts';
import { isHeard } from '../diagnosis/advertised.ts';
import type { Intent } from '../intent/intent.ts';
import type { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { LearnedTable } from '../learned/table.ts';
import { type IpAddress, formatAddress, sameAddress } from '../model/address.ts';
import type { BgpState } from '../model/carrier-state.ts';
import { CODE_POINTS } from '../model/code-points.ts';
import type { ConfigurationState } from '../model/configuration-state.ts';
import type { FlowControlView } from '../model/flow-control-state.ts';
import type { Numbered } from '../model/history.ts';
import type { SentNotification } from '../model/notification.ts';
import { formatPrefix } from '../model/prefix.ts';
import { type Problem, isHazard } from '../model/problem.ts';
import type { CounterState, Lazy, LocalProxyState, RttState, StateSource, StatusState } from '../model/state.ts';
import { processTime } from '../model/wall-time.ts';
import { type Steps, type Work, finish } from '../model/work.ts';
import type { HoldView } from '../source/hold.ts';
import type { ReceivedNotifications } from '../source/received.ts';
import type { DesiredState } from '../plan/desired.ts';
import type { Facts } from '../plan/facts.ts';
import { advertisedIn } from '../plan/origination.ts';
import { proxyAddressFor, proxyAddresses } from '../plan/proxy.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import { flowControlState } from './flow-control.ts';
import { flows } from './flows.ts';
import { namesOf, timeOfDay } from './names.ts';
import { notificationState } from './notifications.ts';
import { ports } from './ports.ts';
import { type GroupSources, groupsState } from './group-views.ts';
import { sidStates } from './sids.ts';
import { holdStates, receivedStates, sourceStates } from './sources.ts';

/** Time for counters, or for senders, in one turn of the event loop. */
const LISTS_BUDGET_MS = 2;

/** A carrier, while it runs. */
interface Running<C> {
  readonly carrier: C | undefined;
}

export interface StateDependencies {
  readonly version: string;
  readonly work: Work;
  readonly file: { readonly intent: Intent; state(): StatusState['intent'] };
  /** In force: the file's, with the members declared at run time. */
  readonly intent: () => Intent;
  readonly members: GroupSources['members'];
  /** Trees as planned, and what the kernel does for them. */
  readonly groups: () => Pick<GroupSources, 'trees' | 'roles' | 'hostnameOf'>;
  readonly table: Pick<LearnedTable, 'rows' | 'routers'>;
  readonly counters: { snapshot(): Steps<CounterState[]> };
  readonly startedAt: Date;
  /** What the start waits for; empty: it is over. */
  readonly waitsFor: (problems: readonly Problem[]) => string[];
  /** These are functions, since the objects may not exist yet or be replaced. */
  readonly facts: () => Facts;
  readonly desired: () => DesiredState | undefined;
  readonly dataplane: () => Dataplane | undefined;
  readonly carriers: () => {
    readonly isis: Running<IsisCarrier>;
    readonly ospfv2: Running<OspfCarrier>;
    readonly ospfv3: Running<OspfCarrier>;
    readonly bgp: Running<BgpCarrier>;
  };
  readonly rtnetlink: () => Rtnetlink | undefined;
  readonly hasRoute: (sid: IpAddress) => Promise<boolean>;
  readonly problems: () => readonly Problem[];
  /** Empty while the component does not run. */
  readonly notifications: () => readonly Numbered<SentNotification>[];
  /** Empty while this router takes no notifications. */
  readonly received: () => ReceivedNotifications | undefined;
  readonly holds: () => readonly HoldView[];
  /** Undefined while nothing is asked, and nothing is held, for neighbors. */
  readonly flowControl: () => FlowControlView | undefined;
  readonly rtt: () => RttState[];
  readonly configuration: () => Promise<ConfigurationState>;
}

/** Of the machines, whose clock is the process's. */
const timeOf = (at: number): string => processTime.iso(at);

export function stateSource(m: StateDependencies): StateSource {
  return {
    status: () => {
      const problems = [...m.problems()];
      const waitsFor = m.waitsFor(problems);
      return {
        version: m.version,
        pid: process.pid,
        startedAt: m.startedAt.toISOString(),
        health: healthOf(problems, waitsFor),
        waitsFor,
        problems,
        intent: m.file.state(),
        adopted: m.dataplane()?.adopted ?? false,
      };
    },
    proxies: () => proxies(m),
    senders: () => finish(m.work, m.table.rows(), LISTS_BUDGET_MS),
    isis: () => carrierState(m.carriers().isis),
    ospfv2: () => carrierState(m.carriers().ospfv2),
    ospfv3: () => carrierState(m.carriers().ospfv3),
    bgp: () => bgpState(m.carriers().bgp),
    ports: () => ports({ ...m, intent: () => m.file.intent }),
    flows: () => flows(m),
    notifications: () => {
      const names = namesOf(m.facts());
      return m.notifications().map(({ sequence, value }) => notificationState(sequence, value, names));
    },
    sources: () => sourceStates(m.file.intent, m.received()),
    received: () => receivedStates(m.received(), namesOf(m.facts())),
    holds: () => holdStates(m.holds(), timeOf),
    flowControl: () => flowControlState(m.file.intent, m.flowControl(), namesOf(m.facts()), timeOf),
    sids: () =>
      sidStates({
        intent: m.file.intent,
        routers: m.table.routers,
        desired: m.desired(),
        dataplane: m.dataplane(),
        hasRoute: m.hasRoute,
      }),
    groups: () => groupsState({ ...m, intent: m.intent(), routers: m.table.routers, timeOfDay, ...m.groups() }),
    rtt: () => m.rtt(),
    counters: () => finish(m.work, m.counters.snapshot(), LISTS_BUDGET_MS),
    configuration: m.configuration,
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

export const healthOf = (problems: readonly Problem[], waitsFor: readonly string[]): StatusState['health'] =>
  waitsFor.length > 0 ? 'starting' : problems.every(isHazard) ? 'running' : 'degraded';

/** One row per proxy address, with the senders advertised with it. */
function proxies({ file: { intent }, carriers }: Pick<StateDependencies, 'file' | 'carriers'>): LocalProxyState[] {
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
      advertisedIn: advertisedIn(intent, address, senders).filter((name) => isHeard(carriers(), name)),
    };
  });
}

/** A carrier that does not run has no neighbors and no database. */
const carrierState = <N, L>({
  carrier,
}: {
  readonly carrier: { neighbors(): N[]; database(): L[] } | undefined;
}): { neighbors: N[]; database: L[] } => ({
  neighbors: carrier?.neighbors() ?? [],
  database: carrier?.database() ?? [],
});

async function bgpState({ carrier }: Running<BgpCarrier>): Promise<Lazy<BgpState>> {
  if (!carrier) return { session: [], peers: [], paths: [] };
  const peers = await carrier.peers();
  return {
    session: [{ ...carrier.session(), ...(peers && { neighbors: peers.length }) }],
    peers: peers ?? [],
    // Lazy: a subscription to the session must not read all paths each time.
    get paths() {
      return carrier.paths();
    },
  };
}
