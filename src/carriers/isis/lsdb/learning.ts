// What the learned table hears of an LSP: its prefixes, SIDs and router addresses. Our own LSPs are never reported.
import { decodePdu } from '../../../packet/isis/pdu.ts';
import type { LearnedAdvertisement, LearnedOf } from '../../../model/advertisement.ts';
import {
  type NodeAddresses,
  type PlainEntry,
  type PrefixEntry,
  isFlagged,
  learnedPrefix,
  proxyOf,
  sameOptional,
} from '../kinds/entries.ts';
import type { LevelState, Speaker } from '../state.ts';
import { type LspContent, NO_CONTENT, type ReadLsp, readLsp } from './content.ts';
import { type StoredLsp, fragmentsOf } from './lsdb.ts';

function addressesChanged(before: StoredLsp | undefined, after: StoredLsp | undefined): boolean {
  const pairs: [NodeAddresses | undefined, NodeAddresses | undefined][] = [
    [before?.content.routerIds, after?.content.routerIds],
    [before?.content.interfaces, after?.content.interfaces],
  ];
  return pairs.some(([a, b]) => !sameOptional(a?.v4, b?.v4) || !sameOptional(a?.v6, b?.v6));
}

/**
 * Fragments with flagged prefixes that name no proxy themselves fall back on the node's addresses (decision D6), which
 * have changed.
 */
export function siblingsChanged(
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
): void {
  if (!addressesChanged(before, after)) return;
  const changed = (after ?? before)!;
  for (const lsp of fragmentsOf(level.lsdb, changed.node)) {
    if (lsp.key === changed.key || !lsp.content.needsAddress || !lsp.expanded) continue;
    report(s, level, lsp, readStored(s, lsp)?.prefixes ?? [], lsp.reported);
    for (const hear of s.subscribers.entriesChanged) hear(s, level, lsp, lsp);
  }
}

/** Reports what an LSP advertises to the learned table if it is expanded, and nothing if it is not. */
export function report(
  s: Speaker,
  level: LevelState,
  lsp: StoredLsp,
  prefixes: readonly (PlainEntry | PrefixEntry)[],
  reportedBefore: boolean,
): void {
  const content = lsp.expanded ? lsp.content : NO_CONTENT;
  const { sids, routerIds } = content;
  lsp.reported = prefixes.length + sids.length > 0 || (routerIds.v4 ?? routerIds.v6) !== undefined;
  if (lsp.reported || reportedBefore) emitLearned(s, level, lsp, prefixes, content);
}

function emitLearned(
  s: Speaker,
  level: LevelState,
  lsp: StoredLsp,
  prefixes: readonly (PlainEntry | PrefixEntry)[],
  content: LspContent,
): void {
  const tag = `L${level.level}`;
  const advertisements: LearnedAdvertisement[] = learnedPrefixes(level, lsp, prefixes);
  for (const { sid, behavior } of content.sids) advertisements.push({ kind: 'sid', sid, behavior });
  for (const address of [content.routerIds.v4, content.routerIds.v6])
    if (address) advertisements.push({ kind: 'router-address', address });
  s.effects.push({
    type: 'learned',
    report: {
      carrier: 'isis',
      source: `${tag} ${lsp.key}`,
      originator: `${tag} ${lsp.system}`,
      advertisements,
    },
  });
}

function learnedPrefixes(
  level: LevelState,
  lsp: StoredLsp,
  prefixes: readonly (PlainEntry | PrefixEntry)[],
): LearnedOf<'sender-prefix'>[] {
  // Nearly always the entries say it all.
  const alone = prefixes.map((p) => learnedPrefix(p, NO_ADDRESSES, NO_ADDRESSES));
  if (!alone.some(({ pnc, proxy }) => pnc && !proxy)) return alone;
  const { routerIds, interfaces } = nodeAddresses(level, lsp, prefixes);
  return prefixes.map((p) => learnedPrefix(p, routerIds, interfaces));
}

const NO_ADDRESSES: NodeAddresses = {};

/**
 * Addresses that any fragment of the node gives, the lowest fragment first; looked up only when an entry needs them.
 */
export function nodeAddresses(
  level: LevelState,
  lsp: StoredLsp,
  entries: readonly PlainEntry[],
): { routerIds: NodeAddresses; interfaces: NodeAddresses } {
  const routerIds: { -readonly [K in keyof NodeAddresses]: NodeAddresses[K] } = {};
  const interfaces: { -readonly [K in keyof NodeAddresses]: NodeAddresses[K] } = {};
  if (entries.every((p) => !isFlagged(p) || proxyOf(p, routerIds, interfaces))) return { routerIds, interfaces };
  for (const { content } of fragmentsOf(level.lsdb, lsp.node)) {
    for (const [into, from] of [
      [routerIds, content.routerIds],
      [interfaces, content.interfaces],
    ] as const) {
      if (from.v4) into.v4 ??= from.v4;
      if (from.v6) into.v6 ??= from.v6;
    }
  }
  return { routerIds, interfaces };
}

/** Reads a stored LSP again, whose prefixes are not kept. Undefined: it cannot be decoded. */
export function readStored(s: Speaker, lsp: StoredLsp): ReadLsp | undefined {
  const pdu = decodePdu(lsp.raw);
  return pdu.ok && pdu.value.kind === 'lsp' ? readLsp(pdu.value, s.config, s.levels.size > 1) : undefined;
}

/** The LSP is gone. */
export function reportGone(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  if (lsp.reported) emitLearned(s, level, lsp, [], NO_CONTENT);
}
