// What does not work as declared, and what to do about it: gathered when somebody asks, from whoever knows. Nothing
// here is state.
import type { IsisCarrier } from '../carriers/isis/carrier.ts';
import type { Intent, OspfIntent } from '../intent/intent.ts';
import type { CarrierName } from '../model/advertisement.ts';
import { STAMP_CONSEQUENCE, collisionOfStamp, collisions, consequenceOf } from '../model/assigned-numbers.ts';
import type { BgpSessionState, OspfNeighborState } from '../model/carrier-state.ts';
import { formatId } from '../packet/ospf/router-id.ts';
import type { Problem } from '../plan/desired.ts';
import { droppedRemedy, gobgpRemedy, policyRemedy, refusalRemedy } from './gobgp.ts';
import { carriedByOthers, carriersLacking, carriersOf } from './origination.ts';

/**
 * How long an adjacency may be missing before it is a problem: FRR's hello interval and its start, with room.
 * Milliseconds.
 */
const ADJACENCY_PATIENCE_MS = 30_000;

/**
 * IS-IS runs and nobody hears it: nothing is advertised, nothing is learned. `startedAt` and `now` are milliseconds
 * since 1970.
 */
export function adjacencyProblems(
  intent: Intent,
  carrier: Pick<IsisCarrier, 'neighbors'> | undefined,
  startedAt: number,
  now: number,
): Problem[] {
  const neighbors = carrier?.neighbors() ?? [];
  if (!intent.isis || !carrier || neighbors.some((n) => n.state === 'up')) return [];
  const since = Math.max(startedAt, ...neighbors.map((n) => Date.parse(n.since)));
  if (now - since < ADJACENCY_PATIENCE_MS) return [];
  const problem =
    `no IS-IS neighbour is up on ${intent.isis.interface}: nothing is advertised, ` +
    'and what was learned is held for a while and then dropped';
  return [{ feature: 'isis', problem, remedy: 'mend what `cnpctl doctor` finds in FRR' }];
}

/** What each carrier has room for, and what gives it more. */
const ROOM: Readonly<Record<CarrierName, readonly [reason: string, remedy: string]>> = {
  isis: ['IS-IS has room for about 10,000 in the 255 fragments of one system', 'declare fewer, shorter prefixes'],
  ospfv2: [
    'OSPFv2 has no form for an IPv4 sender whose proxy has only an IPv6 address, or no room',
    'give proxy.address an address of each family in cnpd.yaml; declare fewer, shorter prefixes',
  ],
  ospfv3: [
    'OSPFv3 has no form for an IPv6 sender whose proxy has only an IPv4 address, or no room',
    'give proxy.address an address of each family in cnpd.yaml; declare fewer, shorter prefixes',
  ],
  bgp: [
    'a path in BGP needs a next hop of its own family',
    'give router.loopback, or bgp.next-hop, an address of both families',
  ],
};

/**
 * Prefixes that are declared and not advertised. Of those that a carrier has no form for, none that another one
 * advertises: nobody asked for it in every carrier.
 * @param counted by the carrier: what it has no form for, and what it has no room for
 */
export function placementProblems(intent: Intent, feature: CarrierName, counted: number): Problem[] {
  const unplaced = counted - carriedByOthers(intent, feature);
  if (unplaced <= 0) return [];
  const [reason, remedy] = ROOM[feature];
  return [
    {
      feature,
      problem: `${unplaced} ${unplaced === 1 ? 'prefix is' : 'prefixes are'} not advertised: ${reason}`,
      remedy,
    },
  ];
}

/** OSPF runs and in some area there is nobody, or somebody that cannot be told. Times are milliseconds since 1970. */
export function ospfProblems(
  intent: OspfIntent | undefined,
  carrier: { neighbors(): OspfNeighborState[] } | undefined,
  startedAt: number,
  now: number,
): Problem[] {
  if (!intent || !carrier) return [];
  return carrier.neighbors().flatMap((neighbor) => areaProblem(intent, neighbor, startedAt, now) ?? []);
}

