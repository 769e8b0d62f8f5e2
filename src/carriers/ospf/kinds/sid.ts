// SRv6 SIDs. OSPFv2 has no SRv6, so they are in cnpd's private opaque LSA. In OSPFv3 they are in SRv6 Locator LSAs (RFC
// 9513), for signaling only: the locators have a metric that receivers MUST treat as unreachable (RFC 9513 §7.1).
import { warnLimited } from '../../effects.ts';
import { type IpAddress, compareAddresses, isUnicastHost, mapKey } from '../../../model/address.ts';
import type { AdvertisementOf } from '../../../model/advertisement.ts';
import { sidBehaviors } from '../../../model/code-points.ts';
import { type Prefix, prefixContains, prefixKey, samePrefix } from '../../../model/prefix.ts';
import type { PrivateLsa, Srv6Locator, Srv6LocatorLsa } from '../../../packet/ospf/lsa/types.ts';
import { TYPE_V2, TYPE_V3, opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import { PREFIX_OPTION, ROUTE_TYPE } from '../../../packet/ospf/numbers.ts';
import { paddedPrefixBytes } from '../../../packet/ospf/prefix.ts';
import type { RawLsa } from '../../../packet/ospf/types.ts';
import { type ContainerTlv, decodeSidContainer, encodeSidContainer } from '../../../packet/sid-container.ts';
import { UNREACHABLE_LOCATOR } from '../constants.ts';
import type { OwnLsa } from '../version.ts';
import { CONTAINER_HEADER, CONTAINER_IDS, OPAQUE_IDS, routeOfContainer } from './container.ts';
import type { EntryLsa, KindOptions, OspfKind, Warn } from './kind.ts';
import { type RouteKind, compareRoutes, isCopy, mayLeak } from './route.ts';

export interface SidEntry {
  readonly kind: 'sid';
  readonly sid: IpAddress;
  readonly behavior: number;
  readonly locator: Prefix;
  readonly algorithm: number;
  readonly route: RouteKind;
}

const CONTAINED_SID = 24;

/** Bytes of a Locator TLV without prefix and sub-TLVs, and of an End SID sub-TLV. */
const LOCATOR_FIXED = 12;
const END_SID_SIZE = 24;

const containedSid = ({ sid, locator, behavior }: SidEntry): ContainerTlv => ({ tlv: 'sid', sid, locator, behavior });

const containerLsa = (route: 'original' | 'copy'): EntryLsa<SidEntry> => ({
  type: () => TYPE_V2.opaqueArea,
  firstId: ({ opaqueType }) => opaqueLsId(opaqueType, CONTAINER_IDS.sid[route]),
  lsas: OPAQUE_IDS,
  entries: Infinity,
  overhead: CONTAINER_HEADER,
  size: () => CONTAINED_SID,
  body: (sids) => ({ kind: 'private', container: encodeSidContainer(sids.map(containedSid)) }),
});

const LOCATORS: EntryLsa<SidEntry> = {
  type: () => TYPE_V3.srv6Locator,
  firstId: () => 0,
  lsas: 2 ** 32,
  entries: Infinity,
  overhead: 0,
  // The upper limit, for a SID that shares its locator with no other.
  size: ({ locator }) => LOCATOR_FIXED + paddedPrefixBytes(locator.length) + END_SID_SIZE,
  body: (sids) => ({ kind: 'srv6-locator-lsa', tlvs: locators(sids) }),
};

export const SID: OspfKind<AdvertisementOf<'sid'>, SidEntry> = {
  kind: 'sid',
  own: {
    others: (advertisements, { config: { version } }) =>
      version === 3 && advertisements.length > 0 ? [SRV6_CAPABILITIES] : [],
    entries: {
      *desired(advertisements, s) {
        for (const { kind, sid, locator, behavior } of advertisements.toSorted((a, b) =>
          compareAddresses(a.sid, b.sid),
        )) {
          const usable = usableSid({ sid, locator });
          if (!usable) {
            s.unencodable++;
            warnLimited(
              s,
              'originate.unusable-sid',
              {},
              'SID not advertised: it is not in its locator, or the locator has length 0',
            );
          }
          yield usable ? { kind, sid, behavior, locator, algorithm: 0, route: 'intra-area' } : undefined;
        }
      },
      keyOf: ({ sid }) => `sid:${sid.value.toString(32)}`,
      same: (a, b) => a.behavior === b.behavior && samePrefix(a.locator, b.locator),
      encoding: {
        2: { lsas: [containerLsa('original'), containerLsa('copy')], lsaOf: (entry) => (isCopy(entry) ? 1 : 0) },
        3: { lsas: [LOCATORS], lsaOf: () => 0 },
      },
    },
  },
  received: {
    reading: {
      2: { walk: 'none', bodies: { private: readContainer } },
      3: { walk: 'none', bodies: { 'srv6-locator-lsa': readLocators } },
    },
    repeated: 'all-count',
    needsAddress: () => false,
    learned: (entries) => entries.map(({ kind, sid, behavior }) => ({ kind, sid, behavior })),
  },
  leaking: {
    isLeakable: () => true,
    isCopy,
    mayLeak,
    compare: (a, b) => compareRoutes(a.entry, b.entry),
    copy: ({ entry }) => ({ ...entry, route: 'inter-area' }),
  },
  proxyPrefixes: () => 0,
};

/** A router with SIDs advertises that it supports SRv6 (RFC 9513 §2). */
const SRV6_CAPABILITIES: OwnLsa = {
  type: TYPE_V3.routerInformation,
  lsId: 0,
  body: { kind: 'router-information', tlvs: [{ kind: 'srv6-capabilities', flags: 0, subTlvs: new Uint8Array() }] },
};

/**
 * A SID that is not in its locator MUST be ignored (RFC 9513 §8). A SID that is no unicast host address could not
 * receive packets.
 */
export const usableSid = ({ sid, locator }: Pick<SidEntry, 'sid' | 'locator'>): boolean =>
  sid.family === 6 && locator.length > 0 && prefixContains(locator, sid) && isUnicastHost(sid);

function locators(sids: readonly SidEntry[]): Srv6Locator[] {
  const groups = new Map<string, SidEntry[]>();
  for (const sid of sids) {
    const key = `${prefixKey(sid.locator)} ${sid.algorithm} ${sid.route}`;
    groups.set(key, [...(groups.get(key) ?? []), sid]);
  }
  return [...groups.values()].map((group) => ({
    kind: 'srv6-locator',
    routeType: isCopy(group[0]!) ? ROUTE_TYPE.interArea : ROUTE_TYPE.intraArea,
    algorithm: group[0]!.algorithm,
    prefixOptions: PREFIX_OPTION.noUnicast,
    metric: UNREACHABLE_LOCATOR,
    locator: group[0]!.locator,
    subTlvs: group.map(({ sid, behavior }) => ({ kind: 'end-sid', flags: 0, behavior, sid, subTlvs: [] })),
  }));
}

function readContainer(
  { container }: PrivateLsa,
  lsa: RawLsa,
  { codePoints }: KindOptions,
  warn: Warn,
): readonly SidEntry[] {
  const decoded = decodeSidContainer(container);
  if (!decoded.ok) {
    warn('bad-container');
    return [];
  }
  const route = routeOfContainer(lsa);
  const sids = decoded.value.filter((one) => one.tlv === 'sid');
  const behaviors = sidBehaviors(codePoints);
  const known = sids.filter(({ behavior }) => behaviors.has(behavior));
  const usable = known.filter(usableSid);
  if (usable.length < known.length) warn('unusable-sid');
  return usable.map(({ sid, locator, behavior }) => ({ kind: 'sid', sid, behavior, locator, algorithm: 0, route }));
}

const LOCATOR_ROUTE: Readonly<Record<number, RouteKind>> = {
  [ROUTE_TYPE.intraArea]: 'intra-area',
  [ROUTE_TYPE.interArea]: 'inter-area',
  [ROUTE_TYPE.asExternal]: 'external',
  [ROUTE_TYPE.nssaExternal]: 'external',
};

/** If a SID is listed twice, the first is used. */
function readLocators(
  { tlvs }: Srv6LocatorLsa,
  { type }: RawLsa,
  { codePoints }: KindOptions,
  warn: Warn,
): readonly SidEntry[] {
  const behaviors = sidBehaviors(codePoints);
  const found = new Map<string, SidEntry>();
  for (const tlv of tlvs) {
    if (tlv.kind === 'unknown') continue;
    const { locator, algorithm } = tlv;
    const route = type === TYPE_V3.srv6LocatorAs ? 'external' : LOCATOR_ROUTE[tlv.routeType];
    if (!route) {
      warn('unknown-route-type');
      continue;
    }
    for (const subTlv of tlv.subTlvs) {
      if (subTlv.kind !== 'end-sid' || !behaviors.has(subTlv.behavior)) continue;
      const { sid, behavior } = subTlv;
      if (!usableSid({ sid, locator })) warn('unusable-sid');
      else if (!found.has(mapKey(sid)))
        found.set(mapKey(sid), { kind: 'sid', sid, behavior, locator, algorithm, route });
    }
  }
  return [...found.values()];
}
