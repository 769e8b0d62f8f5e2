// The carrier's state as shown by the northbound: text and plain numbers, for both versions.
import type { OspfLsaState, OspfNeighborState } from '../../model/carrier-state.ts';
import { isOpaque, lsaFunction, lsaScope, opaqueTypeOf } from '../../packet/ospf/lsa-type.ts';
import type { PrivateTypes } from '../../packet/ospf/lsa.ts';
import { formatId } from '../../packet/ospf/router-id.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import { CONTEST_WINDOW_MS } from '../contest.ts';
import { type Moment, timestamp } from '../dependencies.ts';
import { LS_REFRESH_MS } from './constants.ts';
import type { AreaContent, Content } from './content-state.ts';
import { type StoredLsa, ageOf } from './lsdb/lsdb.ts';
import type { AreaState, Speaker } from './state.ts';

/** The names in the RFCs: OSPFv2 by LS type, then by opaque type; OSPFv3 by function code. */
const NAMES_V2: Readonly<Record<number, string>> = {
  1: 'router',
  2: 'network',
  3: 'summary',
  4: 'asbr-summary',
  5: 'as-external',
  7: 'nssa-external',
};
const OPAQUE_NAMES: Readonly<Record<number, string>> = {
  1: 'traffic-engineering',
  3: 'grace',
  4: 'router-information',
  7: 'extended-prefix',
  8: 'extended-link',
};
const NAMES_V3: Readonly<Record<number, string>> = {
  1: 'Router',
  2: 'Network',
  3: 'Inter-Area-Prefix',
  4: 'Inter-Area-Router',
  5: 'AS-External',
  7: 'NSSA',
  8: 'Link',
  9: 'Intra-Area-Prefix',
  10: 'Intra-Area-TE',
  11: 'Grace',
  12: 'Router-Information',
  33: 'E-Router',
  34: 'E-Network',
  35: 'E-Inter-Area-Prefix',
  36: 'E-Inter-Area-Router',
  37: 'E-AS-External',
  39: 'E-NSSA',
  40: 'E-Link',
  41: 'E-Intra-Area-Prefix',
  42: 'SRv6-Locator',
};

const hex = (value: number): string => `0x${value.toString(16)}`;

/** `0x…` for a type without a name here. */
export function lsaTypeName(version: 2 | 3, key: LsaKey, { opaqueType, functionCode }: PrivateTypes): string {
  if (version === 3)
    return NAMES_V3[lsaFunction(key.type)] ?? (lsaFunction(key.type) === functionCode ? 'cnpd' : hex(key.type));
  if (!isOpaque(key.type)) return NAMES_V2[key.type] ?? hex(key.type);
  const opaque = opaqueTypeOf(key);
  return OPAQUE_NAMES[opaque] ?? (opaque === opaqueType ? 'cnpd' : `opaque ${opaque}`);
}

/**
 * `E-Intra-Area-Prefix 0.0.0.1 192.0.2.1`, as in the shown database. Includes the type's number if another scope has
 * the same name.
 */
export function lsaName(version: 2 | 3, key: LsaKey, privateTypes: PrivateTypes): string {
  const name = lsaTypeName(version, key, privateTypes);
  return (
    `${name}${lsaScope(version, key.type) === 'area' ? '' : `(${hex(key.type)})`} ${formatId(key.lsId)} ` +
    `${formatId(key.advertisingRouter)}`
  );
}

