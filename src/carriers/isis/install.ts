// What follows when one version of an LSP replaces another, or leaves: the learned table hears of its prefixes, SIDs
// and router addresses, the graph of its neighbours, the carrying between levels of its flagged prefixes and SIDs. Our
// own LSPs are never reported as learned.
import {
  type LspContent,
  NO_CONTENT,
  type NodeAddresses,
  type PlainEntry,
  type PrefixEntry,
  type ReadLsp,
  isFlagged,
  learnedPrefix,
  proxyOf,
  sameEdges,
  sameOptional,
} from './content.ts';
import type { LearnedPrefix } from '../../model/advertisement.ts';
import { offersChanged } from './carrying.ts';
import { mayExpand, readStored } from './expansion.ts';
import { type StoredLsp, costOf, fragmentsOf, put, remove } from './lsdb.ts';
import { forgetEdges, graphChanged } from './reachability.ts';
import type { LevelState, Speaker } from './speaker.ts';

/** Files an LSP. @param read what it says; it is expanded if it may be */
export function install(s: Speaker, level: LevelState, lsp: StoredLsp, read?: ReadLsp): void {
  const { lsdb } = level;
  const before = lsdb.byKey.get(lsp.key);
  if (read && mayExpand(s, level, lsp, (before ? costOf(before) : 0) - costOf(lsp))) {
    lsp.expanded = true;
    lsp.content = read.content;
  }
  const old = put(lsdb, lsp);
  if (lsp.own) return;
  report(s, level, lsp, lsp.expanded ? read!.prefixes : [], old?.reported ?? false);
  follow(s, level, old, lsp);
}

/** Only the header changed (a refresh): nothing follows. */
export function installRefreshed(level: LevelState, lsp: StoredLsp): void {
  put(level.lsdb, lsp);
}

/** The LSP is gone from the database. */
export function uninstall(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  remove(level.lsdb, lsp);
  if (lsp.own) return;
  if (lsp.reported) emit(s, level, lsp, [], NO_CONTENT);
  follow(s, level, lsp, undefined);
}

function follow(s: Speaker, level: LevelState, old: StoredLsp | undefined, next: StoredLsp | undefined): void {
  const before = old?.purged ? undefined : old;
  const after = next?.purged ? undefined : next;
  const edgesChanged = !sameEdges(before?.content.edges ?? [], after?.content.edges ?? []);
  if (edgesChanged || !before !== !after || before?.content.overload !== after?.content.overload) {
    forgetEdges(level, (next ?? old)!.node);
    graphChanged(s, level);
  }
  offersChanged(s, level, before, after);
  if (addressesChanged(before, after)) reportSiblings(s, level, (next ?? old)!);
}

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
function reportSiblings(s: Speaker, level: LevelState, changed: StoredLsp): void {
  for (const lsp of fragmentsOf(level.lsdb, changed.node)) {
    if (lsp.key === changed.key || !lsp.content.needsAddress || !lsp.expanded) continue;
    report(s, level, lsp, readStored(s, lsp)?.prefixes ?? [], lsp.reported);
    offersChanged(s, level, lsp, lsp);
  }
}

/** Tells the learned table what an LSP says if it is expanded, and that it says nothing if it is not. */
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
  if (lsp.reported || reportedBefore) emit(s, level, lsp, prefixes, content);
}

function emit(
  s: Speaker,
  level: LevelState,
  lsp: StoredLsp,
  prefixes: readonly (PlainEntry | PrefixEntry)[],
  content: LspContent,
): void {
  const tag = `L${level.level}`;
  const { v4, v6 } = content.routerIds;
  s.effects.push({
    type: 'learned',
    report: {
      carrier: 'isis',
      source: `${tag} ${lsp.key}`,
      originator: `${tag} ${lsp.system}`,
      prefixes: learnedPrefixes(level, lsp, prefixes),
      sids: content.sids.map(({ sid, behavior }) => ({ sid, behavior })),
      routerAddresses: [...(v4 ? [v4] : []), ...(v6 ? [v6] : [])],
    },
  });
}

function learnedPrefixes(
  level: LevelState,
  lsp: StoredLsp,
  prefixes: readonly (PlainEntry | PrefixEntry)[],
): LearnedPrefix[] {
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
