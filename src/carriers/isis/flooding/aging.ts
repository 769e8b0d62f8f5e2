// Aging (ISO/IEC 10589 §7.3.16.4): an LSP whose lifetime ends is purged; its header is kept for ZeroAge and then
// forgotten.
import { count } from '../../effects.ts';
import { purgeForeign } from './store.ts';
import { uninstall } from '../lsdb/install.ts';
import type { LevelState, Speaker } from '../state.ts';

const SWEEP_MS = 1000;

/** One pass over the database, at most once a second. */
export function sweep(s: Speaker, level: LevelState): void {
  let next = Infinity;
  for (const lsp of level.lsdb.byKey.values()) {
    if (lsp.expiresAt > s.now) next = Math.min(next, lsp.expiresAt);
    else if (lsp.purged) {
      level.srm.delete(lsp.key);
      uninstall(s, level, lsp);
    } else {
      count(s, 'lsp.expired');
      purgeForeign(s, level, lsp);
      next = Math.min(next, level.lsdb.byKey.get(lsp.key)!.expiresAt);
    }
  }
  level.lsdb.sweepAt = Math.max(next, s.now + SWEEP_MS);
}
