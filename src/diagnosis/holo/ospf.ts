// Holo's preconditions for cnpd's OSPF carriers: one table for the instance, one for each area's interface, one row
// each. src/holo/configure.ts may make a change that affects only cnpd's own interface.
import type { HoloFacts } from '../../holo/facts.ts';
import {
  type Instance,
  areasOf,
  instancesOf,
  interfaceOf,
  keyIn,
  listed,
  number,
  onInterface,
  text,
} from '../../holo/protocols.ts';
import { type Tree, entryOf, merged, shown, treeAt } from '../../holo/tree.ts';
import type { OspfIntent } from '../../intent/intent.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import { type Finding, checkAlive, checkLink, compareKeys, mend } from './finding.ts';

export type OspfExpectation = Pick<OspfIntent, 'version' | 'routerId' | 'areas' | 'helloSeconds' | 'deadSeconds'>;
type Area = OspfExpectation['areas'][number];

interface View {
  readonly want: OspfExpectation;
  readonly facts: HoloFacts;
  readonly instance: Instance;
  readonly area: Area;
  /** As in cnpd.yaml: `ospfv2.areas[0]`. */
  readonly where: string;
  /** Holo's area; undefined: it has no such area. */
  readonly has: Tree | undefined;
  /** Empty where Holo has no such interface in the area. */
  readonly link: Tree;
}

interface Row {
  readonly id: string;
  readonly version?: 2 | 3;
  readonly claim: string;
  readonly check: (view: View) => Finding | undefined;
}

const isNamed = ({ link }: View): boolean => Object.keys(link).length > 0;
const inArea = ({ instance, area }: View, config: Tree): Tree =>
  onInterface(instance, area.interface, config, formatId(area.areaId));
const change = (view: View, code: Finding['code'], what: string, config: Tree): Finding =>
  mend(code, `${view.area.interface} ${what}`, inArea(view, config));

const ROWS: readonly Row[] = [
  {
    id: 'interface',
    claim: 'the interface exists',
    check: ({ area, facts }) => checkLink(area.interface, facts.links.get(area.interface)),
  },
  { id: 'area', claim: 'OSPF is enabled in the area of cnpd.yaml', check: checkArea },
  {
    id: 'area-type',
    claim: 'the area is neither a stub area nor an NSSA',
    check: ({ has, area, where }) => {
      const type = has && text(has, 'area-type')?.replace(/^.*:/, '');
      if (type === undefined || type === 'normal-area') return undefined;
      const problem = `area ${formatId(area.areaId)} is a ${type} to Holo, which cnpd does not support`;
      return { code: 'area-type', problem, remedy: `remove ${where} from cnpd.yaml` };
    },
  },
  {
    id: 'point-to-point',
    claim: 'the interface is point-to-point',
    check: (view) =>
      isNamed(view) && view.link['interface-type'] !== 'point-to-point'
        ? change(view, 'broadcast', 'is a broadcast network to Holo', { 'interface-type': 'point-to-point' })
        : undefined,
  },
  {
    id: 'active',
    claim: 'the interface is not passive',
    check: (view) =>
      view.link['passive'] === true
        ? change(view, 'passive', 'is passive, so Holo sends no hello', { passive: false })
        : undefined,
  },
  { id: 'timers', claim: 'hello and dead intervals agree', check: checkTimers },
  { id: 'mtu', claim: 'the MTUs agree', check: checkMtu },
  { id: 'instance-id', version: 3, claim: 'the instance IDs agree', check: checkInstanceId },
  { id: 'alive', claim: 'Holo uses the interface', check: ({ area, facts }) => checkAlive(area.interface, facts) },
  { id: 'authentication', claim: 'packet authentication agrees', check: checkKey },
];

function checkArea(view: View): Finding | undefined {
  const { want, facts, instance, area, has, where, link } = view;
  const [areas, declared] = [areasOf(instance).map((one) => text(one, 'area-id')!), formatId(area.areaId)];
  if (isNamed(view) && link['enabled'] !== false) return undefined;
  const elsewhere = areasOf(instance).find((one) => interfaceOf(one, area.interface));
  if (elsewhere) {
    const other = text(elsewhere, 'area-id')!;
    if (other !== declared)
      return {
        code: 'area-differs',
        problem: `${area.interface} is in area ${other} in Holo and in area ${declared} in cnpd.yaml`,
        remedy: `set ${where}.area in cnpd.yaml to ${other}`,
      };
  }
  if (!has)
    return {
      code: 'area-unknown',
      problem: `Holo has no area ${declared}, which ${where} in cnpd.yaml names`,
      remedy: `set ${where}.area in cnpd.yaml to one of ${areas.join(', ')}`,
    };
  const problem = `OSPFv${want.version} is not enabled on ${area.interface}`;
  // Holo that learns of an interface from its configuration first never reads the interface's addresses.
  if (!facts.links.get(area.interface))
    return { code: 'not-enabled', problem, remedy: 'start cnpd first, then have Holo run OSPF on the interface' };
  const config: Tree = { enabled: true, 'interface-type': 'point-to-point', ...timers(want) };
  return mend('not-enabled', problem, merged(listed(area.interface), inArea(view, config)));
}

