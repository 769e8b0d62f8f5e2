// What an LSP says, as far as the speaker cares: neighbours for the graph, prefixes and SIDs for the learned table,
// addresses for the proxy fallback (decisions D5, D6), overload bit and hostname. Only prefixes with the P-flag are
// kept; the others are reported once and read again from the raw LSP when needed, so that a large database stays small.
import { type Family, type IpAddress, isUnicastHost } from '../../model/address.ts';
import type { LearnedPrefix } from '../../model/advertisement.ts';
import { type Prefix, comparePrefixes, prefixKey, senderlessUse } from '../../model/prefix.ts';
import type { DecodeError } from '../../packet/decode.ts';
import { sameRange } from '../../packet/bytes.ts';
import { lspIdTextAt } from '../../packet/isis/lsp-id.ts';
import { LSP_HEADER_LENGTH } from '../../packet/isis/pdu-format.ts';
import { decodeTlv } from '../../packet/isis/tlvs.ts';
import type { BadTlv, IsisTlv, Lsp, Received } from '../../packet/isis/types.ts';
import {
  type PrefixCursor,
  cursorFlag,
  cursorPrefix,
  cursorSource4,
  cursorSource6,
  forEachNeighbor,
  forEachPrefix,
} from '../../packet/isis/walk.ts';
import { FOREIGN_TOPOLOGIES } from './constants.ts';
import { type SidEntry, readSids } from './sids.ts';

export interface Edge {
  /** `0000.0000.0001.00`. */
  readonly node: string;
  readonly metric: number;
}

/** What prefixes and locators say about themselves alike; carrying between levels looks at it. */
export interface EntryAttributes {
  readonly metric: number;
  /** The up/down bit of prefixes, the D bit of locators. */
  readonly down: boolean;
  /** Sub-TLV 4, empty when absent. */
  readonly flags: Uint8Array;
  /** Sub-TLVs 11 and 12. */
  readonly source4?: IpAddress | undefined;
  readonly source6?: IpAddress | undefined;
}

/** One prefix entry of TLV 135, 235, 236 or 237. */
export interface PrefixEntry extends EntryAttributes {
  readonly prefix: Prefix;
  readonly external: boolean;
  readonly pnc: boolean;
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
  /** Kept by who carries them to another level. */
  readonly flagged: readonly PrefixEntry[];
  /** How many there are, kept or not. */
  readonly flaggedCount: number;
  /** Whether one of them names no proxy itself. */
  readonly needsAddress: boolean;
  /** End SIDs of the behaviours that are asked for. */
  readonly sids: readonly SidEntry[];
  readonly routerIds: NodeAddresses;
  readonly interfaces: NodeAddresses;
}

export const NO_CONTENT: LspContent = {
  overload: false,
  hostname: undefined,
  edges: [],
  flagged: [],
  flaggedCount: 0,
  needsAddress: false,
  sids: [],
  routerIds: {},
  interfaces: {},
};

/** Without what is read only of expanded LSPs (expansion.ts). */
export const bare = (content: LspContent): LspContent =>
  content.flagged.length + content.sids.length > 0 ? { ...content, flagged: NONE, sids: NONE } : content;

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

/** Code points that decide what is read. */
export interface ReadOptions {
  /** Bit of the Prefix Attribute Flags that is the P-flag. */
  readonly pncFlagBit: number;
  /** Endpoint behaviours of the End SIDs to keep. */
  readonly sidBehaviors: readonly number[];
}

/**
 * @param keepFlagged whether the content is to have them too, beside `prefixes`: of a large database they are the
 * largest part
 */
