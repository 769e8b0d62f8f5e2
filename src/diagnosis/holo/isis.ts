// Holo's preconditions for cnpd's IS-IS carrier, one row of the table each. A row names the problem and what fixes it.
// src/holo/configure.ts may make a change that affects only cnpd's own interface. What concerns the router (system ID,
// level, area, keys of the domain) is reported, never changed.
import type { HoloFacts } from '../../holo/facts.ts';
import {
  type Instance,
  instancesOf,
  interfaceOf,
  keyIn,
  number,
  onInterface,
  text,
  words,
} from '../../holo/protocols.ts';
import { type Tree, entryOf, listAt, treeAt } from '../../holo/tree.ts';
import type { IsisIntent, Srv6Intent } from '../../intent/intent.ts';
import { formatArea } from '../../model/isis-area.ts';
import { formatSystemId } from '../../packet/isis/lsp-id.ts';
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
  mendInterface,
  notEnabled,
  pointToPoint,
} from './finding.ts';

export type IsisExpectation = Pick<
  IsisIntent,
  'interface' | 'levels' | 'systemId' | 'area' | 'mtu' | 'authentication'
> & { readonly srv6?: Srv6Intent };

interface View extends InterfaceView {
  readonly want: IsisExpectation;
  readonly instance: Instance;
}

interface Row extends RowOf<View> {
  readonly only?: (want: IsisExpectation) => boolean;
}

type Level = 1 | 2;
/** Holo pads hellos to the MTU, and above this size sends them with their length as the EtherType. */
const LARGEST_PADDED = 1500;
const LLC_BYTES = 3;
const HMAC_MD5 = 'hmac-md5';

const levelsOf = ({ levels }: IsisExpectation): Level[] => (levels === '1-2' ? [1, 2] : [Number(levels) as Level]);
const covers = (type: string, level: Level): boolean => type === 'level-all' || type === `level-${level}`;
const TYPE = { '1': 'level-1', '2': 'level-2', '1-2': 'level-all' } as const;

const ROWS: readonly Row[] = [
  EXISTS,
  { id: 'enabled', claim: 'IS-IS for IPv6 is enabled on the interface', check: checkEnabled },
  pointToPoint('circuit'),
  ACTIVE,
  { id: 'level', claim: 'Holo runs the level of cnpd.yaml', check: checkLevel },
  { id: 'area', only: ({ levels }) => levels !== '2', claim: 'level 1 is in the same area', check: checkArea },
  { id: 'system-id', claim: "cnpd's system ID is not Holo's", check: checkSystemId },
  { id: 'metrics', claim: 'Holo uses wide metrics', check: checkMetrics },
  { id: 'hello-padding', claim: 'Holo sends hellos that arrive', check: checkPadding },
  { id: 'mtu', claim: 'LSPs fit the interface', check: checkMtu },
  ALIVE,
  { id: 'authentication-interface', claim: 'hello authentication agrees', check: checkHelloKey },
  {
    id: 'authentication-area',
    only: ({ levels }) => levels !== '2',
    claim: 'level-1 authentication agrees',
    check: (view) => checkLevelKey(view, 1),
  },
  {
    id: 'authentication-domain',
    only: ({ levels }) => levels !== '1',
    claim: 'level-2 authentication agrees',
    check: (view) => checkLevelKey(view, 2),
  },
  {
    id: 'sids',
    only: ({ srv6 }) => srv6 !== undefined,
    claim: 'packets to the SIDs of cnpd.yaml arrive here',
    check: () => ({
      code: 'sids-unseen',
      problem: 'cnpd cannot see whether Holo advertises a prefix that covers the SIDs of srv6',
      remedy: "have Holo advertise one, such as that of a passive interface, or the SIDs' kernel routes",
      warning: true,
    }),
  },
];

function checkEnabled(view: View): Finding | undefined {
  const { want, link } = view;
  const families = listAt(treeAt(link, 'address-families'), 'address-family-list');
  const has6 = entryOf(families, 'address-family', 'ipv6') !== undefined;
  if (isNamed(view) && link['enabled'] !== false && has6) return undefined;
  return notEnabled(view, 'IS-IS for IPv6', {
    'level-type': TYPE[want.levels],
    'address-families': { 'address-family-list': [{ 'address-family': 'ipv6' }] },
    ...(want.mtu > LARGEST_PADDED && { 'hello-padding': { enabled: false } }),
  });
}

function checkLevel(view: View): Finding | undefined {
  const { instance, link, want } = view;
  const type = text(instance.config, 'level-type') ?? 'level-all';
  const own = text(link, 'level-type') ?? type;
  for (const level of levelsOf(want)) {
    if (!covers(type, level))
      return {
        code: 'level-differs',
        problem: `IS-IS ${instance.name} of Holo is ${type}, but isis.level in cnpd.yaml is ${want.levels}`,
        remedy: `set isis.level in cnpd.yaml to ${type === 'level-1' ? 1 : 2}`,
      };
    if (!covers(own, level))
      return mendInterface(view, 'level-differs', `is ${own}, but isis.level in cnpd.yaml is ${want.levels}`, {
        'level-type': TYPE[want.levels],
      });
  }
  return undefined;
}

