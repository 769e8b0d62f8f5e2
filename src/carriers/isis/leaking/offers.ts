// Flagged prefixes and SIDs of others by their key, and which of them have to be decided about anew (leaking.ts).
import { prefixKey } from '../../../model/prefix.ts';
import type { StoredLsp } from '../lsdb/lsdb.ts';
import type { LevelState, Speaker, SystemsChange } from '../state.ts';
import { type SidEntry, sidKey } from '../kinds/sids.ts';
import type { Leakable } from './state.ts';

export const isSid = (entry: Leakable): entry is SidEntry => 'sid' in entry;

const keyOf = (entry: Leakable): string => (isSid(entry) ? sidKey(entry.sid) : prefixKey(entry.prefix));

/** What an LSP offers to the other level. */
const offersOf = ({ content: { flagged, sids } }: StoredLsp): readonly Leakable[] =>
  sids.length > 0 ? [...flagged, ...sids] : flagged;

const both = (s: Speaker): boolean => s.levels.size === 2;

function mark(s: Speaker, key: string): void {
  s.leaking.queue.mark(key, s.now);
}

/** The flagged prefixes or SIDs of an LSP have changed. */
export function offersChanged(
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
): void {
  if (!both(s)) return;
  const index = s.leaking.offered[level.level];
  for (const entry of before ? offersOf(before) : []) {
    const key = keyOf(entry);
    const rest = index.get(key)?.filter((f) => f.lspKey !== before!.key) ?? [];
    if (rest.length > 0) index.set(key, rest);
    else index.delete(key);
    mark(s, key);
  }
  for (const entry of after ? offersOf(after) : []) {
    const key = keyOf(entry);
    const known = index.get(key);
    if (known) known.push({ lspKey: after!.key, entry });
    else index.set(key, [{ lspKey: after!.key, entry }]);
    mark(s, key);
  }
}

/** These systems have become reachable, unreachable, or forgotten. */
export function originatorsChanged(s: Speaker, level: LevelState, { lost, found, forgotten }: SystemsChange): void {
  if (!both(s)) return;
  for (const system of [...lost, ...found, ...forgotten]) {
    for (const lsp of level.lsdb.nodes.get(`${system}.00`)?.values() ?? []) {
      for (const entry of offersOf(lsp)) mark(s, keyOf(entry));
    }
  }
}

/** The operator no longer declares a prefix or SID, which took precedence over what is leaked. */
export function desiredChanged(s: Speaker, key: string): void {
  if (both(s)) mark(s, key);
}
