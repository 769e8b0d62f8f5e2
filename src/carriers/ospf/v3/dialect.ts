// OSPFv3: sender prefixes in E-Intra-Area-Prefix-LSAs, and in E-Inter-Area-Prefix-LSAs where an agent advertises them
// into another area (RFC 8362; PNC §5.3); SIDs in SRv6 Locator LSAs (RFC 9513). All of it is for signalling only:
// prefixes have the NU-bit, which takes them out of unicast routing (RFC 5340 §A.4.1.1), and the metric LSInfinity;
// locators have a metric that MUST be taken for unreachable (RFC 9513 §7.1).
import { isUnicastHost } from '../../../model/address.ts';
import { prefixKey } from '../../../model/prefix.ts';
import { extendedLsaPrefixLength } from '../../../packet/ospf/lsa/extended-lsa.ts';
import type { ExtendedLsaPrefix, RouterLinkV3, Srv6Locator, UnknownTlv } from '../../../packet/ospf/lsa/types.ts';
import { LSA_HEADER_LENGTH } from '../../../packet/ospf/lsa-header.ts';
import { REFERENCED_LENGTH } from '../../../packet/ospf/lsa/intra-area-prefix.ts';
import { TYPE_V3, U_BIT, lsaFunction } from '../../../packet/ospf/lsa-type.ts';
import { OPTION_V3, PREFIX_OPTION, ROUTE_TYPE } from '../../../packet/ospf/numbers.ts';
import { paddedPrefixBytes } from '../../../packet/ospf/prefix.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { SIGNALLING_METRIC, UNREACHABLE_LOCATOR } from '../constants.ts';
import {
  type Dialect,
  type EntryLsa,
  NOTHING,
  type ReadOptions,
  type Readers,
  type WalkedPrefixes,
  plainEntry,
  readBody,
  readPlainRoute,
  readPrefixTlvs,
  readRouterAddress,
  routerNode,
  sizeByShape,
  writeSubTlvs,
} from '../dialect.ts';
import { type Entry, type PrefixEntry, type RouteKind, type SidEntry, isSid, usableSid } from '../kinds/entries.ts';
import type { OwnLsa } from '../version.ts';

const EXTENDED_FUNCTIONS: ReadonlySet<number> = new Set([35, 37, 39, 41]);
const AREA_SCOPED_TE = 0xa00a;
/** Bytes of a Locator TLV without prefix and sub-TLVs, and of an End SID sub-TLV. */
const LOCATOR_FIXED = 12;
const END_SID_SIZE = 24;

const prefixTlv = (kind: ExtendedLsaPrefix['kind'], entry: PrefixEntry): ExtendedLsaPrefix => ({
  kind,
  flags: 0,
  metric: SIGNALLING_METRIC,
  prefixOptions: PREFIX_OPTION.noUnicast | (entry.node ? PREFIX_OPTION.node : 0),
  prefix: entry.prefix,
  subTlvs: writeSubTlvs(entry),
});

const prefixTlvs = (kind: ExtendedLsaPrefix['kind'], entries: readonly Entry[]): ExtendedLsaPrefix[] =>
  entries.filter((entry): entry is PrefixEntry => !isSid(entry)).map((entry) => prefixTlv(kind, entry));

const prefixLsa = (
  kind: ExtendedLsaPrefix['kind'],
  rest: Pick<EntryLsa, 'type' | 'entries' | 'overhead' | 'body'>,
): EntryLsa => ({
  firstId: () => 0,
  lsas: 2 ** 32,
  size: sizeByShape((entry) => extendedLsaPrefixLength(prefixTlv(kind, entry))),
  ...rest,
});

const INTRA_AREA = prefixLsa('intra-area-prefix-tlv', {
  type: TYPE_V3.eIntraAreaPrefix,
  entries: Infinity,
  overhead: 12,
  // Our Router-LSA is a legacy one: extended LSAs only add to it (RFC 8362 §6, sparse mode).
  body: (entries, routerId) => ({
    kind: 'e-intra-area-prefix',
    referenced: { type: TYPE_V3.router, lsId: 0, advertisingRouter: routerId },
    tlvs: prefixTlvs('intra-area-prefix-tlv', entries),
  }),
});