function areaProblem(
  intent: OspfIntent,
  neighbor: OspfNeighborState,
  startedAt: number,
  now: number,
): Problem | undefined {
  const feature = `ospfv${intent.version}`;
  const { area, state, mtu } = neighbor;
  const declared = intent.areas.find((a) => a.interface === neighbor.interface);
  if (neighbor.takesOpaque === false) {
    const problem = `FRR takes no opaque LSAs on ${neighbor.interface} (area ${area}): nothing is advertised there`;
    return { feature, problem, remedy: "vtysh -c 'configure terminal' -c 'router ospf' -c 'capability opaque'" };
  }
  if (neighbor.routerIdContested) {
    const problem =
      `another router in area ${area} has the router ID ${formatId(intent.routerId)}: ` +
      'each undoes what the other advertises';
    return {
      feature,
      problem,
      remedy: `give one of the two another ${feature}.router-id in cnpd.yaml, and \`cnpctl reload\``,
    };
  }
  if (neighbor.databaseFull) {
    const problem =
      `the OSPFv${intent.version} database of area ${area} is full: LSAs were refused, ` +
      'and what they say is not learned';
    return {
      feature,
      problem,
      remedy:
        `see in \`cnpctl show ${intent.version === 2 ? 'ospf' : 'ospf3'} database\` whose LSAs are so ` +
        'many or so long',
    };
  }
  if (state === 'full') return undefined;
  // Not since it entered its state: one that begins anew again and again has never been long in any.
  const late =
    now - Math.max(startedAt, Date.parse(neighbor.notFullSince ?? neighbor.since)) >=
    ADJACENCY_PATIENCE_MS + intent.helloSeconds * 1000;
  // Whoever has the smaller MTU refuses; whether FRR does shows only in that nothing goes on.
  if (
    declared &&
    mtu !== null &&
    ((mtu > declared.mtu && !declared.ignoreMtu) || (mtu < declared.mtu && late && state === 'ex-start'))
  ) {
    const problem =
      `the MTU of ${neighbor.interface} (area ${area}) is ${mtu} to FRR and ${declared.mtu} to cnpd: ` +
      'the databases cannot be exchanged';
    return {
      feature,
      problem,
      remedy:
        `ip link set ${neighbor.interface} mtu ` +
        `${declared.mtu}${intent.version === 3 ? ', or take `ifmtu` out of FRR' : ''}, ` +
        `or set ${feature}.areas mtu to ${mtu} in cnpd.yaml`,
    };
  }
  if (!late) return undefined;
  const problem =
    `no OSPFv${intent.version} neighbour is full on ${neighbor.interface} (area ${area}) but ${state} ` +
    `(${neighbor.reason}): nothing is advertised there, and what was learned is held for a while and then dropped`;
  return { feature, problem, remedy: 'mend what `cnpctl doctor` finds in FRR' };
}

/**
 * How long gobgpd may be away before it is a problem, milliseconds: its restart, with room; and how long it may take to
 * list a large table.
 */
const GOBGP_PATIENCE_MS = { connecting: 30_000, waiting: 30_000, loading: 120_000, ready: Infinity } as const;

/**
 * gobgpd cannot be reached, or not be understood, or does not take or keep paths. Times are milliseconds since 1970.
 */
export function bgpProblems(session: BgpSessionState | undefined, startedAt: number, now: number): Problem[] {
  if (
    session?.state === 'ready' &&
    session.refusal !== undefined &&
    session.policy !== 'failed' &&
    session.silent === undefined
  ) {
    const { originated, wanted, refusal, target } = session;
    const problem =
      `gobgpd does not take what cnpd puts in or takes out (${refusal}): ` +
      `it has ${originated} of ${wanted} paths, as far as is known; cnpd tries again all the time`;
    return [{ feature: 'bgp', problem, remedy: refusalRemedy(target, refusal) }];
  }
  if (session?.state === 'ready' && session.dropped) {
    const { dropped, wanted, noTable } = session;
    const problem =
      `gobgpd takes ${dropped} of cnpd's ${wanted} paths without an error and does not have ` +
      `them${noTable ? `: it has no table of ${noTable.join(', ')}` : ''}; ` +
      'nobody hears of those proxies, and cnpd tries again all the time';
    return [{ feature: 'bgp', problem, remedy: droppedRemedy(noTable) }];
  }
  if (session?.state === 'ready' && session.silent !== undefined) {
    const problem = `gobgpd does not answer (for ${session.silent} s): cnpd goes on with what it last told`;
    return [{ feature: 'bgp', problem, remedy: gobgpRemedy(session.target, problem) }];
  }
  if (session?.state === 'ready' && session.policy === 'failed') {
    const { policyReason = '' } = session;
    const problem =
      `cnpd's policies do not stand in gobgpd (${policyReason}): cnpd puts in no path, ` +
      'and what comes from neighbours outside the domain is not marked for the others';
    return [{ feature: 'bgp', problem, remedy: policyRemedy(policyReason) }];
  }
  if (!session || now - Math.max(startedAt, Date.parse(session.since)) < GOBGP_PATIENCE_MS[session.state]) return [];
  const problem =
    `gobgpd cannot be used at ${session.target} (${session.reason}): nothing is advertised in BGP, ` +
    'and what was learned is held for a while and then dropped';
  return [{ feature: 'bgp', problem, remedy: gobgpRemedy(session.target, session.reason) }];
}

