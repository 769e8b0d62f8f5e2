// FRR's preconditions on an area's interface, one row each.
import type { FrrLine } from '../../frr/check.ts';
import { areaType, areasOf, formatArea, networkStatements, ospfInstance, ospfWord } from '../../frr/ospf-config.ts';
import { type Prefix, formatPrefix, prefixContains, prefixOf } from '../../model/prefix.ts';
import { type Finding, checkLink, mend } from './finding.ts';
import { authenticationProblem } from './ospf-authentication.ts';
import type { AreaView, OspfAreaExpectation, Row } from './ospf-view.ts';

/** A line of the area's interface. */
const onInterface = ({ area, want }: AreaView, line: string, undo: string): FrrLine => {
  const word = ospfWord(want.version);
  const withWord = (text: string): string =>
    text.startsWith('no ') ? `no ${word} ${text.slice(3)}` : `${word} ${text}`;
  return { context: `interface ${area.interface}`, line: withWord(line), undo: withWord(undo) };
};

export const AREA_ROWS: readonly Row<AreaView>[] = [
  {
    id: 'interface',
    claim: () => 'the interface exists',
    check: ({ area, facts }) => checkLink(area.interface, facts.links?.get(area.interface), facts.zebraError),
  },
  { id: 'area', claim: ({ version }) => `OSPFv${version} is enabled in the area of cnpd.yaml`, check: checkArea },
  {
    id: 'area-type',
    claim: () => 'the area is neither a stub area nor an NSSA',
    check: ({ instance, area, where }) => {
      const type = areaType(instance, area.areaId);
      if (type === undefined) return undefined;
      return {
        code: 'area-type',
        problem:
          `area ${formatArea(area.areaId)} is a ${type === 'stub' ? 'stub area' : 'not-so-stubby area'} to FRR, ` +
          'which cnpd does not support',
        remedy: `remove ${where} from cnpd.yaml`,
      };
    },
  },
  {
    id: 'point-to-point',
    claim: () => 'the interface is point-to-point',
    check: (view) =>
      view.link.pointToPoint
        ? undefined
        : mend('broadcast', `${view.area.interface} is a broadcast network to FRR`, [
            onInterface(view, 'network point-to-point', 'no network'),
          ]),
  },
  {
    id: 'active',
    claim: () => 'the interface is not passive',
    check: (view) =>
      view.link.passive
        ? mend('passive', `${view.area.interface} is passive, so FRR sends no hello`, [
            onInterface(view, 'no passive', 'passive'),
          ])
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
        : mend(
            'instance-id-differs',
            `${view.area.interface} has instance ID ${has} in FRR and ${wants} in cnpd.yaml`,
            [onInterface(view, `instance-id ${wants}`, `instance-id ${has}`)],
          );
    },
  },
  {
    id: 'authentication',
    claim: () => 'packet authentication agrees',
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

/** The prefix of an OSPFv2 area's link, for the `network` command. */
const linkPrefix = ({ link }: OspfAreaExpectation): Prefix | undefined => link && prefixOf(link.router, link.length);

function checkArea(view: AreaView): Finding | undefined {
  const { want, area, config, instance, link, where } = view;
  const networks = want.version === 2 ? networkStatements(instance) : [];
  const prefix = linkPrefix(area);
  const enabled =
    link.area ?? (area.link && networks.find((network) => prefixContains(network.prefix, area.link!.router))?.area);
  const declared = formatArea(area.areaId);
  if (enabled === area.areaId) return undefined;
  const areas = areasOf(config, want.version, new Set(want.areas.map((a) => a.interface)));
  if (enabled !== undefined) {
    const problem = `${area.interface} is in area ${formatArea(enabled)} in FRR and in area ${declared} in cnpd.yaml`;
    // The router's other interfaces show which side is wrong. FRR changes no area: the old one has to be removed before
    // the new one is added.
    const ours = link.area !== undefined && areas.has(area.areaId) && !areas.has(enabled);
    if (!ours)
      return { code: 'area-differs', problem, remedy: `set ${where}.area in cnpd.yaml to ${formatArea(enabled)}` };
    return mend('area-differs', problem, [
      onInterface(view, 'no area', `area ${formatArea(enabled)}`),
      onInterface(view, `area ${declared}`, 'no area'),
    ]);
  }
  if (areas.size > 0 && !areas.has(area.areaId)) {
    return {
      code: 'area-unknown',
      problem: `FRR has no interface in area ${declared}, which ${where} in cnpd.yaml names`,
      remedy: `set ${where}.area in cnpd.yaml to one of ${[...areas].map(formatArea).join(', ')}`,
    };
  }
  const problem = `OSPFv${want.version} is not enabled on ${area.interface}`;
  // FRR accepts `network` or `ip ospf area`, not both.
  if (networks.length > 0 && prefix) {
    const line = `network ${formatPrefix(prefix)} area ${declared}`;
    return mend('not-enabled', problem, [{ context: ospfInstance(2), line, undo: `no ${line}` }]);
  }
  return mend('not-enabled', problem, [onInterface(view, `area ${declared}`, `no area ${declared}`)]);
}

function checkTimers(view: AreaView): Finding | undefined {
  const { want, area, link } = view;
  const pairs = [
    ['hello-interval', link.hello, want.helloSeconds],
    ['dead-interval', link.dead, want.deadSeconds],
  ] as const;
  // Both, because ospfd derives the dead interval from a hello interval.
  if (pairs.every(([, has, wants]) => has === wants)) return undefined;
  const differ = pairs
    .filter(([, has, wants]) => has !== wants)
    .map(([command, has, wants]) => `${command} is ${has} s in FRR and ${wants} s in cnpd.yaml`);
  const has = (command: string): boolean =>
    link.lines.some((line) => line.startsWith(`${ospfWord(want.version)} ${command} `));
  return mend(
    'timers-differ',
    `${area.interface}: ${differ.join(', ')}`,
    pairs.map(([command, value, wants]) =>
      onInterface(view, `${command} ${wants}`, has(command) ? `${command} ${value}` : `no ${command}`),
    ),
  );
}

/** FRR refuses a neighbor whose MTU is larger than its own, and so does cnpd. */
function checkMtu(view: AreaView): Finding | undefined {
  const { facts, area, link, where } = view;
  const kernel = facts.links?.get(area.interface);
  if (!kernel) return undefined;
  if (link.ifMtu !== undefined && link.ifMtu !== area.mtu && !link.mtuIgnore) {
    return mend('if-mtu', `${area.interface} has MTU ${area.mtu}, ospf6d reports ${link.ifMtu} (ifmtu)`, [
      onInterface(view, 'no ifmtu', `ifmtu ${link.ifMtu}`),
    ]);
  }
  const [tooLarge, tooSmall] = [kernel.mtu > area.mtu && !area.ignoreMtu, kernel.mtu < area.mtu && !link.mtuIgnore];
  if (!tooLarge && !tooSmall) return undefined;
  return {
    code: 'mtu-differs',
    problem:
      `${area.interface} has MTU ${kernel.mtu}, ${where}.mtu in cnpd.yaml is ${area.mtu}: ` +
      'the databases cannot be exchanged',
    remedy: `ip link set ${area.interface} mtu ${area.mtu}`,
  };
}
