// Changes of the adjacency, and the actions of a level that comes up or goes down (ISO/IEC 10589 §7.3.17). A level that
// comes up sends a set of CSNPs and every LSP that the neighbor lacks. A level that goes down discards everything still
// to be sent to the neighbor.
import { type Adjacency, activeLevels } from './adjacency.ts';
import { logAdjacency } from '../../effects.ts';
import { SYNC_GRACE_MS } from '../constants.ts';
import { setSrm } from '../flooding/flags.ts';
import { markDirty } from '../own/own.ts';
import { graphChanged } from '../lsdb/reachability.ts';
import { FIRST_LSP_ID, lspIdBytes } from '../../../packet/isis/lsp-id.ts';
import type { LevelState, Speaker } from '../state.ts';

function levelUp(s: Speaker, level: LevelState): void {
  level.csnpFrom = lspIdBytes(FIRST_LSP_ID);
  level.csnpAt = s.now;
  // Our own LSP is sent at once. The neighbor's CSNP lists which others it has; if it is lost, all are sent.
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
 * Replaces the adjacency by `next`, and brings the affected levels up or down. Another system replaces only an
 * adjacency that is down (interface.ts).
 */
export function changeAdjacency(s: Speaker, next: Adjacency): void {
  const previous = s.adjacency;
  const before = activeLevels(s);
  s.adjacency = next;
  if (previous?.state === 'up') s.lastUp = s.now;
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
  const change = {
    wasUp: previous?.state === 'up',
    isUp: next.state === 'up',
    isStopping: s.stopping !== undefined,
  };
  // As its event says: what is no longer up is down, also where the next one begins already.
  const state = change.wasUp && !change.isUp ? 'down' : next.state;
  logAdjacency(s, change, fields, `IS-IS adjacency ${state}: ${next.reason}`);
}

/** Takes the adjacency down for a reason other than a hello. The entry stays, so that the reason can be shown. */
export function dropAdjacency(s: Speaker, reason: string): void {
  if (!s.adjacency || s.adjacency.state === 'down') return;
  changeAdjacency(s, { ...s.adjacency, state: 'down', holdUntil: Infinity, since: s.now, reason });
}