/** A gobgpd has one cnpd beside it: two would take each other's paths for those of an earlier run. */
export function disputeProblems(disputed: boolean): Problem[] {
  if (!disputed) return [];
  const problem =
    "somebody else puts in, replaces or takes out cnpd's paths at this gobgpd (path identifier 1668182116), " +
    'again and again: who is a proxy changes with them';
  return [
    {
      feature: 'bgp',
      problem,
      remedy:
        'each cnpd needs a gobgpd of its own: compare bgp.gobgp.target in the cnpd.yaml of other routers, ' +
        'and look for scripts that run `gobgp global rib`, ' +
        'and for an import policy of gobgpd that changes paths (`gobgp global policy`)',
    },
  ];
}

/**
 * Senders of a family that none of the carriers has a place for: nobody will ever hear of their proxy. Without any
 * carrier that is what was declared; a carrier that would have a place, had it a next hop or a proxy address of that
 * family, counts them itself (placementProblems).
 */
export function carriageProblems(intent: Intent): Problem[] {
  const { isis, ospfv2, ospfv3, bgp } = intent;
  if (!isis && !ospfv2 && !ospfv3 && !bgp) return [];
  const families = new Set(intent.proxy?.senders.map(({ prefix }) => prefix.address.family));
  return [...families]
    .filter((family) => carriersOf(intent, family).length + carriersLacking(intent, family).length === 0)
    .map((family) => ({
      feature: 'proxy',
      problem:
        `the IPv${family} senders of this proxy are not advertised: OSPFv2 carries IPv4 senders, ` +
        'OSPFv3 IPv6 senders',
      remedy: `add ${family === 4 ? 'ospfv2' : 'ospfv3'} or isis to cnpd.yaml`,
    }));
}

/**
 * Several areas, and none of them the backbone: no border router (RFC 2328 §3.3), so nothing is carried between them.
 */
export function borderProblems(intent: Intent): Problem[] {
  return [intent.ospfv2, intent.ospfv3]
    .filter((ospf) => ospf !== undefined)
    .filter(({ areas }) => areas.length > 1 && !areas.some(({ areaId }) => areaId === 0))
    .map(({ version }) => ({
      feature: `ospfv${version}`,
      problem: `nothing is carried between the areas of ospfv${version}: none of them is the backbone, area 0.0.0.0`,
      remedy:
        `add the backbone to ospfv${version}.areas if this router is in it; ` +
        'if not, a router that is in both has to carry',
    }));
}

/** Values that mean something else to others, which `allow-assigned` took the risk of. */
export function codePointProblems({ codePoints, stamp }: Intent): Problem[] {
  const others = stamp ? [{ like: 'pnc-udp-port' as const, value: stamp.udpPort, use: 'stamp.port' }] : [];
  const remedy = 'give it a value that is not assigned, here and in the whole domain, and remove allow-assigned';
  const feature = 'code-points';
  const port = stamp && collisionOfStamp(stamp.udpPort);
  return [
    ...collisions(codePoints, others).map(({ name, value, with: use }) => ({
      feature,
      problem: `code-points.${name} ${value} is ${use}: ${consequenceOf(name)}`,
      remedy,
    })),
    ...(port === undefined
      ? []
      : [{ feature, problem: `stamp.port ${stamp!.udpPort} is ${port}: ${STAMP_CONSEQUENCE}`, remedy }]),
  ];
}

/** Border ports that are named as the proxy's or the core's: what comes from outside is believed there. */
export function outsideProblems({ borderPorts, proxy, router }: Intent): Problem[] {
  const border = new Set(borderPorts);
  const learned = (proxy?.interfaces ?? [])
    .filter((name) => border.has(name))
    .map((name) => ({
      feature: 'proxy',
      problem:
        `${name} is a border port and under proxy.interfaces: ` +
        'hosts outside the domain can teach and remove Queue Pairs of their own connections there',
      remedy: `take ${name} out of proxy.interfaces, unless notices from outside are let in (border-allow)`,
    }));
  const core = (router.corePorts ?? [])
    .filter((name) => border.has(name))
    .map((name) => ({
      feature: 'router',
      problem: `${name} is a border port and under router.core-ports: it is not taken for a core port`,
      remedy: `take ${name} out of router.core-ports`,
    }));
  return [...learned, ...core];
}

/** What a file that is valid promises and cannot keep. */
export const promiseProblems = (intent: Intent): Problem[] => [
  ...codePointProblems(intent),
  ...carriageProblems(intent),
  ...borderProblems(intent),
  ...outsideProblems(intent),
];

/** The file and the intent in force differ. */
export const reloadProblems = (file: string, refused: boolean): Problem[] =>
  refused
    ? [
        {
          feature: 'intent',
          problem: 'the last reload was refused; the intent before it is in force',
          remedy: `\`cnpd check ${file}\` shows the errors`,
        },
      ]
    : [];
