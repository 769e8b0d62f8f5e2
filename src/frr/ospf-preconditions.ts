// What FRR must be and have so that cnpd's OSPF carriers work beside it: one table for the instance, one for each
// area's interface, a row a precondition. Lines that touch nothing but cnpd's own interface go with it for
// configure.ts. What reaches further is said and never done: an area, and `capability opaque`, with which ospfd takes
// all its adjacencies down and up again.
import type { IpAddress } from '../model/address.ts';
import { type Prefix, formatPrefix, prefixContains, prefixOf } from '../model/prefix.ts';
import { type EndConExpectation, hasEndCon, wayToEndConInOspf } from './end-con.ts';
import {
  VERSION_CLAIM,
  checkDaemon,
  checkLink,
  checkVersion,
  mend,
  type Finding,
  type FrrCheck,
  type FrrLine,
} from './finding.ts';
import { authenticationProblem } from './ospf-authentication.ts';
import {
  type OspfInterfaceConfig,
  type OspfVersionNumber,
  areaType,
  areasOf,
  formatArea,
  networkStatements,
  ospfInstance,
  ospfInterface,
  ospfWord,
} from './ospf-config.ts';
import { OSPF_DAEMON, type OspfFacts } from './ospf-facts.ts';
import { type RunningConfig } from './running-config.ts';

/** What cnpd.yaml expects of FRR; the sections `ospfv2` and `ospfv3` of the intent have this shape but for `endCon`. */
export interface OspfExpectation {
  readonly version: OspfVersionNumber;
  /** 32 bits. */
  readonly routerId: number;
  readonly areas: readonly OspfAreaExpectation[];
  readonly helloSeconds: number;
  readonly deadSeconds: number;
  /** `srv6.end-con`: SIDs to which FRR must advertise a way; OSPFv3 only. */
  readonly endCon?: readonly EndConExpectation[];
}

export interface OspfAreaExpectation {
  readonly areaId: number;
  readonly interface: string;
  readonly mtu: number;
  readonly ignoreMtu: boolean;
  readonly instanceId: number;
  /** OSPFv2 only. */
  readonly link?: { readonly router: IpAddress; readonly length: number };
  readonly keys: readonly { readonly id: number; readonly algorithm: string; readonly key: string }[];
}

/** Everything a row may look at; the daemon was asked and has an instance. */
interface View {
  readonly want: OspfExpectation;
  readonly facts: OspfFacts;
  readonly config: RunningConfig;
  /** Lines of `router ospf` or `router ospf6`. */
  readonly instance: readonly string[];
}

interface AreaView extends View {
  readonly area: OspfAreaExpectation;
  /** As in cnpd.yaml: `ospfv2.areas[0]`. */
  readonly where: string;
  readonly link: OspfInterfaceConfig;
}

interface Row<V> {
  readonly id: string;
  /** Only for this version. */
  readonly version?: OspfVersionNumber;
  /** Only where this is expected. */
  readonly only?: (want: OspfExpectation) => boolean;
  readonly claim: (want: OspfExpectation) => string;
  readonly check: (view: V) => Finding | undefined;
}

const CAPABILITY_OPAQUE =
  "vtysh -c 'configure terminal' -c 'router ospf' -c 'capability opaque' (ospfd takes its adjacencies down " +
  'and up again)';

const INSTANCE_ROWS: readonly Row<View>[] = [
  {
    id: 'capability-opaque',
    version: 2,
    claim: () => 'ospfd takes opaque LSAs',
    check: ({ facts }) =>
      facts.process?.opaque
        ? undefined
        : { problem: 'ospfd does not take opaque LSAs, in which the flags are', remedy: CAPABILITY_OPAQUE },
  },
  {
    id: 'router-id',
    claim: () => "cnpd's router ID is not FRR's",
    check: ({ facts, want }) => {
      const ours = formatArea(want.routerId);
      return facts.process?.routerId === ours
        ? {
            problem: `ospfv${want.version}.router-id in cnpd.yaml, ${ours}, is FRR's own`,
            remedy: `set ospfv${want.version}.router-id in cnpd.yaml to one that no router has`,
          }
        : undefined;
    },
  },
  {
    id: 'end-con',
    version: 3,
    only: hasEndCon,
    claim: () => 'packets to END.CON arrive here',
    check: ({ want, facts, instance }) => wayToEndConInOspf(want.endCon ?? [], facts, instance),
  },
];

