// The prefixes of an LSP, with and without the P-flag, and what their senders understand. They are walked in the
// encoded LSP, since there may be thousands. Values that consecutive entries share are kept once.
import { type Family, type IpAddress, isUnicastHost, sameOptional } from '../../../model/address.ts';
import { type Prefix, comparePrefixes, prefixKey, senderlessUse } from '../../../model/prefix.ts';
import { sameRange } from '../../../packet/bytes.ts';
import type { Lsp, Received } from '../../../packet/isis/types.ts';
import {
  type PrefixCursor,
  cursorFlag,
  cursorPrefix,
  cursorSource4,
  cursorSource6,
  forEachPrefix,
} from '../../../packet/isis/walk.ts';
import { type Supports, supportsReader } from '../../supports.ts';
import { FOREIGN_TOPOLOGIES } from '../constants.ts';
import type { EntryAttributes, NodeAddresses } from './attributes.ts';
import type { Found, KindOptions, LspAddresses, Reader } from './kind.ts';

/** One prefix entry of TLV 135, 235, 236 or 237. */
export interface PrefixEntry extends EntryAttributes {
  readonly kind: 'sender-prefix';
  readonly prefix: Prefix;
  readonly external: boolean;
  readonly pnc: boolean;
  readonly supports?: Supports | undefined;
}

/** A prefix with neither the P-flag nor anything about its senders needs only these fields. */
export type PlainEntry = Pick<PrefixEntry, 'kind' | 'prefix' | 'metric' | 'pnc'>;
export type ReadPrefix = PlainEntry | PrefixEntry;

export const WALKED_TLVS: readonly number[] = [135, 235, 236, 237];

export const isFull = (entry: ReadPrefix): entry is PrefixEntry => 'flags' in entry;
const isFlagged = (entry: ReadPrefix): entry is PrefixEntry => entry.pnc;

export const reader = ({ raw }: Lsp & Received, { codePoints }: KindOptions): Reader<ReadPrefix> => ({
  tlv: () => {},
  end: (_node, keepLeakable) => read(raw, codePoints, keepLeakable),
});

function read(raw: Uint8Array, codePoints: KindOptions['codePoints'], keepLeakable: boolean): Found<ReadPrefix> {
  const walked: ReadPrefix[] = [];
  const { 'isis-pnc-flag-bit': pncFlagBit, 'isis-supports-sub-tlv': type } = codePoints;
  let ignored = 0;
  const supportsAt = supportsReader(type, () => ignored++);
  const fullEntry = fullEntries();
  const bad = forEachPrefix(
    raw,
    (cursor) => {
      if (FOREIGN_TOPOLOGIES.has(cursor.mtId)) return;
      const pnc = cursorFlag(cursor, pncFlagBit);
      const supports = supportsAt(raw, cursor.wantedOffset, cursor.wantedLength);
      if (pnc || supports) walked.push(fullEntry(cursor, pnc, supports));
      else walked.push({ kind: 'sender-prefix', prefix: cursorPrefix(cursor), metric: cursor.metric, pnc });
    },
    type,
  );
  const isPlain = !walked.some(isFull);
  const { prefixes, contradictions } = isPlain ? { prefixes: walked, contradictions: 0 } : distinct(walked);
  const full = isPlain ? NONE : prefixes.filter(isFull);
  const flagged = full.filter(isFlagged);
  const needsAddress = flagged.some((p) => !p.source4 && !p.source6);
  return {
    entries: prefixes,
    leakable: keepLeakable ? full.filter(hasSenders) : NONE,
    cost: prefixes.length,
    proxyPrefixes: flagged.length,
    needsAddress,
    // An entry without a proxy may have had a malformed one.
    faulty: bad > 0 || needsAddress,
    warnings: [
      ...(contradictions > 0 ? [{ ...CONTRADICTION, times: contradictions }] : []),
      ...(ignored > 0 ? [{ ...BAD_SUPPORTS, times: ignored }] : []),
    ],
  };
}

const NONE: readonly never[] = [];

const CONTRADICTION = {
  counter: 'lsp.contradictory-prefix',
  message: 'an LSP lists a prefix both with and without the P-flag',
};

const BAD_SUPPORTS = {
  counter: 'lsp.bad-supports',
  message: 'an LSP says of senders what they understand, in a way that this version does not',
};

/** A prefix that contains no senders is not leaked; the learned table counts it by name. */
const hasSenders = ({ prefix }: PrefixEntry): boolean => senderlessUse(prefix) === undefined;

/** One entry per prefix and proxy. A prefix flagged anywhere is flagged; repetitions count once. */
function distinct(walked: readonly ReadPrefix[]): { prefixes: readonly ReadPrefix[]; contradictions: number } {
  if (walked.every((entry, i) => i === 0 || comparePrefixes(walked[i - 1]!.prefix, entry.prefix) < 0))
    return { prefixes: walked, contradictions: 0 };
  const byKey = new Map<string, ReadPrefix[]>();
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
function merge(entries: ReadPrefix[], entry: ReadPrefix): boolean {
  const flagged = entries[0]!.pnc;
  if (flagged && !entry.pnc) return true;
  if (!flagged && entry.pnc) {
    entries.splice(0, entries.length, entry);
    return true;
  }
  const sameProxy = (e: ReadPrefix): boolean => !isFlagged(e) || !isFlagged(entry) || sameSources(e, entry);
  if (!entries.some(sameProxy)) entries.push(entry);
  return false;
}

const sameSources = (a: PrefixEntry, b: PrefixEntry): boolean =>
  sameOptional(a.source4, b.source4) && sameOptional(a.source6, b.source6);

/**
 * Reads the entries of one LSP of which more than the prefix is kept, in order. Values equal to those of the entry
 * before are shared, since the prefixes of an LSP mostly have one proxy.
 */
function fullEntries(): (cursor: PrefixCursor, pnc: boolean, supports: Supports | undefined) => PrefixEntry {
  let latest: PrefixEntry | undefined;
  let flagsAt = -1;
  let source4At = -1;
  let source6At = -1;
  return (cursor, pnc, supports) => {
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
    const entry: PrefixEntry = { kind: 'sender-prefix', prefix, metric, down, external, flags, pnc, source4, source6 };
    return (latest = supports ? { ...entry, supports } : entry);
  };
}

/**
 * The proxy for an entry (decision D6): its sub-TLVs 12/11, else the node's TLVs 140/134, else 232/132; the prefix's
 * own family first. If an entry names an address that cannot be a proxy, that address is returned, and the learned
 * table counts it by name.
 */
export function proxyOf(
  { prefix, source4, source6 }: PrefixEntry,
  { routerIds, interfaces }: LspAddresses,
): IpAddress | undefined {
  const { family } = prefix.address;
  return (
    usable(family, source4, source6) ?? source6 ?? source4 ?? ofNode(family, routerIds) ?? ofNode(family, interfaces)
  );
}

const ofNode = (family: Family, { v4, v6 }: NodeAddresses): IpAddress | undefined => usable(family, v4, v6);

function usable(family: Family, v4: IpAddress | undefined, v6: IpAddress | undefined): IpAddress | undefined {
  const first = family === 4 ? v4 : v6;
  const second = family === 4 ? v6 : v4;
  if (first && isUnicastHost(first)) return first;
  return second && isUnicastHost(second) ? second : undefined;
}
