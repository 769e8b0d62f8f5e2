// Which LSPs are expanded, that is, read completely. The prefixes and SIDs of an LSP take twenty times its own bytes in
// the learned table. So they are kept there only while their originator is reachable or within its hold time, and while
// there is headroom. One limit covers the database and the learned table. LSPs flooded for unreachable systems
// therefore fill only the database. The work after a change of the topology is done in slices, one a turn.
import { warnLimited } from '../../effects.ts';
import {
  ENTRY_COST,
  EXPAND_BATCH,
  LEARNED_SHARE,
  REFUSED_FOR_MS,
  STARVED_BATCH,
  STARVED_RETRY_MS,
} from '../constants.ts';
import { withoutEntries } from './content.ts';
import { readStored, report } from './learning.ts';
import { type Lsdb, type StoredLsp, lspsOf, setExpanded } from './lsdb.ts';
import { isAlive } from './graph.ts';
import type { LevelState, Speaker, SystemsChange } from '../state.ts';

const fits = ({ bytes, byteLimit }: Lsdb, entries: number): boolean =>
  bytes + ENTRY_COST * entries <= byteLimit * LEARNED_SHARE;

/** Whether to expand an LSP that is about to be stored. @param replaced the cost of its predecessor, which is freed */
export function mayExpand(
  s: Speaker,
  level: LevelState,
  { key, system, entries }: Pick<StoredLsp, 'key' | 'system' | 'entries'>,
  replaced: number,
): boolean {
  level.expansion.starved.delete(key);
  if (!isAlive(s, level, system)) return false;
  if (fits({ ...level.lsdb, bytes: level.lsdb.bytes - replaced }, entries)) return true;
  starve(s, level, key);
  return false;
}

function starve(s: Speaker, { level, lsdb, expansion }: LevelState, key: string): void {
  warnLimited(
    s,
    'lsdb.not-expanded',
    { level, lsp: key, bytes: lsdb.bytes },
    'link-state database full: the prefixes of an LSP are not learned',
  );
  expansion.starved.add(key);
  expansion.retryAt = Math.min(expansion.retryAt, s.now + STARVED_RETRY_MS);
}

/** Systems have become reachable, or have been lost for the hold time. */
export function reconsider(_: Speaker, level: LevelState, { found, forgotten }: SystemsChange): void {
  for (const system of [...found, ...forgotten])
    for (const { key } of lspsOf(level.lsdb, system)) level.expansion.outdated.add(key);
}

export const expandAt = ({ expansion }: LevelState): number =>
  expansion.outdated.size > 0 ? -Infinity : expansion.retryAt;

export function expandDue(s: Speaker, level: LevelState): void {
  const { outdated } = level.expansion;
  if (outdated.size === 0) retryStarved(s, level);
  let left = EXPAND_BATCH;
  for (const key of outdated) {
    if (left-- === 0) return;
    outdated.delete(key);
    const lsp = level.lsdb.byKey.get(key);
    if (lsp && !lsp.own && !lsp.purged) decide(s, level, lsp);
  }
}

function decide(s: Speaker, level: LevelState, lsp: StoredLsp): void {
  const { lsdb, expansion } = level;
  expansion.starved.delete(lsp.key);
  const alive = isAlive(s, level, lsp.system);
  if (alive === lsp.expanded) return;
  if (alive && !fits(lsdb, lsp.entries)) return starve(s, level, lsp.key);
  const read = alive ? readStored(s, lsp) : undefined;
  const before = { ...lsp };
  setExpanded(lsdb, lsp, alive, read?.content ?? withoutEntries(lsp.content));
  report(s, level, lsp, read, lsp.reported);
  for (const notify of s.subscribers.entriesChanged) notify(s, level, before, lsp);
}

/** Retries as many LSPs as now have headroom. */
function retryStarved(s: Speaker, level: LevelState): void {
  const { outdated, starved } = level.expansion;
  let left = STARVED_BATCH;
  for (const key of starved) {
    if (left-- === 0) break;
    const lsp = level.lsdb.byKey.get(key);
    if (!lsp || lsp.purged) starved.delete(key);
    else if (fits(level.lsdb, lsp.entries)) outdated.add(key);
  }
  level.expansion.retryAt = starved.size > 0 ? s.now + STARVED_RETRY_MS : Infinity;
}

/** Whether advertisements of others may be missing for lack of headroom. */
export const isFull = ({ lsdb, expansion }: LevelState, now: number): boolean =>
  expansion.starved.size > 0 || now - lsdb.refusedAt < REFUSED_FOR_MS;
