// The prefixes that LSAs list, with the P-flag and without, and what their senders understand. Extended LSAs are read
// from their encoded bytes, since they may list thousands of prefixes. Values that consecutive prefixes share are kept
// once.
import type { IpAddress } from '../../../model/address.ts';
import { type Prefix, comparePrefixes, prefixKey } from '../../../model/prefix.ts';
import { hasFlag } from '../../../packet/bit-string.ts';
import { copyOf, sameRange } from '../../../packet/bytes.ts';
import { REFERENCED_LENGTH } from '../../../packet/ospf/lsa/intra-area-prefix.ts';
import type { IntraAreaPrefixLsa, NetworkLsaV2, RouterLsaV2 } from '../../../packet/ospf/lsa/types.ts';
import { LSA_HEADER_LENGTH } from '../../../packet/ospf/lsa-header.ts';
import { TYPE_V2, U_BIT, isOpaque, lsaFunction, opaqueTypeOf } from '../../../packet/ospf/lsa-type.ts';
import {
  EXTENDED_PREFIX_FLAG,
  LINK_TYPE,
  PREFIX_OPTION,
  ROUTE_TYPE,
  type Version,
} from '../../../packet/ospf/numbers.ts';
import {
  type PrefixTlvCursor,
  cursorAddress,
  cursorPrefix,
  cursorRouter,
  forEachPrefixTlv,
} from '../../../packet/ospf/prefix-walk.ts';
import { maskedPrefix, readPrefixRoute } from '../../../packet/ospf/route.ts';
import type { LsaKey, RawLsa } from '../../../packet/ospf/types.ts';
import { type Supports, supportsReader } from '../../supports.ts';
import { SIGNALING_METRIC } from '../constants.ts';
import type { KindOptions, PerVersion, Reading, Walked, Warn } from './kind.ts';
import type { RouteKind } from './route.ts';

export interface PrefixEntry {
  readonly kind: 'sender-prefix';
  readonly prefix: Prefix;
  /** Proxy Node Capability. */
  readonly pnc: boolean;
  readonly metric: number;
  readonly route: RouteKind;
  /** All Prefix Extended Flags (RFC 9792). */
  readonly flags: Uint8Array;
  /** N-flag: the prefix identifies a node. */
  readonly node: boolean;
  /** A-flag of OSPFv2: the prefix is in an area that the border router is attached to (RFC 7684 §2.1). */
  readonly attached: boolean;
  /** Prefix Source Router Address and Router ID (RFC 9084). */
  readonly proxy?: IpAddress | undefined;
  readonly sourceRouter?: number | undefined;
  readonly supports?: Supports | undefined;
}

export const EXTENDED_PREFIX_OPAQUE = 7;
export const FLAG_BIT = { 2: 'ospfv2-pnc-flag-bit', 3: 'ospfv3-pnc-flag-bit' } as const;
export const SUPPORTS_SUB_TLV = { 2: 'ospfv2-supports-sub-tlv', 3: 'ospfv3-supports-sub-tlv' } as const;
const EXTENDED_FUNCTIONS: ReadonlySet<number> = new Set([35, 37, 39, 41]);

/** RFC 7684 §2 requires it for Extended Prefix LSAs; extended LSAs of OSPFv3 are treated alike. */
export const lowestCounts = (version: Version, lsa: LsaKey): boolean =>
  version === 2
    ? isOpaque(lsa.type) && opaqueTypeOf(lsa) === EXTENDED_PREFIX_OPAQUE
    : (lsa.type & U_BIT) !== 0 && EXTENDED_FUNCTIONS.has(lsaFunction(lsa.type));

export const READING: PerVersion<Reading<PrefixEntry>> = {
  2: {
    walk: walkV2,
    bodies: {
      'router-v2': readStubs,
      'network-v2': readNetwork,
      unknown: (_body, lsa, _, warn) => readRoute(2, lsa, warn),
    },
  },
  3: {
    walk: walkV3,
    bodies: { 'intra-area-prefix': readIntraArea, unknown: (_body, lsa, _, warn) => readRoute(3, lsa, warn) },
  },
};

