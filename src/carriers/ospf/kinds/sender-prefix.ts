// Sender prefixes and their proxies (PNC §5.2, §5.3): the P-flag in the Prefix Extended Flags, the proxy's address in
// the Prefix Source Router Address (RFC 9084). An experimental sub-TLV says which notifications the senders understand,
// with the flag or without it. OSPFv2 uses Extended Prefix Opaque LSAs (RFC 7684), which describe a
// prefix and are no routes. They never have AS scope, which would crash an ospfd with `mpls-te on`
// (docs/explanation/decisions.md). OSPFv3 uses E-Intra-Area-Prefix-LSAs, and E-Inter-Area-Prefix-LSAs for copies (RFC
// 8362). Ours are for signaling only: the NU-bit excludes them from unicast routing (RFC 5340 §A.4.1.1), and their
// metric is LSInfinity. sender-prefix-reader.ts reads those of other routers.
import { count, warnLimited } from '../../effects.ts';
import { compareAddresses, sameOptional } from '../../../model/address.ts';
import type { AdvertisementOf, LearnedOf } from '../../../model/advertisement.ts';
import { comparePrefixes, prefixKey, samePrefix, senderlessUse } from '../../../model/prefix.ts';
import { extendedLsaPrefixLength } from '../../../packet/ospf/lsa/extended-lsa.ts';
import { MAX_EXTENDED_PREFIXES, extendedPrefixLength } from '../../../packet/ospf/lsa/extended-prefix.ts';
import type { ExtendedLsaPrefix, ExtendedPrefix, PrefixSubTlv } from '../../../packet/ospf/lsa/types.ts';
import { TYPE_V2, TYPE_V3, opaqueLsId } from '../../../packet/ospf/lsa-type.ts';
import { EXTENDED_PREFIX_FLAG, PREFIX_OPTION, ROUTE_TYPE } from '../../../packet/ospf/numbers.ts';
import { extendedFlags } from '../../../packet/ospf/prefix-sub-tlvs.ts';
import { compareLeaked, sameSupports, supportsOf, supportsSubTlvs } from '../../supports.ts';
import { FAMILY, SIGNALING_METRIC } from '../constants.ts';
import type {
  Candidate,
  EntryEncoding,
  EntryLsa,
  LeakingRules,
  NodeLookup,
  OspfKind,
  OwnSink,
  PerVersion,
} from './kind.ts';
import { compareRoutes, isCopy, mayLeak } from './route.ts';
import {
  EXTENDED_PREFIX_OPAQUE,
  FLAG_BIT,
  NO_FLAGS,
  type PrefixEntry,
  READING,
  SUPPORTS_SUB_TLV,
  lowestCounts,
} from './sender-prefix-reader.ts';

type Declared = AdvertisementOf<'sender-prefix'>;

const prefixTlvV2 = (entry: PrefixEntry): ExtendedPrefix => ({
  kind: 'extended-prefix',
  routeType: isCopy(entry) ? ROUTE_TYPE.interArea : ROUTE_TYPE.intraArea,
  flags: (entry.attached ? EXTENDED_PREFIX_FLAG.attach : 0) | (entry.node ? EXTENDED_PREFIX_FLAG.node : 0),
  prefix: entry.prefix,
  subTlvs: subTlvs(entry),
});

const prefixTlvV3 =
  (kind: ExtendedLsaPrefix['kind']) =>
  (entry: PrefixEntry): ExtendedLsaPrefix => ({
    kind,
    flags: 0,
    metric: SIGNALING_METRIC,
    prefixOptions: PREFIX_OPTION.noUnicast | (entry.node ? PREFIX_OPTION.node : 0),
    prefix: entry.prefix,
    subTlvs: subTlvs(entry),
  });