/** A line of the area's interface. */
const onInterface = ({ area, want }: AreaView, line: string, undo: string): FrrLine => {
  const word = ospfWord(want.version);
  const withWord = (text: string): string =>
    text.startsWith('no ') ? `no ${word} ${text.slice(3)}` : `${word} ${text}`;
  return { context: `interface ${area.interface}`, line: withWord(line), undo: withWord(undo) };
};

const AREA_ROWS: readonly Row<AreaView>[] = [
  {
    id: 'interface',
    claim: () => 'the interface exists',
    check: ({ area, facts }) => checkLink(area.interface, facts.links?.get(area.interface), facts.zebraError),
  },
  { id: 'area', claim: ({ version }) => `OSPFv${version} is enabled in the area of cnpd.yaml`, check: checkArea },
  {
    id: 'area-type',
    claim: () => 'the area is no stub area and no NSSA',
    check: ({ instance, area, where }) => {
      const type = areaType(instance, area.areaId);
      if (type === undefined) return undefined;
      return {
        problem:
          `area ${formatArea(area.areaId)} is a ${type === 'stub' ? 'stub area' : 'not-so-stubby area'} to FRR, ` +
          'which cnpd does not speak',
        remedy: `take ${where} out of cnpd.yaml`,
      };
    },
  },
  {
    id: 'point-to-point',
    claim: () => 'the interface is point-to-point',
    check: (view) =>
      view.link.pointToPoint
        ? undefined
        : mend(`${view.area.interface} is a broadcast network to FRR`, [
            onInterface(view, 'network point-to-point', 'no network'),
          ]),
  },
  {
    id: 'active',
    claim: () => 'the interface is not passive',
    check: (view) =>
      view.link.passive
        ? mend(`${view.area.interface} is passive, so FRR sends no hello`, [onInterface(view, 'no passive', 'passive')])
        : undefined,
  },
  { id: 'timers', claim: () => 'hello and dead intervals agree', check: checkTimers },
  { id: 'mtu', claim: () => 'the MTUs agree', check: checkMtu },
  {
    id: 'instance-id',
    version: 3,
    claim: () => 'the instance IDs agree',
    check: (view) => {
      const [has, wants] = [view.link.instanceId, view.area.instanceId];
      return has === wants
        ? undefined
        : mend(`${view.area.interface} has instance ID ${has} in FRR and ${wants} in cnpd.yaml`, [
            onInterface(view, `instance-id ${wants}`, `instance-id ${has}`),
          ]);
    },
  },
  {
    id: 'authentication',
    claim: () => 'packets are authenticated alike',
    check: (view) =>
      authenticationProblem(
        { config: view.config, built: view.facts },
        view.want.version,
        view.link,
        view.area,
        view.where,
      ),
  },
];

/** The link of an OSPFv2 area, as `network` has it. */
const linkPrefix = ({ link }: OspfAreaExpectation): Prefix | undefined => link && prefixOf(link.router, link.length);

function checkArea(view: AreaView): Finding | undefined {
  const { want, area, config, instance, link, where } = view;
  const networks = want.version === 2 ? networkStatements(instance) : [];
  const prefix = linkPrefix(area);
  const enabled =
    link.area ?? (area.link && networks.find((network) => prefixContains(network.prefix, area.link!.router))?.area);
  const wanted = formatArea(area.areaId);
  if (enabled === area.areaId) return undefined;
  const areas = areasOf(config, want.version, new Set(want.areas.map((a) => a.interface)));
  if (enabled !== undefined) {
    const problem = `${area.interface} is in area ${formatArea(enabled)} in FRR and in area ${wanted} in cnpd.yaml`;
    // Which of the two is wrong say the router's other interfaces. FRR changes no area: one has to go before the other
    // comes.
    const ours = link.area !== undefined && areas.has(area.areaId) && !areas.has(enabled);
    if (!ours) return { problem, remedy: `set ${where}.area in cnpd.yaml to ${formatArea(enabled)}` };
    return mend(problem, [
      onInterface(view, 'no area', `area ${formatArea(enabled)}`),
      onInterface(view, `area ${wanted}`, 'no area'),
    ]);
  }
  if (areas.size > 0 && !areas.has(area.areaId)) {
    return {
      problem: `FRR has no interface in area ${wanted}, which ${where} in cnpd.yaml names`,
      remedy: `set ${where}.area in cnpd.yaml to one of ${[...areas].map(formatArea).join(', ')}`,
    };
  }
  const problem = `OSPFv${want.version} is not enabled on ${area.interface}`;
  // FRR takes one or the other.
  if (networks.length > 0 && prefix) {
    const line = `network ${formatPrefix(prefix)} area ${wanted}`;
    return mend(problem, [{ context: ospfInstance(2), line, undo: `no ${line}` }]);
  }
  return mend(problem, [onInterface(view, `area ${wanted}`, `no area ${wanted}`)]);
}