// --- Extended LSAs ---------------------------------------------------------------------------------------------------

const ROUTE_KIND: Readonly<Record<number, RouteKind>> = {
  [ROUTE_TYPE.unspecified]: 'unspecified',
  [ROUTE_TYPE.intraArea]: 'intra-area',
  [ROUTE_TYPE.interArea]: 'inter-area',
  [ROUTE_TYPE.asExternal]: 'external',
  [ROUTE_TYPE.nssaExternal]: 'external',
};

function walkV2(lsa: RawLsa, options: KindOptions, warn: Warn): Walked<PrefixEntry> | undefined {
  if (!isOpaque(lsa.type) || opaqueTypeOf(lsa) !== EXTENDED_PREFIX_OPAQUE) return undefined;
  return walk(lsa.raw, LSA_HEADER_LENGTH, options, warn, ({ routeType, flags }) => {
    // An LSA with AS scope belongs to no area, whatever its route type.
    const route = lsa.type === TYPE_V2.opaqueAs ? 'external' : ROUTE_KIND[routeType];
    if (!route) {
      warn('unknown-route-type');
      return undefined;
    }
    const { attach, node } = EXTENDED_PREFIX_FLAG;
    return { route, metric: SIGNALING_METRIC, node: (flags & node) !== 0, attached: (flags & attach) !== 0 };
  });
}

/**
 * By function code: the type of the TLV that belongs in the LSA, where the TLVs begin, and the kind of their routes.
 */
const EXTENDED: ReadonlyMap<number, { readonly tlv: number; readonly start: number; readonly route: RouteKind }> =
  new Map([
    [35, { tlv: 3, start: LSA_HEADER_LENGTH, route: 'inter-area' }],
    [37, { tlv: 5, start: LSA_HEADER_LENGTH, route: 'external' }],
    [41, { tlv: 6, start: LSA_HEADER_LENGTH + REFERENCED_LENGTH, route: 'intra-area' }],
  ]);

function walkV3(lsa: RawLsa, options: KindOptions, warn: Warn): Walked<PrefixEntry> | undefined {
  const extended = EXTENDED.get(lsaFunction(lsa.type));
  if (!extended) return undefined;
  return walk(lsa.raw, extended.start, options, warn, ({ type, metric, prefixOptions }) => {
    if (type === extended.tlv)
      return { route: extended.route, metric, node: (prefixOptions & PREFIX_OPTION.node) !== 0, attached: false };
    warn('misplaced-tlv');
    return undefined;
  });
}

/** What the fixed part of a prefix TLV contributes to the entry. */
type TlvPlace = Pick<PrefixEntry, 'route' | 'metric' | 'node' | 'attached'>;

/**
 * Reads the entries of an LSA of prefix TLVs.
 * @param start where the TLVs begin
 * @param placeOf reads the fixed part of a TLV; undefined if the TLV is to be skipped
 */
function walk(
  raw: Uint8Array,
  start: number,
  { version, codePoints }: KindOptions,
  warn: Warn,
  placeOf: (cursor: PrefixTlvCursor) => TlvPlace | undefined,
): Walked<PrefixEntry> {
  const entries: PrefixEntry[] = [];
  const type = codePoints[SUPPORTS_SUB_TLV[version]];
  const supportsAt = supportsReader(type, () => warn('bad-supports'));
  const read = entryReader(codePoints[FLAG_BIT[version]]);
  const bad = forEachPrefixTlv(
    version,
    raw,
    start,
    (cursor) => {
      const place = placeOf(cursor);
      if (!place) return;
      const supports = supportsAt(raw, cursor.wantedOffset, cursor.wantedLength);
      const entry = read(cursor, place);
      entries.push(supports ? { ...entry, supports } : entry);
    },
    type,
  );
  return { bad, entries: distinct(entries, warn) };
}

export const NO_FLAGS = new Uint8Array();

/**
 * Reads the entries of one LSA, one after another. Values equal to those of the previous entry are shared with it,
 * since the prefixes of an LSA usually have the same proxy. Flags are copied, because they must outlive the LSA.
 */