const subTlvs = ({ flags, proxy, sourceRouter, supports }: PrefixEntry): PrefixSubTlv[] => [
  ...(flags.length > 0 ? [{ kind: 'prefix-extended-flags', flags } as const] : []),
  ...(sourceRouter !== undefined ? [{ kind: 'source-router-id', routerId: sourceRouter } as const] : []),
  ...(proxy ? [{ kind: 'source-router-address', address: proxy } as const] : []),
  ...supportsSubTlvs(supports),
];

/**
 * The size of an entry, cached by the properties that it depends on. Encoding each of thousands of prefixes only to
 * measure it would cost more than placing it.
 * @param encodedLength bytes; it must depend on nothing but these properties
 */
export function sizeByShape(encodedLength: (entry: PrefixEntry) => number): (entry: PrefixEntry) => number {
  const sizes = new Map<number, number>();
  return (entry) => {
    const { prefix, flags, sourceRouter, proxy, supports } = entry;
    const present = (proxy ? 4 : 0) + (sourceRouter === undefined ? 0 : 2) + (supports ? 1 : 0);
    const shape = (flags.length * 256 + prefix.length) * 8 + present;
    let size = sizes.get(shape);
    if (size === undefined) sizes.set(shape, (size = encodedLength(entry)));
    return size;
  };
}

const EXTENDED_PREFIXES: EntryLsa<PrefixEntry> = {
  type: () => TYPE_V2.opaqueArea,
  firstId: () => opaqueLsId(EXTENDED_PREFIX_OPAQUE, 0),
  lsas: 1 << 24,
  entries: MAX_EXTENDED_PREFIXES,
  overhead: 0,
  size: sizeByShape((entry) => extendedPrefixLength(prefixTlvV2(entry))),
  body: (entries) => ({ kind: 'extended-prefix-lsa', tlvs: entries.map(prefixTlvV2) }),
};

const intraAreaTlv = prefixTlvV3('intra-area-prefix-tlv');
const INTRA_AREA: EntryLsa<PrefixEntry> = {
  type: () => TYPE_V3.eIntraAreaPrefix,
  firstId: () => 0,
  lsas: 2 ** 32,
  entries: Infinity,
  overhead: 12,
  size: sizeByShape((entry) => extendedLsaPrefixLength(intraAreaTlv(entry))),
  // Our Router-LSA is a legacy one: extended LSAs only add to it (RFC 8362 §6, sparse mode).
  body: (entries, routerId) => ({
    kind: 'e-intra-area-prefix',
    referenced: { type: TYPE_V3.router, lsId: 0, advertisingRouter: routerId },
    tlvs: entries.map(intraAreaTlv),
  }),
};

const interAreaTlv = prefixTlvV3('inter-area-prefix-tlv');
const INTER_AREA: EntryLsa<PrefixEntry> = {
  type: () => TYPE_V3.eInterAreaPrefix,
  firstId: () => 0,
  lsas: 2 ** 32,
  // RFC 8362 §4.3: one TLV an LSA.
  entries: 1,
  overhead: 0,
  size: sizeByShape((entry) => extendedLsaPrefixLength(interAreaTlv(entry))),
  body: (entries) => ({ kind: 'e-inter-area-prefix', tlvs: entries.map(interAreaTlv) }),
};

const ENCODING: PerVersion<EntryEncoding<PrefixEntry>> = {
  2: { lsas: [EXTENDED_PREFIXES], lsaOf: () => 0 },
  3: { lsas: [INTRA_AREA, INTER_AREA], lsaOf: (entry) => (isCopy(entry) ? 1 : 0) },
};

/**
 * The P-flag MUST be preserved between areas (PNC-5.2-c, PNC-5.3-c). What senders understand is copied with it, or
 * without it. Other prefixes are not copied.
 */
const LEAKING: LeakingRules<PrefixEntry> = {
  isLeakable: ({ pnc, supports, prefix }) => (pnc || supports !== undefined) && senderlessUse(prefix) === undefined,
  isCopy,
  mayLeak,
  compare: (a, b) => compareRoutes(a.entry, b.entry) || compareLeaked(a, b, resolved),
  /** Keeps all flags. The copy itself names the proxy that the original resolves to, and the original's router. */
  copy(candidate) {
    const { entry, advertisingRouter } = candidate;
    const proxy = resolved(candidate);
    return {
      ...entry,
      route: 'inter-area',
      attached: entry.route === 'intra-area',
      sourceRouter: entry.sourceRouter ?? advertisingRouter,
      ...(proxy && { proxy }),
    };
  },
};

