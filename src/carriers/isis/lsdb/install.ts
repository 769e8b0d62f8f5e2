// LSPs filed and removed, and who hears of it: the learned table of their prefixes, SIDs and router addresses, then the
// subscribers of changes (subscribers.ts). Our own LSPs are never reported as learned.
import type { LevelState, Speaker } from '../state.ts';
import type { ReadLsp } from './content.ts';
import { mayExpand } from './expansion.ts';
import { report, reportGone } from './learning.ts';
import { type StoredLsp, costOf, put, remove } from './lsdb.ts';

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
  report(s, level, lsp, lsp.expanded ? read : undefined, old?.reported ?? false);
  changed(s, level, old, lsp);
}

/** Only the header changed (a refresh): nothing follows. */
export function installRefreshed(level: LevelState, lsp: StoredLsp): void {
  put(level.lsdb, lsp);
}

/** The LSP is gone from the database. */
export function uninstall(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  remove(level.lsdb, lsp);
  if (lsp.own) return;
  reportGone(s, level, lsp);
  changed(s, level, lsp, undefined);
}

/** A purge says nothing: it is as if there were none. */
function changed(s: Speaker, level: LevelState, old: StoredLsp | undefined, next: StoredLsp | undefined): void {
  const before = old?.purged ? undefined : old;
  const after = next?.purged ? undefined : next;
  if (before ?? after) for (const hear of s.subscribers.lspChanged) hear(s, level, before, after);
}
