// Stores and removes LSPs. Each change is reported to the learned table with the LSP's prefixes, SIDs and router
// addresses, and then to the subscribers (subscribers.ts). Our own LSPs are never reported as learned.
import type { LevelState, Speaker } from '../state.ts';
import type { ReadLsp } from './content.ts';
import { mayExpand } from './expansion.ts';
import { report, reportGone } from './learning.ts';
import { type StoredLsp, costOf, put, remove } from './lsdb.ts';

/** Stores an LSP. @param read its content; the LSP is expanded if that is permitted */
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

/** Only the header changed (a refresh): nothing is reported. */
export function installRefreshed(level: LevelState, lsp: StoredLsp): void {
  put(level.lsdb, lsp);
}

/** Removes an LSP from the database. */
export function uninstall(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  remove(level.lsdb, lsp);
  if (lsp.own) return;
  reportGone(s, level, lsp);
  changed(s, level, lsp, undefined);
}

/** A purge has no content: subscribers see it as an absent LSP. */
function changed(s: Speaker, level: LevelState, old: StoredLsp | undefined, next: StoredLsp | undefined): void {
  const before = old?.purged ? undefined : old;
  const after = next?.purged ? undefined : next;
  if (before ?? after) for (const notify of s.subscribers.lspChanged) notify(s, level, before, after);
}
