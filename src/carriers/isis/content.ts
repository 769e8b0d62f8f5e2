// What an LSP says, as far as the speaker cares: neighbours for the graph, prefixes for the learned table, addresses for the proxy fallback
// (decisions D5, D6), overload bit and hostname. Only prefixes with the P-flag are kept; the others are reported once and read again
// from the raw LSP when needed, so that a large database stays small.
import { type IpAddress, isUnicastHost } from '../../model/address.ts';
import type { LearnedPrefix } from '../../model/advertisement.ts';
import type { Prefix } from '../../model/prefix.ts';
import { lspIdTextAt } from '../../packet/isis/lsp-id.ts';
import { LSP_HEADER_LENGTH } from '../../packet/isis/pdu-format.ts';
import { decodeTlv } from '../../packet/isis/tlvs.ts';
import type { BadTlv, IsisTlv, Lsp, Received } from '../../packet/isis/types.ts';
import { type PrefixCursor, cursorFlag, cursorPrefix, cursorSource4, cursorSource6, forEachNeighbor, forEachPrefix } from '../../packet/isis/walk.ts';

export interface Edge {
  /** `0000.0000.0001.00`. */
  readonly node: string;
  readonly metric: number;
}

/** One prefix entry of TLV 135, 235, 236 or 237. */
export interface PrefixEntry {
  readonly prefix: Prefix;
  readonly metric: number;
  readonly down: boolean;
  readonly external: boolean;
  /** Sub-TLV 4, empty when absent. */
  readonly flags: Uint8Array;
  readonly pnc: boolean;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress;
  readonly source6?: IpAddress;
}

/** Usable addresses of the node itself: TLVs 134/140 first, then 132/232. */
export interface NodeAddresses {
  readonly v4?: IpAddress;
  readonly v6?: IpAddress;
}

export interface LspContent {
  readonly overload: boolean;
  readonly hostname: string | undefined;
  readonly edges: readonly Edge[];
  readonly flagged: readonly PrefixEntry[];
  readonly routerIds: NodeAddresses;
  readonly interfaces: NodeAddresses;
}

export const NO_CONTENT: LspContent = { overload: false, hostname: undefined, edges: [], flagged: [], routerIds: {}, interfaces: {} };

/** Topologies that are not unicast routing of the network's own traffic (RFC 5120 §7.5): in-band management and multicast. */
const FOREIGN_TOPOLOGIES: ReadonlySet<number> = new Set([1, 3, 4, 5]);

/** A prefix without the P-flag needs no more than this. */
export type PlainEntry = Pick<PrefixEntry, 'prefix' | 'metric' | 'pnc'>;

export interface ReadLsp {
  readonly content: LspContent;
  /** Flagged ones are PrefixEntry. */
  readonly prefixes: readonly (PlainEntry | PrefixEntry)[];
  /** Prefixes that the LSP lists both with and without the P-flag. */
  readonly contradictions: number;
  readonly badTlvs: readonly Pick<BadTlv, 'subType' | 'error'>[];
}

/** TLVs that the walks read; all others are few in an LSP and decoded one by one. */
const WALKED: ReadonlySet<number> = new Set([2, 22, 222, 135, 235, 236, 237]);