export const SENDER_PREFIX: OspfKind<Declared, PrefixEntry> = {
  kind: 'sender-prefix',
  own: {
    others: () => [],
    entries: {
      desired,
      keyOf: ({ prefix }) => prefixKey(prefix),
      same: (a, b) => sameOptional(a.proxy, b.proxy) && sameSupports(a.supports, b.supports),
      encoding: ENCODING,
    },
  },
  received: {
    reading: READING,
    repeated: { appliesTo: lowestCounts, sameKey: (a, b) => samePrefix(a.prefix, b.prefix) },
    needsAddress: ({ pnc, proxy }) => pnc && !proxy,
    learned: (entries, node) => entries.map((entry) => learnedPrefix(entry, node)),
  },
  leaking: LEAKING,
  proxyPrefixes: (entries) => entries.filter(({ pnc }) => pnc).length,
};

/** Of two proxies for one prefix the lower address comes first, and one before none. */
const compareDeclared = (a: Declared, b: Declared): number =>
  comparePrefixes(a.prefix, b.prefix) ||
  (a.proxy && b.proxy ? compareAddresses(a.proxy, b.proxy) : Number(!a.proxy) - Number(!b.proxy));

/** Without a proxy of the other family, which no sub-TLV can hold. What the senders understand is independent of it. */
function encodable(declared: Declared, s: OwnSink): Declared {
  const { prefix, proxy, ...others } = declared;
  if (!proxy || proxy.family === prefix.address.family) return declared;
  s.unencodable++;
  warnLimited(
    s,
    'originate.proxy-of-other-family',
    {},
    'OSPF cannot encode a proxy address of the other family: the prefix is advertised without it, if at all',
  );
  return { prefix, ...others };
}

/** Of two proxies for one prefix the lower address wins (decision D7). */
function* desired(advertisements: readonly Declared[], s: OwnSink): Generator<PrefixEntry | undefined> {
  const { version, routerId, codePoints } = s.config;
  const flags = extendedFlags(codePoints[FLAG_BIT[version]]);
  const type = codePoints[SUPPORTS_SUB_TLV[version]];
  const family = FAMILY[version];
  let latest: PrefixEntry | undefined;
  // Prefixes of the other family are for the other version of OSPF.
  const ours = advertisements
    .filter(({ prefix }) => prefix.address.family === family)
    .map((declared) => encodable(declared, s));
  for (const { kind, prefix, proxy, supports } of ours.toSorted(compareDeclared)) {
    if (latest && samePrefix(latest.prefix, prefix)) {
      count(s, 'originate.duplicate-prefix');
      yield undefined;
    } else if (!proxy && !supports) yield undefined;
    else {
      latest = {
        kind,
        prefix,
        pnc: proxy !== undefined,
        metric: SIGNALING_METRIC,
        route: 'intra-area',
        flags: proxy ? flags : NO_FLAGS,
        node: false,
        attached: false,
        proxy,
        sourceRouter: routerId,
        ...(supports && { supports: supportsOf(supports, type) }),
      };
      yield latest;
    }
  }
}

function learnedPrefix(
  { kind, prefix, pnc, metric, proxy, supports }: PrefixEntry,
  node: NodeLookup,
): LearnedOf<'sender-prefix'> {
  const learned = { kind, prefix, pnc, metric, proxy: pnc ? (proxy ?? node()) : undefined };
  return supports ? { ...learned, supports: supports.formats } : learned;
}

/** A prefix without the flag has none. */
const resolved = ({ entry, node }: Candidate<PrefixEntry>) => entry.proxy ?? (entry.pnc ? node() : undefined);
