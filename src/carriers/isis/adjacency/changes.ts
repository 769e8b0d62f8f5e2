// Changes of the adjacency, and what a level does when it begins or ceases to be served (ISO/IEC 10589 §7.3.17): send a
// set of CSNPs and everything that the neighbour does not turn out to have; forget what was owed to it.
import { type Adjacency, activeLevels } from './adjacency.ts';
import { log } from '../../effects.ts';
import { SYNC_GRACE_MS } from '../constants.ts';
import { setSrm } from '../flooding/flags.ts';
import { markDirty } from '../own/own.ts';
import { graphChanged } from '../lsdb/reachability.ts';
import { FIRST_LSP_ID, lspIdBytes } from '../../../packet/isis/lsp-id.ts';
import type { LevelState, Speaker } from '../state.ts';

function levelUp(s: Speaker, level: LevelState): void {
  level.csnpFrom = lspIdBytes(FIRST_LSP_ID);
  level.csnpAt = s.now;
  // Our own LSP goes at once. Of the rest the neighbour's CSNP will say what it has; if that is lost, everything is
  // sent.
  for (const lsp of level.lsdb.byKey.values())
    if (!lsp.odd) setSrm(level, lsp.key, lsp.own ? s.now : s.now + SYNC_GRACE_MS);
  markDirty(level.own, 0, s.now);
  graphChanged(s, level);
}

function levelDown(s: Speaker, level: LevelState): void {
  level.srm.clear();
  level.acks.clear();
  level.requests.clear();
  level.doubts.clear();
  level.floodAt = level.ackAt = level.requestAt = level.csnpAt = Infinity;
  level.csnpFrom = undefined;
  markDirty(level.own, 0, s.now);
  graphChanged(s, level);
}

/**
 * Puts `next` in place and brings each level up or down that it changes. Another system takes the place only of an
 * adjacency that is down (interface.ts).
 */
export function changeAdjacency(s: Speaker, next: Adjacency): void {
  const previous = s.adjacency;
  const before = activeLevels(s);
  s.adjacency = next;
  const after = activeLevels(s);
  for (const level of before) if (!after.includes(level)) levelDown(s, s.levels.get(level)!);
  for (const level of after) if (!before.includes(level)) levelUp(s, s.levels.get(level)!);
  if (previous?.state === next.state && previous.system === next.system) return;
  const fields = {
    neighbor: next.system,
    from: previous?.state ?? 'none',
    to: next.state,
    levels: next.levels,
    reason: next.reason,
  };
  log(s, 'info', fields, `IS-IS adjacency ${next.state}: ${next.reason}`);
}

/** Down, for a reason that no hello gave. The entry stays, so that the reason can be shown. */
export function dropAdjacency(s: Speaker, reason: string): void {
  if (!s.adjacency || s.adjacency.state === 'down') return;
  changeAdjacency(s, { ...s.adjacency, state: 'down', holdUntil: Infinity, since: s.now, reason });
}
