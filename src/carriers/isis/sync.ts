// What a level does when the adjacency begins or ceases to serve it (ISO/IEC 10589 §7.3.17): send a set of CSNPs and
// everything that the neighbour does not turn out to have; forget what was owed to it.
import { SYNC_GRACE_MS } from './constants.ts';
import { setSrm } from './flooding.ts';
import { markDirty } from './own.ts';
import { graphChanged } from './reachability.ts';
import { FIRST_LSP_ID, lspIdBytes } from '../../packet/isis/lsp-id.ts';
import type { LevelState, Speaker } from './speaker.ts';

export function levelUp(s: Speaker, level: LevelState): void {
  level.csnpFrom = lspIdBytes(FIRST_LSP_ID);
  level.csnpAt = s.now;
  // Our own LSP goes at once. Of the rest the neighbour's CSNP will say what it has; if that is lost, everything is
  // sent.
  for (const lsp of level.lsdb.byKey.values())
    if (!lsp.odd) setSrm(level, lsp.key, lsp.own ? s.now : s.now + SYNC_GRACE_MS);
  markDirty(level.own, 0, s.now);
  graphChanged(s, level);
}

export function levelDown(s: Speaker, level: LevelState): void {
  level.srm.clear();
  level.acks.clear();
  level.requests.clear();
  level.doubts.clear();
  level.floodAt = level.ackAt = level.requestAt = level.csnpAt = Infinity;
  level.csnpFrom = undefined;
  markDirty(level.own, 0, s.now);
  graphChanged(s, level);
}