export function readLsp(lsp: Lsp & Received, { pncFlagBit, sidBehaviors }: ReadOptions, keepFlagged: boolean): ReadLsp {
  if (lsp.unusable)
    return {
      content: { ...NO_CONTENT, overload: lsp.overload },
      prefixes: NONE,
      contradictions: 0,
      badTlvs: [{ error: lsp.unusable }],
    };
  const { raw } = lsp;
  const badTlvs: Pick<BadTlv, 'subType' | 'error'>[] = [];
  const report = (subType: number, error: DecodeError): void => void badTlvs.push({ subType, error });
  const info: NodeInfo = { sids: new Map(), routerIds: {}, interfaces: {} };
  for (let at = LSP_HEADER_LENGTH; at < raw.length; at += 2 + raw[at + 1]!) {
    if (WALKED.has(raw[at]!)) continue;
    const tlv = decodeTlv(raw[at]!, raw.subarray(at + 2, at + 2 + raw[at + 1]!), report);
    if (!tlv.ok) badTlvs.push({ error: tlv.error });
    else if (tlv.value.kind === 'srv6-locator') readSids(tlv.value, sidBehaviors, info.sids, report);
    else note(tlv.value, info);
  }
  const edges: Edge[] = [];
  const badNeighbors = forEachNeighbor(raw, (bytes, offset, metric) =>
    edges.push({ node: nodeAt(bytes, offset), metric }),
  );
  const walked: (PlainEntry | PrefixEntry)[] = [];
  let flags = 0;
  const flaggedEntry = flaggedEntries();
  const badPrefixes = forEachPrefix(raw, (cursor) => {
    if (FOREIGN_TOPOLOGIES.has(cursor.mtId)) return;
    const pnc = cursorFlag(cursor, pncFlagBit);
    if (pnc) {
      flags++;
      walked.push(flaggedEntry(cursor));
    } else walked.push({ prefix: cursorPrefix(cursor), metric: cursor.metric, pnc });
  });
  const { prefixes, contradictions } = flags > 0 ? distinct(walked) : { prefixes: walked, contradictions: 0 };
  const flagged = flags > 0 ? prefixes.filter(isFlagged) : NONE;
  const needsAddress = flagged.some((p) => !p.source4 && !p.source6);
  // Something is wrong with a TLV that was walked, or a proxy is missing: the full decoder says what.
  if (badNeighbors + badPrefixes > 0 || needsAddress) badTlvs.push(...lsp.badTlvs);
  const { hostname, routerIds, interfaces } = info;
  const sids = info.sids.size > 0 ? [...info.sids.values()] : NONE;
  const content = {
    overload: lsp.overload,
    hostname,
    edges,
    flagged: keepFlagged ? flagged.filter(hasSenders) : NONE,
    flaggedCount: flagged.length,
    needsAddress,
    sids,
    routerIds,
    interfaces,
  };
  return { content, prefixes, contradictions, badTlvs };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface NodeInfo {
  hostname?: string;
  readonly sids: Map<string, SidEntry>;
  readonly routerIds: Writable<NodeAddresses>;
  readonly interfaces: Writable<NodeAddresses>;
}

const NONE: readonly never[] = [];

/** What no sender is in is not carried on either; the learned table counts it by name. */
const hasSenders = ({ prefix }: PrefixEntry): boolean => senderlessUse(prefix) === undefined;

export const isFlagged = (entry: PlainEntry | PrefixEntry): entry is PrefixEntry => entry.pnc;

/**
 * `0000.0000.0001.00` of the 7 bytes at `offset`: the first 17 characters of an LSP ID's text (the 8th byte is some
 * byte of the TLV).
 */
const nodeAt = (bytes: Uint8Array, offset: number): string => lspIdTextAt(bytes, offset).slice(0, 17);

function note(tlv: IsisTlv, info: NodeInfo): void {
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
function distinct(walked: readonly (PlainEntry | PrefixEntry)[]): {
  prefixes: readonly (PlainEntry | PrefixEntry)[];
  contradictions: number;
} {
  if (walked.every((entry, i) => i === 0 || comparePrefixes(walked[i - 1]!.prefix, entry.prefix) < 0))
    return { prefixes: walked, contradictions: 0 };
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
  const sameProxy = (e: PlainEntry | PrefixEntry): boolean =>
    !isFlagged(e) || !isFlagged(entry) || sameSources(e, entry);
  if (!entries.some(sameProxy)) entries.push(entry);
  return false;
}

export const sameOptional = (a: IpAddress | undefined, b: IpAddress | undefined): boolean =>
  a?.value === b?.value && a?.family === b?.family;

const sameSources = (a: PrefixEntry, b: PrefixEntry): boolean =>
  sameOptional(a.source4, b.source4) && sameOptional(a.source6, b.source6);

/**
 * Reads the flagged entries of one LSP, one after another. What an entry says like the one before is kept once for
 * both, since the prefixes of an LSP mostly have one proxy.
 */
function flaggedEntries(): (cursor: PrefixCursor) => PrefixEntry {
  let latest: PrefixEntry | undefined;
  let flagsAt = -1;
  let source4At = -1;
  let source6At = -1;
  return (cursor) => {
    const { bytes, metric, down, external, flagsOffset, flagsLength, source4Offset, source6Offset } = cursor;
    const flags =
      latest && latest.flags.length === flagsLength && sameRange(bytes, flagsAt, flagsOffset, flagsLength)
        ? latest.flags
        : bytes.slice(flagsOffset, flagsOffset + flagsLength);
    const source4 = latest && sameRange(bytes, source4At, source4Offset, 4) ? latest.source4 : cursorSource4(cursor);
    const source6 = latest && sameRange(bytes, source6At, source6Offset, 16) ? latest.source6 : cursorSource6(cursor);
    flagsAt = flagsOffset;
    source4At = source4Offset;
    source6At = source6Offset;
    return (latest = { prefix: cursorPrefix(cursor), metric, down, external, flags, pnc: true, source4, source6 });
  };
}

/**
 * Where notices for an entry go (decision D6): its own sub-TLVs 12/11, else the node's TLVs 140/134, else 232/132; own
 * family first. An entry that names what can be no proxy has none: the learned table counts it by name.
 */
export function proxyOf(
  entry: PrefixEntry,
  routerIds: NodeAddresses,
  interfaces: NodeAddresses,
): IpAddress | undefined {
  const { family } = entry.prefix.address;
  return (
    usable(family, entry.source4, entry.source6) ??
    entry.source6 ??
    entry.source4 ??
    usable(family, routerIds.v4, routerIds.v6) ??
    usable(family, interfaces.v4, interfaces.v6)
  );
}

function usable(family: Family, v4: IpAddress | undefined, v6: IpAddress | undefined): IpAddress | undefined {
  const first = family === 4 ? v4 : v6;
  const second = family === 4 ? v6 : v4;
  if (first && isUnicastHost(first)) return first;
  return second && isUnicastHost(second) ? second : undefined;
}

export function learnedPrefix(
  entry: PlainEntry | PrefixEntry,
  routerIds: NodeAddresses,
  interfaces: NodeAddresses,
): LearnedPrefix {
  if (!isFlagged(entry)) return entry;
  return { prefix: entry.prefix, pnc: entry.pnc, metric: entry.metric, proxy: proxyOf(entry, routerIds, interfaces) };
}

export function sameEdges(a: readonly Edge[], b: readonly Edge[]): boolean {
  return a.length === b.length && a.every((edge, i) => edge.node === b[i]!.node && edge.metric === b[i]!.metric);
}