const INTER_AREA = prefixLsa('inter-area-prefix-tlv', {
  type: TYPE_V3.eInterAreaPrefix,
  // RFC 8362 §4.3: one TLV an LSA.
  entries: 1,
  overhead: 0,
  body: (entries) => ({ kind: 'e-inter-area-prefix', tlvs: prefixTlvs('inter-area-prefix-tlv', entries) }),
});

const SIDS: EntryLsa = {
  type: TYPE_V3.srv6Locator,
  firstId: () => 0,
  lsas: 2 ** 32,
  entries: Infinity,
  overhead: 0,
  // Of a SID that has its locator for itself: at most what it takes.
  size: (entry) => (isSid(entry) ? LOCATOR_FIXED + paddedPrefixBytes(entry.locator.length) + END_SID_SIZE : 0),
  body: (entries) => ({ kind: 'srv6-locator-lsa', tlvs: locators(entries.filter(isSid)) }),
};

function locators(sids: readonly SidEntry[]): Srv6Locator[] {
  const groups = new Map<string, SidEntry[]>();
  for (const sid of sids) {
    const key = `${prefixKey(sid.locator)} ${sid.algorithm} ${sid.route}`;
    groups.set(key, [...(groups.get(key) ?? []), sid]);
  }
  return [...groups.values()].map((group) => ({
    kind: 'srv6-locator',
    routeType: group[0]!.route === 'inter-area' ? ROUTE_TYPE.interArea : ROUTE_TYPE.intraArea,
    algorithm: group[0]!.algorithm,
    prefixOptions: PREFIX_OPTION.noUnicast,
    metric: UNREACHABLE_LOCATOR,
    locator: group[0]!.locator,
    subTlvs: group.map(({ sid, behavior }) => ({ kind: 'end-sid', flags: 0, behavior, sid, subTlvs: [] })),
  }));
}

export const DIALECT_V3: Dialect = {
  version: 3,
  family: 6,
  lsaKinds: { 'intra-area': INTRA_AREA, 'inter-area': INTER_AREA, sids: SIDS },
  lsaKindOf: (entry) => (isSid(entry) ? 'sids' : entry.route === 'inter-area' ? 'inter-area' : 'intra-area'),
  lowestCounts: ({ type }) => (type & U_BIT) !== 0 && EXTENDED_FUNCTIONS.has(lsaFunction(type)),
  walk,
  read: (lsa, body, options) => readBody(READERS, lsa, body, options),
  others(routerAddresses, hasSids) {
    const lsas: OwnLsa[] = [];
    const address = routerAddresses.find((a) => a.family === 6 && isUnicastHost(a));
    if (address)
      lsas.push({
        type: AREA_SCOPED_TE,
        lsId: 0,
        body: { kind: 'traffic-engineering-v3', tlvs: [{ kind: 'te-router-address', address }] },
      });
    // Whoever has SIDs says that it is an SRv6 router (RFC 9513 §2).
    const capabilities = { kind: 'srv6-capabilities', flags: 0, subTlvs: new Uint8Array() } as const;
    if (hasSids)
      lsas.push({
        type: TYPE_V3.routerInformation,
        lsId: 0,
        body: { kind: 'router-information', tlvs: [capabilities] },
      });
    return lsas;
  },
};

const VIA_ROUTER: ReadonlySet<number> = new Set([1, 4]);
const TRANSIT = 2;
const networkNode = (router: number, interfaceId: number): string => `n${router}.${interfaceId}`;
const linkEnd = ({ neighborRouterId, neighborInterfaceId }: RouterLinkV3): string =>
  networkNode(neighborRouterId, neighborInterfaceId);