function checkTimers(view: AreaView): Finding | undefined {
  const { want, area, link } = view;
  const pairs = [
    ['hello-interval', link.hello, want.helloSeconds],
    ['dead-interval', link.dead, want.deadSeconds],
  ] as const;
  // Both, because to ospfd a hello interval says what the dead interval is.
  if (pairs.every(([, has, wants]) => has === wants)) return undefined;
  const differ = pairs
    .filter(([, has, wants]) => has !== wants)
    .map(([command, has, wants]) => `${command} is ${has} s in FRR and ${wants} s in cnpd.yaml`);
  const has = (command: string): boolean =>
    link.lines.some((line) => line.startsWith(`${ospfWord(want.version)} ${command} `));
  return mend(
    `${area.interface}: ${differ.join(', ')}`,
    pairs.map(([command, value, wants]) =>
      onInterface(view, `${command} ${wants}`, has(command) ? `${command} ${value}` : `no ${command}`),
    ),
  );
}

/** FRR refuses a neighbour whose MTU is larger than its own, and so does cnpd. */
function checkMtu(view: AreaView): Finding | undefined {
  const { facts, area, link, where } = view;
  const kernel = facts.links?.get(area.interface);
  if (!kernel) return undefined;
  if (link.ifMtu !== undefined && link.ifMtu !== area.mtu && !link.mtuIgnore) {
    return mend(`${area.interface} has MTU ${area.mtu}, ospf6d says ${link.ifMtu} (ifmtu)`, [
      onInterface(view, 'no ifmtu', `ifmtu ${link.ifMtu}`),
    ]);
  }
  const [tooLarge, tooSmall] = [kernel.mtu > area.mtu && !area.ignoreMtu, kernel.mtu < area.mtu && !link.mtuIgnore];
  if (!tooLarge && !tooSmall) return undefined;
  return {
    problem:
      `${area.interface} has MTU ${kernel.mtu}, ${where}.mtu in cnpd.yaml is ${area.mtu}: ` +
      'the databases cannot be exchanged',
    remedy: `ip link set ${area.interface} mtu ${area.mtu}`,
  };
}

/** Every precondition of one version, with its state, in the order in which they are to be mended. */
export function checkOspf(facts: OspfFacts, want: OspfExpectation): FrrCheck[] {
  const { version } = want;
  const daemon = OSPF_DAEMON[version];
  const has = facts.process !== undefined && facts.process !== null;
  const blocked = facts.error !== undefined;
  const result = (id: string, claim: string, finding: Finding | undefined, unknown = false): FrrCheck => ({
    id: `frr.ospfv${version}.${id}`,
    claim,
    state: unknown ? 'unknown' : finding ? 'missing' : 'ok',
    ...(unknown ? {} : finding),
  });
  const noInstance = {
    problem: `there is no ${ospfInstance(version)} in FRR, or it has no router ID`,
    remedy:
      `vtysh -c 'configure terminal' -c '${ospfInstance(version)}' -c '${version === 2 ? 'ospf' : 'ospf6'} ` +
      "router-id <router-id>'",
  };
  const first = [
    result(daemon, `${daemon} runs and can be asked`, checkDaemon(daemon, facts.error, facts.enabled)),
    result('version', VERSION_CLAIM, checkVersion(facts.version), blocked),
    result('instance', `FRR runs OSPFv${version}`, has ? undefined : noInstance, blocked),
  ];
  const unknown = blocked || !has;
  const view: View = {
    want,
    facts,
    config: facts.config ?? new Map(),
    instance: facts.config?.get(ospfInstance(version)) ?? [],
  };
  const applies = (row: Pick<Row<never>, 'version' | 'only'>): boolean =>
    (row.version === undefined || row.version === version) && (row.only?.(want) ?? true);
  const ofInstance = INSTANCE_ROWS.filter(applies).map(({ id, claim, check }) =>
    result(id, claim(want), unknown ? undefined : check(view), unknown),
  );
  const ofAreas = want.areas.flatMap((area, n) => {
    const areaView = {
      ...view,
      area,
      where: `ospfv${version}.areas[${n}]`,
      link: ospfInterface(view.config, version, area.interface),
    };
    return AREA_ROWS.filter(applies).map(({ id, claim, check }) =>
      result(
        `${area.interface}.${id}`,
        `${area.interface}: ${claim(want)}`,
        unknown ? undefined : check(areaView),
        unknown,
      ),
    );
  });
  return [...first, ...ofInstance, ...ofAreas];
}
