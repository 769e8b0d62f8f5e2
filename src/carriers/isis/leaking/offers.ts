// The leakable entries of others by key, and which keys must be decided again (leaking.ts).
import type { ReadEntry } from '../kinds/kind.ts';
import type { StoredLsp } from '../lsdb/lsdb.ts';
import type { LevelState, Speaker, SystemsChange } from '../state.ts';

const keyOf = (s: Speaker, entry: ReadEntry): string => s.kinds.leakingOf(entry).keyOf(entry);

const both = (s: Speaker): boolean => s.levels.size === 2;

function mark(s: Speaker, key: string): void {
  s.leaking.queue.mark(key, s.now);
}

/** The leakable entries of an LSP have changed. */
export function offersChanged(
  s: Speaker,
  level: LevelState,
  before: StoredLsp | undefined,
  after: StoredLsp | undefined,
): void {
  if (!both(s)) return;
  const index = s.leaking.offered[level.level];
  for (const entry of before?.content.leakable ?? []) {
    const key = keyOf(s, entry);
    const rest = index.get(key)?.filter((f) => f.lspKey !== before!.key) ?? [];
    if (rest.length > 0) index.set(key, rest);
    else index.delete(key);
    mark(s, key);
  }
  for (const entry of after?.content.leakable ?? []) {
    const key = keyOf(s, entry);
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
    for (const { content } of level.lsdb.nodes.get(`${system}.00`)?.values() ?? []) {
      for (const entry of content.leakable) mark(s, keyOf(s, entry));
    }
  }
}

/** A declaration that took precedence over a leaked entry was withdrawn. */
export function desiredChanged(s: Speaker, key: string): void {
  if (both(s)) mark(s, key);
}