const READERS: Readers = {
  'router-v3': ({ options, links }, { advertisingRouter }) => {
    const ends = links.flatMap((link) =>
      VIA_ROUTER.has(link.type) ? [routerNode(link.neighborRouterId)] : link.type === TRANSIT ? [linkEnd(link)] : [],
    );
    return {
      ...NOTHING,
      node: { name: routerNode(advertisingRouter), links: ends, transit: (options & OPTION_V3.router) !== 0 },
    };
  },
  'network-v3': ({ attachedRouters }, { advertisingRouter, lsId }) => {
    return {
      ...NOTHING,
      node: { name: networkNode(advertisingRouter, lsId), links: attachedRouters.map(routerNode), transit: true },
    };
  },
  'intra-area-prefix': ({ prefixes }) => {
    const routed = prefixes.filter(({ options }) => (options & PREFIX_OPTION.noUnicast) === 0);
    const own = routed.find(
      ({ prefix, options }) =>
        (options & PREFIX_OPTION.localAddress) !== 0 && prefix.length === 128 && isUnicastHost(prefix.address),
    );
    return {
      ...NOTHING,
      prefixes: routed.map(({ prefix, metric }) => plainEntry(prefix, metric, 'intra-area')),
      ...(own && { hostAddress: own.prefix.address }),
    };
  },
  'traffic-engineering-v3': readRouterAddress,
  'srv6-locator-lsa': ({ tlvs }, lsa, options) => ({ ...NOTHING, sids: readSids(tlvs, lsa, options) }),
  unknown: (_body, lsa, options) => readPlainRoute(3, lsa, options),
};

/**
 * By function code: the type of the TLV that belongs into the LSA, where the TLVs begin, and the routes that they are.
 */
const EXTENDED: ReadonlyMap<number, { readonly tlv: number; readonly start: number; readonly route: RouteKind }> =
  new Map([
    [35, { tlv: 3, start: LSA_HEADER_LENGTH, route: 'inter-area' }],
    [37, { tlv: 5, start: LSA_HEADER_LENGTH, route: 'external' }],
    [41, { tlv: 6, start: LSA_HEADER_LENGTH + REFERENCED_LENGTH, route: 'intra-area' }],
  ]);

function walk(lsa: LsaKey & { readonly raw: Uint8Array }, options: ReadOptions): WalkedPrefixes | undefined {
  const extended = EXTENDED.get(lsaFunction(lsa.type));
  if (!extended) return undefined;
  return readPrefixTlvs(3, lsa.raw, extended.start, options, ({ type, metric, prefixOptions }) => {
    if (type === extended.tlv)
      return { route: extended.route, metric, node: (prefixOptions & PREFIX_OPTION.node) !== 0, attached: false };
    options.warn('misplaced-tlv');
    return undefined;
  });
}

const LOCATOR_ROUTE: Readonly<Record<number, RouteKind>> = {
  [ROUTE_TYPE.intraArea]: 'intra-area',
  [ROUTE_TYPE.interArea]: 'inter-area',
  [ROUTE_TYPE.asExternal]: 'external',
  [ROUTE_TYPE.nssaExternal]: 'external',
};

function readSids(
  tlvs: readonly (Srv6Locator | UnknownTlv)[],
  lsa: LsaKey,
  { sidBehaviors, warn }: ReadOptions,
): SidEntry[] {
  const found = new Map<bigint, SidEntry>();
  for (const tlv of tlvs) {
    if (tlv.kind === 'unknown') continue;
    const route = lsa.type === TYPE_V3.srv6LocatorAs ? 'external' : LOCATOR_ROUTE[tlv.routeType];
    if (!route) warn('unknown-route-type');
    for (const subTlv of route ? tlv.subTlvs : []) {
      if (subTlv.kind !== 'end-sid' || !sidBehaviors.includes(subTlv.behavior)) continue;
      const entry = {
        sid: subTlv.sid,
        behavior: subTlv.behavior,
        locator: tlv.locator,
        algorithm: tlv.algorithm,
        route: route!,
      };
      if (!usableSid(entry)) warn('unusable-sid');
      else if (!found.has(entry.sid.value)) found.set(entry.sid.value, entry);
    }
  }
  return [...found.values()];
}
