// How the two versions of OSPF write and read what cnpd says (RFC 7684, RFC 8362, RFC 9513): a table each
// (v2/dialect.ts, v3/dialect.ts). Everything else about content, in placement.ts, learning.ts and leaking.ts, is the
// same for both.
import { type IpAddress, isUnicastHost } from '../../model/address.ts';
import type { PrivateTypes } from '../../packet/ospf/lsa.ts';
import type { LsaBody, PrefixSubTlv, TrafficEngineeringLsa } from '../../packet/ospf/lsa/types.ts';
import {
  type PrefixTlvCursor,
  cursorAddress,
  cursorPrefix,
  cursorRouter,
  forEachPrefixTlv,
} from '../../packet/ospf/prefix-walk.ts';
import { readRoute } from '../../packet/ospf/route.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import { comparePrefixes, prefixKey } from '../../model/prefix.ts';
import { hasFlag } from '../../packet/bit-string.ts';
import { copyOf, sameRange } from '../../packet/bytes.ts';
import { type Entry, type PrefixEntry, type SidEntry, isSid } from './kinds/entries.ts';
import type { OwnLsa } from './version.ts';

/** A router or a transit network in the graph of an area. */
export interface GraphNode {
  readonly name: string;
  readonly links: readonly string[];
  /** False: others are not reached through it (RFC 5340 §2.7, R-bit clear). */
  readonly transit: boolean;
}

/** What one LSA says, as far as cnpd cares. */
export interface LsaContent {
  readonly prefixes: readonly PrefixEntry[];
  readonly sids: readonly SidEntry[];
  /** The router's address for traffic engineering (RFC 3630 §2.4.1, RFC 5329 §3). */
  readonly routerAddress?: IpAddress;
  /** A host address of the router among its prefixes. */
  readonly hostAddress?: IpAddress;
  readonly node?: GraphNode;
  /** A router outside the area that the originator of the LSA reaches (RFC 2328 §12.4.3). */
  readonly reaches?: number;
}

/** What decides how an LSA is read. */
export interface ReadOptions {
  /** Bit of the Prefix Extended Flags that is the P-flag. */
  readonly pncFlagBit: number;
  /** Endpoint behaviours of the SIDs to keep. */
  readonly sidBehaviors: readonly number[];
  readonly privateTypes: PrivateTypes;
  /** A part of an LSA that is not usable. */
  readonly warn: (what: string) => void;
}

export interface WalkedPrefixes {
  /** How many TLVs are malformed and left out; decodeBody says which. undefined: the whole LSA is malformed. */
  readonly bad: number | undefined;
  readonly content: LsaContent;
}

/** One kind of LSA that holds entries, and how many fit. */
export interface EntryLsa {
  readonly type: number;
  /** Link-state ID of the first; the others follow. */
  readonly firstId: (types: PrivateTypes) => number;
  /** How many LSAs of the kind there may be. */
  readonly lsas: number;
  readonly entries: number;
  /** Bytes of the body beside the entries. */
  readonly overhead: number;
  /** Bytes of an entry, at most. @throws EncodeError */
  size(entry: Entry): number;
  body(entries: readonly Entry[], routerId: number): LsaBody;
}

export interface Dialect {
  readonly version: 2 | 3;
  /** Of the prefixes, and of the proxy addresses that fit beside them. */
  readonly family: 4 | 6;
  /** LSAs by kind; `lsaKindOf` is the kind that an entry goes to. */
  readonly lsaKinds: Readonly<Record<string, EntryLsa>>;
  lsaKindOf(entry: Entry): string;
  /**
   * Whether of one prefix in several such LSAs of a router only that in the lowest link-state ID counts (RFC 7684 §2).
   */
  lowestCounts(key: LsaKey): boolean;
  /** Of LSAs with prefix TLVs; undefined: it is another one, and `read` says what is in its body. */
  walk(lsa: LsaKey & { readonly raw: Uint8Array }, options: ReadOptions): WalkedPrefixes | undefined;
  read(key: LsaKey & { readonly raw: Uint8Array }, body: LsaBody, options: ReadOptions): LsaContent;
  /** What else follows from a declaration, beside its entries: router addresses, capabilities. */
  others(routerAddresses: readonly IpAddress[], hasSids: boolean): readonly OwnLsa[];
}

export const NOTHING: LsaContent = { prefixes: [], sids: [] };

export const routerNode = (routerId: number): string => `r${routerId}`;

/** A prefix that an LSA without sub-TLVs lists: it has no flag. */
export const plainEntry = (
  prefix: PrefixEntry['prefix'],
  metric: number,
  route: PrefixEntry['route'],
): PrefixEntry => ({
  prefix,
  metric,
  route,
  pnc: false,
  flags: NO_FLAGS,
  node: false,
  attached: false,
});