export function readLsp(lsp: Lsp & Received, pncFlagBit: number): ReadLsp {
  const { raw } = lsp;
  const badTlvs: Pick<BadTlv, 'subType' | 'error'>[] = [];
  const info: { hostname?: string; routerIds: Writable<NodeAddresses>; interfaces: Writable<NodeAddresses> } = { routerIds: {}, interfaces: {} };
  for (let at = LSP_HEADER_LENGTH; at < raw.length; at += 2 + raw[at + 1]!) {
    if (WALKED.has(raw[at]!)) continue;
    const tlv = decodeTlv(raw[at]!, raw.subarray(at + 2, at + 2 + raw[at + 1]!));
    if (!tlv.ok) badTlvs.push({ error: tlv.error });
    else note(tlv.value, info);
  }
  const edges: Edge[] = [];
  const badNeighbors = forEachNeighbor(raw, (bytes, offset, metric) => edges.push({ node: nodeAt(bytes, offset), metric }));
  const walked: (PlainEntry | PrefixEntry)[] = [];
  let flags = 0;
  const badPrefixes = forEachPrefix(raw, (cursor) => {
    if (FOREIGN_TOPOLOGIES.has(cursor.mtId)) return;
    const pnc = cursorFlag(cursor, pncFlagBit);
    if (pnc) flags++;
    walked.push(pnc ? flaggedEntry(cursor) : { prefix: cursorPrefix(cursor), metric: cursor.metric, pnc });
  });
  const { prefixes, contradictions } = flags > 0 ? distinct(walked) : { prefixes: walked, contradictions: 0 };
  const flagged = flags > 0 ? prefixes.filter(isFlagged) : NONE;
  // Something is wrong with a TLV that was walked, or a proxy is missing: the full decoder says what.
  if (badNeighbors + badPrefixes > 0 || flagged.some((p) => !p.source4 && !p.source6)) badTlvs.push(...lsp.badTlvs);
  const { hostname, routerIds, interfaces } = info;
  return { content: { overload: lsp.overload, hostname, edges, flagged, routerIds, interfaces }, prefixes, contradictions, badTlvs };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NONE: readonly PrefixEntry[] = [];

export const isFlagged = (entry: PlainEntry | PrefixEntry): entry is PrefixEntry => entry.pnc;

/** `0000.0000.0001.00` of the 7 bytes at `offset`: the first 17 characters of an LSP ID's text (the 8th byte is some byte of the TLV). */
const nodeAt = (bytes: Uint8Array, offset: number): string => lspIdTextAt(bytes, offset).slice(0, 17);

function note(tlv: IsisTlv, info: { hostname?: string; routerIds: Writable<NodeAddresses>; interfaces: Writable<NodeAddresses> }): void {
  const { routerIds, interfaces } = info;
  if (tlv.kind === 'hostname') info.hostname ??= tlv.name;
  else if (tlv.kind === 'ipv4-te-router-id' && isUnicastHost(tlv.address)) routerIds.v4 ??= tlv.address;
  else if (tlv.kind === 'ipv6-te-router-id' && isUnicastHost(tlv.address)) routerIds.v6 ??= tlv.address;
  else if (tlv.kind === 'ipv4-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v4 ??= usable;
  } else if (tlv.kind === 'ipv6-interface-addresses') {
    const usable = tlv.addresses.find(isUnicastHost);
    if (usable) interfaces.v6 ??= usable;
  }
}

/** One entry a prefix and proxy: a prefix that is flagged anywhere is flagged, and repetitions count once. */
function distinct(walked: readonly (PlainEntry | PrefixEntry)[]): { prefixes: (PlainEntry | PrefixEntry)[]; contradictions: number } {
  const byKey = new Map<string, (PlainEntry | PrefixEntry)[]>();
  let contradictions = 0;
  for (const entry of walked) {
    const key = prefixKey(entry.prefix);
    const others = byKey.get(key);
    if (!others) byKey.set(key, [entry]);
    else if (merge(others, entry)) contradictions++;
  }
  return { prefixes: byKey.size === walked.length ? [...walked] : [...byKey.values()].flat(), contradictions };
}

/** @returns whether the entries contradict each other */
function merge(entries: (PlainEntry | PrefixEntry)[], entry: PlainEntry | PrefixEntry): boolean {
  const flagged = entries[0]!.pnc;
  if (flagged && !entry.pnc) return true;
  if (!flagged && entry.pnc) {
    entries.splice(0, entries.length, entry);
    return true;
  }
  const sameProxy = (e: PlainEntry | PrefixEntry): boolean => !isFlagged(e) || !isFlagged(entry) || sameSources(e, entry);
  if (!entries.some(sameProxy)) entries.push(entry);
  return false;
}

export const sameOptional = (a: IpAddress | undefined, b: IpAddress | undefined): boolean => a?.value === b?.value && a?.family === b?.family;

const sameSources = (a: PrefixEntry, b: PrefixEntry): boolean => sameOptional(a.source4, b.source4) && sameOptional(a.source6, b.source6);

function flaggedEntry(cursor: PrefixCursor): PrefixEntry {
  const [source4, source6] = [cursorSource4(cursor), cursorSource6(cursor)];
  return {
    prefix: cursorPrefix(cursor),
    metric: cursor.metric,
    down: cursor.down,
    external: cursor.external,
    flags: cursor.bytes.slice(cursor.flagsOffset, cursor.flagsOffset + cursor.flagsLength),
    pnc: true,
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
}

/** Cheaper than text and as unique: what maps of thousands of prefixes are keyed by. */
export const prefixKey = (p: Prefix): string => `${p.address.family}:${p.address.value.toString(32)}/${p.length}`;

/** Where notices for an entry go (decision D6): its own sub-TLVs 12/11, else the node's TLVs 140/134, else 232/132; own family first. */
export function proxyOf(entry: PrefixEntry, routerIds: NodeAddresses, interfaces: NodeAddresses): IpAddress | undefined {
  const own = { ...(entry.source4 && { v4: entry.source4 }), ...(entry.source6 && { v6: entry.source6 }) };
  for (const { v4, v6 } of [own, routerIds, interfaces]) {
    const candidates = entry.prefix.address.family === 4 ? [v4, v6] : [v6, v4];
    const usable = candidates.find((a) => a !== undefined && isUnicastHost(a));
    if (usable) return usable;
  }
  return undefined;
}

export function learnedPrefix(entry: PlainEntry | PrefixEntry, routerIds: NodeAddresses, interfaces: NodeAddresses): LearnedPrefix {
  if (!isFlagged(entry)) return entry;
  const proxy = proxyOf(entry, routerIds, interfaces);
  return { prefix: entry.prefix, pnc: entry.pnc, metric: entry.metric, ...(proxy && { proxy }) };
}

export function sameEdges(a: readonly Edge[], b: readonly Edge[]): boolean {
  return a.length === b.length && a.every((edge, i) => edge.node === b[i]!.node && edge.metric === b[i]!.metric);
}
