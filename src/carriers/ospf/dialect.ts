// How the two versions of OSPF write and read what cnpd says (RFC 7684, RFC 8362, RFC 9513): a table each (dialect-v2.ts, dialect-v3.ts). Everything
// else about content, in placement.ts, learning.ts and carrying.ts, is the same for both.
import { type IpAddress, isUnicastHost, sameAddress } from '../../model/address.ts';
import type { Origination } from '../../model/advertisement.ts';
import type { PrivateTypes } from '../../packet/ospf/lsa.ts';
import type { LsaBody, PrefixSubTlv, TrafficEngineeringLsa } from '../../packet/ospf/lsa/types.ts';
import { firstSubTlv } from '../../packet/ospf/prefix-sub-tlvs.ts';
import { readRoute } from '../../packet/ospf/route.ts';
import type { LsaKey } from '../../packet/ospf/types.ts';
import { comparePrefixes } from '../../model/prefix.ts';
import { hasFlag } from '../../packet/bit-string.ts';
import { copyOf, sameBytes } from '../../packet/bytes.ts';
import { type Entry, type PrefixEntry, type SidEntry, isSid } from './entries.ts';
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
  readonly complain: (what: string) => void;
}

/** One sort of LSA that holds entries, and how many fit. */
export interface EntryLsa {
  readonly type: number;
  /** Link-state ID of the first; the others follow. */
  readonly firstId: (types: PrivateTypes) => number;
  /** How many LSAs of the sort there may be. */
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
  /** LSAs by sort; `sortOf` says which one an entry goes to. */
  readonly sorts: Readonly<Record<string, EntryLsa>>;
  sortOf(entry: Entry): string;
  /** Whether of one prefix in several such LSAs of a router only that in the lowest link-state ID counts (RFC 7684 §2). */
  lowestCounts(key: LsaKey): boolean;
  read(key: LsaKey & { readonly raw: Uint8Array }, body: LsaBody, options: ReadOptions): LsaContent;
  /** What else follows from a declaration, beside its entries: router addresses, capabilities. */
  others(origination: Pick<Origination, 'routerAddresses'>, hasSids: boolean): readonly OwnLsa[];
}

export const NOTHING: LsaContent = { prefixes: [], sids: [] };

export const routerNode = (routerId: number): string => `r${routerId}`;

/** A prefix that an LSA without sub-TLVs lists: it has no flag. */
export const plainEntry = (prefix: PrefixEntry['prefix'], metric: number, route: PrefixEntry['route']): PrefixEntry => ({
  prefix,
  metric,
  route,
  pnc: false,
  flags: NO_FLAGS,
  node: false,
  attached: false,
});

const NO_FLAGS = new Uint8Array();

/**
 * What the sub-TLVs say: of repeated ones the first counts. Flags are copied, because the LSA may be let go.
 * @param latest the entry before: what it says alike is kept once for both, since the prefixes of an LSA mostly have one proxy
 */
export function readSubTlvs(subTlvs: readonly PrefixSubTlv[], pncFlagBit: number, latest?: PrefixEntry): Pick<PrefixEntry, 'pnc' | 'flags' | 'proxy' | 'sourceRouter'> {
  const flags = firstSubTlv(subTlvs, 'prefix-extended-flags')?.flags ?? NO_FLAGS;
  const address = firstSubTlv(subTlvs, 'source-router-address')?.address;
  const router = firstSubTlv(subTlvs, 'source-router-id')?.routerId;
  const proxy = address && latest?.proxy && sameAddress(address, latest.proxy) ? latest.proxy : address;
  return {
    pnc: hasFlag(flags, pncFlagBit),
    flags: sameBytes(flags, latest?.flags ?? NO_FLAGS) ? (latest?.flags ?? NO_FLAGS) : copyOf(flags),
    ...(proxy && { proxy }),
    ...(router !== undefined && { sourceRouter: router }),
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
 * The size of an entry by its shape: encoding each of thousands of prefixes only to measure them would cost more than placing them.
 * @param encodedLength bytes, which must depend on nothing else
 */
export function sizeByShape(encodedLength: (entry: PrefixEntry) => number): (entry: Entry) => number {
  const sizes = new Map<number, number>();
  return (entry) => {
    if (isSid(entry)) return 0;
    const { prefix, flags, sourceRouter, proxy } = entry;
    const shape = ((flags.length * 256 + prefix.length) * 2 + (proxy ? 1 : 0)) * 2 + (sourceRouter === undefined ? 0 : 1);
    let size = sizes.get(shape);
    if (size === undefined) sizes.set(shape, (size = encodedLength(entry)));
    return size;
  };
}

/** Of a prefix that is listed twice in one LSA the first counts (RFC 7684 §2.1). */
export function distinct(entries: readonly PrefixEntry[], key: (entry: PrefixEntry) => string, complain: (what: string) => void): readonly PrefixEntry[] {
  if (entries.every((entry, i) => i === 0 || comparePrefixes(entries[i - 1]!.prefix, entry.prefix) < 0)) return entries;
  const byKey = new Map<string, PrefixEntry>();
  for (const entry of entries) if (!byKey.has(key(entry))) byKey.set(key(entry), entry);
  if (byKey.size === entries.length) return entries;
  complain('repeated-prefix');
  return [...byKey.values()];
}

type Reader<B> = (body: B, lsa: LsaKey & { readonly raw: Uint8Array }, options: ReadOptions) => LsaContent;
/** What to read in which body; others say nothing. */
export type Readers = { readonly [K in LsaBody['kind']]?: Reader<LsaBody & { kind: K }> };

export function readBody(readers: Readers, lsa: LsaKey & { readonly raw: Uint8Array }, body: LsaBody, options: ReadOptions): LsaContent {
  const reader = readers[body.kind] as Reader<LsaBody> | undefined;
  return reader?.(body, lsa, options) ?? NOTHING;
}

export function readRouterAddress({ tlvs }: TrafficEngineeringLsa): LsaContent {
  for (const tlv of tlvs) if (tlv.kind === 'te-router-address' && isUnicastHost(tlv.address)) return { ...NOTHING, routerAddress: tlv.address };
  return NOTHING;
}

/** LSAs that hold one route (packet/ospf/route.ts); all others of no known body say nothing. */
export function readPlainRoute(version: 2 | 3, lsa: LsaKey & { readonly raw: Uint8Array }, { complain }: ReadOptions): LsaContent {
  const route = readRoute(version, lsa);
  if (!route.ok) complain('malformed');
  else if (route.value?.kind === 'router') return { ...NOTHING, reaches: route.value.routerId };
  else if (route.value) return { ...NOTHING, prefixes: [plainEntry(route.value.prefix, route.value.metric, route.value.external ? 'external' : 'inter-area')] };
  return NOTHING;
}
