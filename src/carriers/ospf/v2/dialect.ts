// OSPFv2: sender prefixes in Extended Prefix Opaque LSAs of area scope (RFC 7684; PNC §5.2), which say something about
// a prefix and are no routes; SIDs in cnpd's private opaque LSA, because OSPFv2 has no SRv6. AS scope is never used: it
// ends an ospfd with `mpls-te on` (docs/decisions.md).
import { type IpAddress, isUnicastHost } from '../../../model/address.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { MAX_EXTENDED_PREFIXES, extendedPrefixLength } from '../../../packet/ospf/lsa/extended-prefix.ts';
import type { ExtendedPrefix, NetworkLsaV2, RouterLsaV2 } from '../../../packet/ospf/lsa/types.ts';
import { LSA_HEADER_LENGTH } from '../../../packet/ospf/lsa-header.ts';
import { TYPE_V2, isOpaque, opaqueIdOf, opaqueLsId, opaqueTypeOf } from '../../../packet/ospf/lsa-type.ts';
import { EXTENDED_PREFIX_FLAG, ROUTE_TYPE } from '../../../packet/ospf/numbers.ts';
import { maskLength } from '../../../packet/ospf/route.ts';
import type { LsaKey } from '../../../packet/ospf/types.ts';
import { type ContainerTlv, decodeSidContainer, encodeSidContainer } from '../../../packet/sid-container.ts';
import {
  type Dialect,
  type EntryLsa,
  type LsaContent,
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
import { SIGNALLING_METRIC } from '../constants.ts';
import { type Entry, type PrefixEntry, type RouteKind, type SidEntry, isSid, usableSid } from '../kinds/entries.ts';

const EXTENDED_PREFIX_OPAQUE = 7;
const TRAFFIC_ENGINEERING_OPAQUE = 1;
/** Opaque IDs from here on are inter-area copies: the container has no field for that. */
const INTER_AREA_SIDS = 0x800000;

const HEADER = 4;
const SID_SIZE = 24;

const ROUTE_KIND: Readonly<Record<number, RouteKind>> = {
  [ROUTE_TYPE.unspecified]: 'unspecified',
  [ROUTE_TYPE.intraArea]: 'intra-area',
  [ROUTE_TYPE.interArea]: 'inter-area',
  [ROUTE_TYPE.asExternal]: 'external',
  [ROUTE_TYPE.nssaExternal]: 'external',
};

const { attach, node: nodeFlag } = EXTENDED_PREFIX_FLAG;

const prefixTlv = (entry: PrefixEntry): ExtendedPrefix => ({
  kind: 'extended-prefix',
  routeType: entry.route === 'inter-area' ? ROUTE_TYPE.interArea : ROUTE_TYPE.intraArea,
  flags: (entry.attached ? attach : 0) | (entry.node ? nodeFlag : 0),
  prefix: entry.prefix,
  subTlvs: writeSubTlvs(entry),
});

const prefixes = (entries: readonly Entry[]): PrefixEntry[] =>
  entries.filter((entry): entry is PrefixEntry => !isSid(entry));
const sids = (entries: readonly Entry[]): SidEntry[] => entries.filter(isSid);
const containedSid = ({ sid, locator, behavior }: SidEntry): ContainerTlv => ({ tlv: 'sid', sid, locator, behavior });

const PREFIXES: EntryLsa = {
  type: TYPE_V2.opaqueArea,
  firstId: () => opaqueLsId(EXTENDED_PREFIX_OPAQUE, 0),
  lsas: 1 << 24,
  entries: MAX_EXTENDED_PREFIXES,
  overhead: 0,
  size: sizeByShape((entry) => extendedPrefixLength(prefixTlv(entry))),
  body: (entries) => ({ kind: 'extended-prefix-lsa', tlvs: prefixes(entries).map(prefixTlv) }),
};

const sidLsa = (firstOpaqueId: number): EntryLsa => ({
  type: TYPE_V2.opaqueArea,
  firstId: ({ opaqueType }) => opaqueLsId(opaqueType, firstOpaqueId),
  lsas: INTER_AREA_SIDS,
  entries: Infinity,
  overhead: HEADER,
  size: () => SID_SIZE,
  body: (entries) => ({ kind: 'private', container: encodeSidContainer(sids(entries).map(containedSid)) }),
});

export const DIALECT_V2: Dialect = {
  version: 2,
  family: 4,
  lsaKinds: { prefixes: PREFIXES, sids: sidLsa(0), 'inter-area-sids': sidLsa(INTER_AREA_SIDS) },
  lsaKindOf: (entry) => (!isSid(entry) ? 'prefixes' : entry.route === 'inter-area' ? 'inter-area-sids' : 'sids'),
  lowestCounts: (key) => key.type >= TYPE_V2.opaqueLink && opaqueTypeOf(key) === EXTENDED_PREFIX_OPAQUE,
  walk,
  read: (lsa, body, options) => readBody(READERS, lsa, body, options),
  others(routerAddresses) {
    const address = routerAddresses.find((a) => a.family === 4 && isUnicastHost(a));
    if (!address) return [];
    const body = { kind: 'traffic-engineering-v2', tlvs: [{ kind: 'te-router-address', address }] } as const;
    return [{ type: TYPE_V2.opaqueArea, lsId: opaqueLsId(TRAFFIC_ENGINEERING_OPAQUE, 0), body }];
  },
};

function walk(lsa: LsaKey & { readonly raw: Uint8Array }, options: ReadOptions): WalkedPrefixes | undefined {
  if (!isOpaque(lsa.type) || opaqueTypeOf(lsa) !== EXTENDED_PREFIX_OPAQUE) return undefined;
  return readPrefixTlvs(2, lsa.raw, LSA_HEADER_LENGTH, options, ({ routeType, flags }) => {
    // What floods through the AS belongs to no area, whatever it says.
    const route = lsa.type === TYPE_V2.opaqueAs ? 'external' : ROUTE_KIND[routeType];
    if (route)
      return { route, metric: SIGNALLING_METRIC, node: (flags & nodeFlag) !== 0, attached: (flags & attach) !== 0 };
    options.warn('unknown-route-type');
    return undefined;
  });
}

const READERS: Readers = {
  'router-v2': readRouter,
  'network-v2': readNetwork,
  'traffic-engineering-v2': readRouterAddress,
  private: ({ container }, lsa, { sidBehaviors, warn }) => {
    const decoded = decodeSidContainer(container);
    if (!decoded.ok) {
      warn('bad-container');
      return NOTHING;
    }
    const route: RouteKind = opaqueIdOf(lsa) >= INTER_AREA_SIDS ? 'inter-area' : 'intra-area';
    const known = decoded.value
      .filter((one) => one.tlv === 'sid')
      .filter(({ behavior }) => sidBehaviors.includes(behavior));
    const usable = known.filter(usableSid);
    if (usable.length < known.length) warn('unusable-sid');
    return {
      ...NOTHING,
      sids: usable.map(({ sid, locator, behavior }) => ({ sid, locator, behavior, algorithm: 0, route })),
    };
  },
  unknown: (_body, lsa, options) => readPlainRoute(2, lsa, options),
};

const STUB = 3;
const TRANSIT = 2;
const networkNode = (designatedRouter: number): string => `n${designatedRouter}`;

function readRouter({ links }: RouterLsaV2, { advertisingRouter }: LsaKey, { warn }: ReadOptions): LsaContent {
  const stubs: PrefixEntry[] = [];
  const ends: string[] = [];
  let hostAddress: IpAddress | undefined;
  for (const { type, linkId, linkData, metric } of links) {
    if (type === TRANSIT) ends.push(networkNode(linkId));
    else if (type !== STUB) ends.push(routerNode(linkId));
    else {
      const prefix = masked(linkId, linkData);
      if (!prefix) warn('bad-mask');
      else stubs.push(plainEntry(prefix, metric, 'intra-area'));
      // A router ID is an address where the router says so by a host route.
      if (prefix?.length === 32 && linkId === advertisingRouter && isUnicastHost(prefix.address))
        hostAddress = prefix.address;
    }
  }
  return {
    prefixes: stubs,
    sids: [],
    node: { name: routerNode(advertisingRouter), links: ends, transit: true },
    ...(hostAddress && { hostAddress }),
  };
}

function readNetwork({ mask, attachedRouters }: NetworkLsaV2, { lsId }: LsaKey, { warn }: ReadOptions): LsaContent {
  const prefix = masked(lsId, mask);
  if (!prefix) warn('bad-mask');
  const node = { name: networkNode(lsId), links: attachedRouters.map(routerNode), transit: true };
  return { prefixes: prefix ? [plainEntry(prefix, 0, 'intra-area')] : [], sids: [], node };
}

function masked(network: number, mask: number): Prefix | undefined {
  const length = maskLength(mask);
  return length === undefined ? undefined : prefixOf({ family: 4, value: BigInt(network) }, length);
}