const NO_FLAGS = new Uint8Array();

/** What a prefix TLV says beside its sub-TLVs. */
export type TlvPlace = Pick<PrefixEntry, 'route' | 'metric' | 'node' | 'attached'>;

/**
 * What an LSA of prefix TLVs lists.
 * @param start where the TLVs begin
 * @param placeOf what the fixed part of a TLV says; undefined when the TLV is to be left out
 */
export function readPrefixTlvs(
  version: 2 | 3,
  raw: Uint8Array,
  start: number,
  { pncFlagBit, warn }: ReadOptions,
  placeOf: (cursor: PrefixTlvCursor) => TlvPlace | undefined,
): WalkedPrefixes {
  const entries: PrefixEntry[] = [];
  const read = entryReader(pncFlagBit);
  const bad = forEachPrefixTlv(version, raw, start, (cursor) => {
    const place = placeOf(cursor);
    if (place) entries.push(read(cursor, place));
  });
  return { bad, content: { ...NOTHING, prefixes: distinct(entries, warn) } };
}

/**
 * Reads the entries of one LSA, one after another. What an entry says like the one before is kept once for both, since
 * the prefixes of an LSA mostly have one proxy. Flags are copied, because the LSA may be let go.
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

export function writeSubTlvs({ flags, proxy, sourceRouter }: PrefixEntry): PrefixSubTlv[] {
  return [
    { kind: 'prefix-extended-flags', flags },
    ...(sourceRouter !== undefined ? [{ kind: 'source-router-id', routerId: sourceRouter } as const] : []),
    ...(proxy ? [{ kind: 'source-router-address', address: proxy } as const] : []),
  ];
}

/**
 * The size of an entry by its shape: encoding each of thousands of prefixes only to measure them would cost more than
 * placing them.
 * @param encodedLength bytes, which must depend on nothing else
 */
export function sizeByShape(encodedLength: (entry: PrefixEntry) => number): (entry: Entry) => number {
  const sizes = new Map<number, number>();
  return (entry) => {
    if (isSid(entry)) return 0;
    const { prefix, flags, sourceRouter, proxy } = entry;
    const shape =
      ((flags.length * 256 + prefix.length) * 2 + (proxy ? 1 : 0)) * 2 + (sourceRouter === undefined ? 0 : 1);
    let size = sizes.get(shape);
    if (size === undefined) sizes.set(shape, (size = encodedLength(entry)));
    return size;
  };
}

/** Of a prefix that is listed twice in one LSA the first counts (RFC 7684 §2.1). */
function distinct(entries: readonly PrefixEntry[], warn: (what: string) => void): readonly PrefixEntry[] {
  if (entries.every((entry, i) => i === 0 || comparePrefixes(entries[i - 1]!.prefix, entry.prefix) < 0)) return entries;
  const byKey = new Map<string, PrefixEntry>();
  for (const entry of entries) if (!byKey.has(prefixKey(entry.prefix))) byKey.set(prefixKey(entry.prefix), entry);
  if (byKey.size === entries.length) return entries;
  warn('repeated-prefix');
  return [...byKey.values()];
}

type Reader<B> = (body: B, lsa: LsaKey & { readonly raw: Uint8Array }, options: ReadOptions) => LsaContent;
/** What to read in which body; others say nothing. */
export type Readers = { readonly [K in LsaBody['kind']]?: Reader<LsaBody & { kind: K }> };

export function readBody(
  readers: Readers,
  lsa: LsaKey & { readonly raw: Uint8Array },
  body: LsaBody,
  options: ReadOptions,
): LsaContent {
  const reader = readers[body.kind] as Reader<LsaBody> | undefined;
  return reader?.(body, lsa, options) ?? NOTHING;
}

export function readRouterAddress({ tlvs }: TrafficEngineeringLsa): LsaContent {
  for (const tlv of tlvs)
    if (tlv.kind === 'te-router-address' && isUnicastHost(tlv.address))
      return { ...NOTHING, routerAddress: tlv.address };
  return NOTHING;
}

/** LSAs that hold one route (packet/ospf/route.ts); all others of no known body say nothing. */
export function readPlainRoute(
  version: 2 | 3,
  lsa: LsaKey & { readonly raw: Uint8Array },
  { warn }: ReadOptions,
): LsaContent {
  const route = readRoute(version, lsa);
  if (!route.ok) warn('malformed');
  else if (route.value?.kind === 'router') return { ...NOTHING, reaches: route.value.routerId };
  else if (route.value)
    return {
      ...NOTHING,
      prefixes: [plainEntry(route.value.prefix, route.value.metric, route.value.external ? 'external' : 'inter-area')],
    };
  return NOTHING;
}