function entryReader(pncFlagBit: number): (cursor: PrefixTlvCursor, place: TlvPlace) => PrefixEntry {
  let latest: PrefixEntry | undefined;
  let flagsAt = -1;
  let addressAt = -1;
  return (cursor, { route, metric, node, attached }) => {
    const { version, bytes, flagsOffset, flagsLength, addressOffset } = cursor;
    const sameFlags =
      latest !== undefined &&
      latest.flags.length === flagsLength &&
      sameRange(bytes, flagsAt, flagsOffset, flagsLength);
    const flags = sameFlags
      ? latest!.flags
      : flagsLength > 0
        ? copyOf(bytes, flagsOffset, flagsOffset + flagsLength)
        : NO_FLAGS;
    const proxy =
      latest && sameRange(bytes, addressAt, addressOffset, version === 2 ? 4 : 16)
        ? latest.proxy
        : cursorAddress(cursor);
    flagsAt = flagsOffset;
    addressAt = addressOffset;
    return (latest = {
      kind: 'sender-prefix',
      prefix: cursorPrefix(cursor),
      pnc: hasFlag(flags, pncFlagBit),
      metric,
      route,
      flags,
      node,
      attached,
      proxy,
      sourceRouter: cursorRouter(cursor),
    });
  };
}

/** If a prefix is listed twice in one LSA, the first is used (RFC 7684 §2.1). */
function distinct(entries: readonly PrefixEntry[], warn: Warn): readonly PrefixEntry[] {
  if (entries.every((entry, i) => i === 0 || comparePrefixes(entries[i - 1]!.prefix, entry.prefix) < 0)) return entries;
  const byKey = new Map<string, PrefixEntry>();
  for (const entry of entries) if (!byKey.has(prefixKey(entry.prefix))) byKey.set(prefixKey(entry.prefix), entry);
  if (byKey.size === entries.length) return entries;
  warn('repeated-prefix');
  return [...byKey.values()];
}

// --- LSAs without flags ----------------------------------------------------------------------------------------------

/** A prefix that an LSA without sub-TLVs lists. */
export const plainEntry = (prefix: Prefix, metric: number, route: RouteKind): PrefixEntry => ({
  kind: 'sender-prefix',
  prefix,
  metric,
  route,
  pnc: false,
  flags: NO_FLAGS,
  node: false,
  attached: false,
});

function readStubs({ links }: RouterLsaV2, _lsa: RawLsa, _options: KindOptions, warn: Warn): readonly PrefixEntry[] {
  const found: PrefixEntry[] = [];
  for (const { type, linkId, linkData, metric } of links) {
    if (type !== LINK_TYPE.stub) continue;
    const prefix = maskedPrefix(linkId, linkData);
    if (prefix) found.push(plainEntry(prefix, metric, 'intra-area'));
    else warn('bad-mask');
  }
  return found;
}

function readNetwork(
  { mask }: NetworkLsaV2,
  { lsId }: RawLsa,
  _options: KindOptions,
  warn: Warn,
): readonly PrefixEntry[] {
  const prefix = maskedPrefix(lsId, mask);
  if (prefix) return [plainEntry(prefix, 0, 'intra-area')];
  warn('bad-mask');
  return [];
}

function readIntraArea({ prefixes }: IntraAreaPrefixLsa): readonly PrefixEntry[] {
  return prefixes
    .filter(({ options }) => (options & PREFIX_OPTION.noUnicast) === 0)
    .map(({ prefix, metric }) => plainEntry(prefix, metric, 'intra-area'));
}

/** LSAs that contain one route (packet/ospf/route.ts). */
function readRoute(version: Version, lsa: RawLsa, warn: Warn): readonly PrefixEntry[] {
  const route = readPrefixRoute(version, lsa);
  if (!route.ok) {
    warn('malformed');
    return [];
  }
  if (!route.value) return [];
  const { prefix, metric, external } = route.value;
  return [plainEntry(prefix, metric, external ? 'external' : 'inter-area')];
}
