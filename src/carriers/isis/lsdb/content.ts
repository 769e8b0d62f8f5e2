// What an LSP says, as far as the speaker cares: neighbours for the graph, prefixes and SIDs for the learned table,
// addresses for the proxy fallback (decisions D5, D6), overload bit and hostname. Only prefixes with the P-flag are
// kept; the others are reported once and read again from the raw LSP when needed, so that a large database stays small.
import { type NodeAddresses, type PlainEntry, type PrefixEntry, isFlagged, sameOptional } from '../kinds/entries.ts';
import { isUnicastHost } from '../../../model/address.ts';
import { comparePrefixes, prefixKey, senderlessUse } from '../../../model/prefix.ts';
import type { DecodeError } from '../../../packet/decode.ts';
import { sameRange } from '../../../packet/bytes.ts';
import { lspIdTextAt } from '../../../packet/isis/lsp-id.ts';
import { LSP_HEADER_LENGTH } from '../../../packet/isis/pdu-format.ts';
import { decodeTlv } from '../../../packet/isis/tlvs.ts';
import type { BadTlv, IsisTlv, Lsp, Received } from '../../../packet/isis/types.ts';
import {
  type PrefixCursor,
  cursorFlag,
  cursorPrefix,
  cursorSource4,
  cursorSource6,
  forEachNeighbor,
  forEachPrefix,
} from '../../../packet/isis/walk.ts';
import { FOREIGN_TOPOLOGIES } from '../constants.ts';
import { type SidEntry, readSids } from '../kinds/sids.ts';

export interface Edge {
  /** `0000.0000.0001.00`. */
  readonly node: string;
  readonly metric: number;
}

export interface LspContent {
  readonly overload: boolean;
  readonly hostname: string | undefined;
  readonly edges: readonly Edge[];
  /** Kept by a router that leaks them into another level. */
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

/** What is kept of an LSP that says nothing: of a purge, and of one of our own. */
export const SILENT = { content: NO_CONTENT, entries: 0, expanded: false, odd: false, reported: false };

/** Without what is read only of expanded LSPs (expansion.ts). */
export const bare = (content: LspContent): LspContent =>
  content.flagged.length + content.sids.length > 0 ? { ...content, flagged: NONE, sids: NONE } : content;

export type ReceivedLsp = Lsp & Received;

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
export function readLsp(lsp: ReceivedLsp, { pncFlagBit, sidBehaviors }: ReadOptions, keepFlagged: boolean): ReadLsp {
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
    } else walked.push({ kind: 'sender-prefix', prefix: cursorPrefix(cursor), metric: cursor.metric, pnc });
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

/** A prefix in which no sender can be is not leaked either; the learned table counts it by name. */
const hasSenders = ({ prefix }: PrefixEntry): boolean => senderlessUse(prefix) === undefined;

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
    const prefix = cursorPrefix(cursor);
    return (latest = { kind: 'sender-prefix', prefix, metric, down, external, flags, pnc: true, source4, source6 });
  };
}

export function sameEdges(a: readonly Edge[], b: readonly Edge[]): boolean {
  return a.length === b.length && a.every((edge, i) => edge.node === b[i]!.node && edge.metric === b[i]!.metric);
}