const timers = ({ helloSeconds, deadSeconds }: OspfExpectation): Tree => ({
  'hello-interval': helloSeconds,
  'dead-interval': deadSeconds,
});

function checkTimers(view: View): Finding | undefined {
  const wants = timers(view.want);
  const differ = Object.keys(wants).filter((leaf) => number(view.link, leaf) !== wants[leaf]);
  if (!isNamed(view) || differ.length === 0) return undefined;
  const what = differ.map(
    (leaf) => `${leaf} is ${shown(view.link[leaf])} s in Holo and ${shown(wants[leaf])} s in cnpd.yaml`,
  );
  return mend('timers-differ', `${view.area.interface}: ${what.join(', ')}`, inArea(view, wants));
}

/** Each refuses a neighbor whose MTU is larger than its own. */
function checkMtu({ facts, area, link, where }: View): Finding | undefined {
  const mtu = facts.links.get(area.interface)?.mtu;
  if (mtu === undefined || mtu === area.mtu) return undefined;
  if (mtu > area.mtu ? area.ignoreMtu : link['mtu-ignore'] === true) return undefined;
  return {
    code: 'mtu-differs',
    problem: `${area.interface} has MTU ${mtu}, ${where}.mtu in cnpd.yaml is ${area.mtu}`,
    remedy: `ip link set ${area.interface} mtu ${area.mtu}`,
  };
}

/** Holo has one for all interfaces of an instance. */
function checkInstanceId({ instance, area, where }: View): Finding | undefined {
  const has = number(instance.config, 'holo-ospf:instance-id') ?? 0;
  return has === area.instanceId
    ? undefined
    : {
        code: 'instance-id-differs',
        problem: `OSPFv3 ${instance.name} of Holo has instance ID ${has}, ${where} in cnpd.yaml ${area.instanceId}`,
        remedy: `set ${where}.instance-id in cnpd.yaml to ${has}`,
      };
}

function checkKey(view: View): Finding | undefined {
  const { want, area, where, link } = view;
  const [v, idLeaf] = [`ospfv${want.version}`, want.version === 2 ? 'ospfv2-key-id' : 'ospfv3-sa-id'];
  const names = { chain: `${v}-key-chain`, key: `${v}-key`, algorithm: `${v}-crypto-algorithm`, id: idLeaf };
  const [signs] = area.keys;
  const config = signs && {
    authentication: { [idLeaf]: signs.id, [names.key]: signs.key, [names.algorithm]: algorithmName(signs.algorithm) },
  };
  return compareKeys(
    keyIn(treeAt(link, 'authentication'), names),
    signs,
    `${where}.authentication`,
    config ? inArea(view, config) : undefined,
  );
}

/** cnpd's names are those of RFC 8177. */
const algorithmName = (algorithm: string): string => `ietf-key-chain:${algorithm}`;

const instanceFinding = (want: OspfExpectation, instance: Instance | undefined): Finding | undefined => {
  const ours = formatId(want.routerId);
  if (!instance)
    return {
      code: 'no-instance',
      problem: `Holo runs no OSPFv${want.version}`,
      remedy: `configure ietf-ospf:ospfv${want.version} in Holo, with its areas`,
    };
  if (text(instance.config, 'explicit-router-id') !== ours) return undefined;
  return {
    code: 'router-id-taken',
    problem: `ospfv${want.version}.router-id in cnpd.yaml, ${ours}, is Holo's own`,
    remedy: `set ospfv${want.version}.router-id in cnpd.yaml to one that no other router has`,
  };
};

/** Rows that apply, with their findings. */
export function checkOspf(
  facts: HoloFacts,
  want: OspfExpectation,
): readonly { readonly id: string; readonly claim: string; readonly finding: Finding | undefined | 'unknown' }[] {
  const protocol = `ospfv${want.version}` as const;
  const [instance] = instancesOf(facts.config ?? {}, protocol);
  const rows = want.areas.flatMap((area, n) => {
    const has = instance && entryOf(areasOf(instance), 'area-id', formatId(area.areaId));
    const link = (has && interfaceOf(has, area.interface)) ?? {};
    return ROWS.filter(({ version }) => version === undefined || version === want.version).map(
      ({ id, claim, check }) => ({
        id: `${area.interface}.${id}`,
        claim: `${area.interface}: ${claim}`,
        finding: instance
          ? check({ want, facts, instance, area, where: `${protocol}.areas[${n}]`, has, link })
          : ('unknown' as const),
      }),
    );
  });
  const first = facts.error === undefined ? instanceFinding(want, instance) : ('unknown' as const);
  return [{ id: 'instance', claim: `Holo runs OSPFv${want.version}`, finding: first }, ...rows];
}
