// Holo's preconditions for cnpd's OSPF carriers: one table for the instance, one for each area's interface, one row
// each. src/holo/configure.ts may make a change that affects only cnpd's own interface.
import type { HoloFacts } from '../../holo/facts.ts';
import {
  type Instance,
  areasOf,
  instancesOf,
  interfaceOf,
  keyIn,
  number,
  onInterface,
  text,
} from '../../holo/protocols.ts';
import { type Tree, entryOf, shown, treeAt } from '../../holo/tree.ts';
import type { OspfIntent } from '../../intent/intent.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import {
  ACTIVE,
  ALIVE,
  type CheckedRow,
  EXISTS,
  type Finding,
  type InterfaceView,
  type Row as RowOf,
  compareKeys,
  isNamed,
  mend,
  notEnabled,
  pointToPoint,
} from './finding.ts';

export type OspfExpectation = Pick<OspfIntent, 'version' | 'routerId' | 'areas' | 'helloSeconds' | 'deadSeconds'>;
type Area = OspfExpectation['areas'][number];

interface View extends InterfaceView {
  readonly want: OspfExpectation;
  readonly instance: Instance;
  readonly area: Area;
  /** As in cnpd.yaml: `ospfv2.areas[0]`. */
  readonly where: string;
  /** Holo's area; undefined: it has no such area. */
  readonly has: Tree | undefined;
}

interface Row extends RowOf<View> {
  readonly version?: 2 | 3;
}

const ROWS: readonly Row[] = [
  EXISTS,
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
  pointToPoint('network'),
  ACTIVE,
  { id: 'timers', claim: 'hello and dead intervals agree', check: checkTimers },
  { id: 'mtu', claim: 'the MTUs agree', check: checkMtu },
  { id: 'instance-id', version: 3, claim: 'the instance IDs agree', check: checkInstanceId },
  ALIVE,
  { id: 'authentication', claim: 'packet authentication agrees', check: checkKey },
];

function checkArea(view: View): Finding | undefined {
  const { want, instance, area, has, where, link } = view;
  if (isNamed(view) && link['enabled'] !== false) return undefined;
  const [areas, declared] = [areasOf(instance), formatId(area.areaId)];
  const areaIdOf = (one: Tree): string => text(one, 'area-id')!;
  const other = areas.find((one) => interfaceOf(one, area.interface) && areaIdOf(one) !== declared);
  if (other)
    return {
      code: 'area-differs',
      problem: `${area.interface} is in area ${areaIdOf(other)} in Holo and in area ${declared} in cnpd.yaml`,
      remedy: `set ${where}.area in cnpd.yaml to ${areaIdOf(other)}`,
    };
  if (!has)
    return {
      code: 'area-unknown',
      problem: `Holo has no area ${declared}, which ${where} in cnpd.yaml names`,
      remedy: `set ${where}.area in cnpd.yaml to one of ${areas.map(areaIdOf).join(', ')}`,
    };
  return notEnabled(view, `OSPFv${want.version}`, timers(want));
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
  return mend('timers-differ', `${view.name}: ${what.join(', ')}`, view.toChange(wants));
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
    config && view.toChange(config),
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

function viewOf(one: Pick<View, 'want' | 'facts' | 'instance' | 'area' | 'where'>): View {
  const { instance, area } = one;
  const [name, areaId] = [area.interface, formatId(area.areaId)];
  const has = entryOf(areasOf(instance), 'area-id', areaId);
  return {
    ...{ ...one, name, has, link: (has && interfaceOf(has, name)) ?? {} },
    toChange: (config) => onInterface(instance, name, config, areaId),
  };
}

/** Rows that apply, with their findings. */
export function checkOspf(facts: HoloFacts, want: OspfExpectation): readonly CheckedRow[] {
  const protocol = `ospfv${want.version}` as const;
  const [instance] = instancesOf(facts.config ?? {}, protocol);
  const rows = want.areas.flatMap((area, n) => {
    const view = instance && viewOf({ want, facts, instance, area, where: `${protocol}.areas[${n}]` });
    return ROWS.filter(({ version }) => version === undefined || version === want.version).map(
      ({ id, claim, check }) => ({
        id: `${area.interface}.${id}`,
        claim: `${area.interface}: ${claim}`,
        finding: view ? check(view) : ('unknown' as const),
      }),
    );
  });
  const first = facts.error === undefined ? instanceFinding(want, instance) : ('unknown' as const);
  return [{ id: 'instance', claim: `Holo runs OSPFv${want.version}`, finding: first }, ...rows];
}