function checkArea({ instance, want }: View): Finding | undefined {
  const [areas, ours] = [words(instance.config, 'area-address'), formatArea(want.area)];
  return areas.some((area) => area.toLowerCase() === ours)
    ? undefined
    : {
        code: 'area-differs',
        problem: `cnpd is in area ${ours}, Holo in ${areas.join(', ') || 'none'}`,
        remedy: `set isis.area in cnpd.yaml to ${areas[0] ?? 'an area of Holo'}`,
      };
}

function checkSystemId({ instance, want }: View): Finding | undefined {
  const ours = formatSystemId(want.systemId);
  return text(instance.config, 'system-id')?.toLowerCase() === ours
    ? {
        code: 'system-id-taken',
        problem: `isis.system-id in cnpd.yaml, ${ours}, is Holo's own`,
        remedy: 'set isis.system-id in cnpd.yaml to one that no other router has',
      }
    : undefined;
}

function checkMetrics({ instance }: View): Finding | undefined {
  const type = text(treeAt(instance.config, 'metric-type'), 'value');
  return type === 'old-only'
    ? {
        code: 'narrow-metrics',
        problem: `IS-IS ${instance.name} of Holo has narrow metrics, in which prefixes have no flags`,
        remedy: 'set metric-type to wide-only or both, on all routers of the level',
      }
    : undefined;
}

function checkPadding(view: View): Finding | undefined {
  const { want, facts, link } = view;
  const mtu = facts.links.get(want.interface)?.mtu ?? want.mtu;
  if (!isNamed(view) || mtu <= LARGEST_PADDED || treeAt(link, 'hello-padding')['enabled'] === false) return undefined;
  const what = `has MTU ${mtu}, and Holo sends padded hellos above ${LARGEST_PADDED} bytes wrong`;
  return mendInterface(view, 'hello-padding', what, { 'hello-padding': { enabled: false } });
}

function checkMtu({ instance, want, facts }: View): Finding | undefined {
  const need = (number(instance.config, 'lsp-mtu') ?? 0) + LLC_BYTES;
  const mtu = facts.links.get(want.interface)?.mtu;
  if (mtu === undefined || mtu >= need) return undefined;
  return {
    code: 'mtu-small',
    problem: `${want.interface} has MTU ${mtu}, LSPs of ${need - LLC_BYTES} bytes need ${need}`,
    remedy: `set isis.mtu in cnpd.yaml to at least ${need}`,
  };
}

const LEAVES = { chain: 'key-chain', key: 'key', algorithm: 'crypto-algorithm' } as const;
const wanted = (key: string | undefined) => (key === undefined ? undefined : { algorithm: HMAC_MD5, key });

function checkHelloKey({ link, want, toChange }: View): Finding | undefined {
  const key = want.authentication.interface?.key;
  const config = { 'hello-authentication': { key: key ?? '', 'crypto-algorithm': `holo-key-chain:${HMAC_MD5}` } };
  return compareKeys(
    keyIn(treeAt(link, 'hello-authentication'), LEAVES),
    wanted(key),
    'isis.authentication.interface',
    toChange(config),
  );
}

function checkLevelKey({ instance, want }: View, level: Level): Finding | undefined {
  const scope = level === 1 ? 'area' : 'domain';
  const ofLevel = keyIn(treeAt(instance.config, 'authentication', `level-${level}`), LEAVES);
  const has = ofLevel.kind === 'none' ? keyIn(treeAt(instance.config, 'authentication'), LEAVES) : ofLevel;
  return compareKeys(has, wanted(want.authentication[scope]?.key), `isis.authentication.${scope}`);
}

const UNSAFE: Finding = {
  code: 'database-unsafe',
  problem: "reading Holo's IS-IS database over its northbound stops its IS-IS: never read all of Holo's state",
  remedy: 'read the database with `cnpctl show isis database` instead, on the same router',
  warning: true,
};

/** Rows that apply, with their findings; undefined instead of findings: there is no instance. */
export function checkIsis(facts: HoloFacts, want: IsisExpectation): readonly CheckedRow[] {
  const instances = instancesOf(facts.config ?? {}, 'isis');
  const complete = instances.filter(
    ({ config }) => text(config, 'system-id') !== undefined && words(config, 'area-address').length > 0,
  );
  const instance = complete.find(({ config }) => interfaceOf(config, want.interface)) ?? complete[0];
  const missing: Finding = {
    code: 'no-instance',
    problem: 'Holo runs no IS-IS with a system ID and an area address',
    remedy: 'configure IS-IS in Holo: its level-type, system-id and area-address',
  };
  const unknown = facts.error !== undefined;
  const name = want.interface;
  const view = instance && {
    ...{ want, facts, instance, name, link: interfaceOf(instance.config, name) ?? {} },
    toChange: (config: Tree) => onInterface(instance, name, config),
  };
  const rows = ROWS.filter(({ only }) => only?.(want) ?? true).map(({ id, claim, check }) => ({
    id,
    claim,
    finding: view ? check(view) : ('unknown' as const),
  }));
  return [
    { id: 'instance', claim: 'Holo runs IS-IS', finding: unknown ? 'unknown' : instance ? undefined : missing },
    ...rows,
    { id: 'database', claim: "nothing reads Holo's IS-IS database", finding: UNSAFE },
  ];
}