/** @param downSince when the area lost its Full neighbor, or began without, on the speaker's clock */
export function neighborState(
  s: Speaker,
  area: AreaState,
  interfaceName: string,
  downSince: number,
  moment: Moment,
): OspfNeighborState {
  const { neighbor, config, link, refused, lsdb, own } = area;
  const { now } = moment;
  const where = {
    area: formatId(config.areaId),
    interface: interfaceName,
    // The neighbor has sent a refused LSA again after this time.
    databaseFull: now - lsdb.refusedAt < LS_REFRESH_MS,
    routerIdContested: now - own.contestedAt < CONTEST_WINDOW_MS,
    notFullSince: neighbor?.state === 'full' ? null : timestamp(downSince, moment),
  };
  if (!neighbor) {
    const unheard = refused === undefined ? 'no hello received' : `a packet was refused: ${refused}`;
    const reason = link ? unheard : 'the link is down';
    return {
      ...where,
      state: 'down',
      routerId: null,
      deadTimeRemaining: 0,
      mtu: null,
      takesOpaque: null,
      unacknowledged: 0,
      since: timestamp(downSince, moment),
      reason,
    };
  }
  // Both are known from Database Descriptions.
  const described = neighbor.mtu > 0;
  return {
    ...where,
    state: neighbor.state,
    routerId: formatId(neighbor.routerId),
    deadTimeRemaining: Math.max(0, Math.ceil((neighbor.inactiveAt - now) / 1000)),
    mtu: described ? neighbor.mtu : null,
    takesOpaque: described ? s.config.version.takesOurs(neighbor.options) : null,
    unacknowledged: neighbor.retransmit.size + neighbor.unsent.size,
    since: timestamp(neighbor.since, moment),
    reason: neighbor.reason,
  };
}

export function databaseState(s: Speaker, c: Content, now: number): OspfLsaState[] {
  const rows = [...s.areas.values()].flatMap((area) => {
    const content = c.areas.get(area.config.areaId)!;
    const own = ownPrefixes(c, content);
    return [...area.lsdb.byKey.values()].map((lsa) => ({ lsa, row: lsaState(c, content, lsa, own, now) }));
  });
  rows.sort(
    (a, b) =>
      compareText(a.row.area, b.row.area) ||
      a.lsa.type - b.lsa.type ||
      a.lsa.lsId - b.lsa.lsId ||
      a.lsa.advertisingRouter - b.lsa.advertisingRouter,
  );
  return rows.map(({ row }) => row);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function lsaState(
  c: Content,
  area: AreaContent,
  lsa: StoredLsa,
  own: ReadonlyMap<string, number>,
  now: number,
): OspfLsaState {
  const { version, privateTypes } = c.config;
  return {
    area: area.name,
    type: lsaTypeName(version, lsa, privateTypes),
    lsId: formatId(lsa.lsId),
    router: formatId(lsa.advertisingRouter),
    sequence: hex(lsa.sequence >>> 0),
    age: ageOf(lsa, now),
    checksum: `0x${lsa.checksum.toString(16).padStart(4, '0')}`,
    length: lsa.length,
    own: lsa.own,
    reachable: lsa.own || area.graph.reachable.has(lsa.advertisingRouter),
    proxyPrefixes: lsa.own ? (own.get(`${lsa.type} ${lsa.lsId}`) ?? 0) : proxyPrefixes(c, area, lsa.key),
  };
}

const proxyPrefixes = (c: Content, area: AreaContent, id: string): number =>
  c.kinds.proxyPrefixes(area.lsas.get(id)?.content.entries ?? []);

/** How many prefixes with a proxy our LSAs contain, by type and link-state ID. */
function ownPrefixes({ kinds }: Content, { placements }: AreaContent): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type, firstId, lsas } of placements) {
    for (const { number, entries } of lsas)
      counts.set(
        `${type} ${(firstId + number) >>> 0}`,
        kinds.proxyPrefixes([...entries.values()].map(({ entry }) => entry)),
      );
  }
  return counts;
}

/**
 * How many declared prefixes and SIDs are not advertised, because they do not fit or this version of OSPF cannot encode
 * them. Inter-area copies are not included.
 */
export function unplacedEntries(c: Content): number {
  const keys = [...c.areas.values()].flatMap((area) => [...area.unplaced.keys()]);
  return c.unencodable + new Set(keys.filter((key) => c.declared.has(key))).size;
}
