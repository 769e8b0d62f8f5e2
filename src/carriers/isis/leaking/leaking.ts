// Leaking between levels (RFC 5302, RFC 9352 §7.1; for sender prefixes PNC-5.1-c). FRR does not leak these, so an agent
// of both levels originates in one level what it learned in the other. The kind (kinds/) defines the copy and when none
// may be made. Three rules prevent loops. An entry leaked down is never leaked up. An entry that the target level has
// from an originator of its own is not leaked there. Of several agents that could leak an entry the one with the lowest
// system ID does, so that two never react to each other's copies.
import { count } from '../../effects.ts';
import type { Candidate, ReadEntry } from '../kinds/kind.ts';
import { isAlive } from '../lsdb/graph.ts';
import { nodeLookup } from '../lsdb/learning.ts';
import type { StoredLsp } from '../lsdb/lsdb.ts';
import { setEntry } from '../own/origination.ts';
import type { LevelState, Speaker } from '../state.ts';

interface Offered extends Candidate<ReadEntry> {
  readonly lsp: StoredLsp;
}

/** Decides a batch of entries in both directions. */
export function leakDue(s: Speaker): void {
  const [level1, level2] = [s.levels.get(1)!, s.levels.get(2)!];
  s.leaking.queue.take(s.now, (key) =>
    s.desired.has(key) || s.stopping
      ? Infinity
      : Math.min(decide(s, key, level1, level2), decide(s, key, level2, level1)),
  );
}

/** @returns when to decide again if the entry has not been eligible for long enough; otherwise never */
function decide(s: Speaker, key: string, from: LevelState, to: LevelState): number {
  const best = bestCandidate(s, key, from, to);
  const place = `${from.level}:${key}`;
  if (!best) {
    s.leaking.queue.notEligible(place);
    if (to.own.placement.whereIs.has(key) || to.own.unplaced.has(key)) {
      count(s, 'carry.withdrawn');
      setEntry(s, to, key, undefined);
    }
    return Infinity;
  }
  const settled = s.leaking.queue.eligible(place, s.now);
  if (s.now < settled) return settled;
  if (!to.own.placement.whereIs.has(key)) count(s, 'carry.carried');
  setEntry(s, to, key, s.kinds.leakingOf(best.entry).copy(best, to.level));
  return Infinity;
}

/** The entries with this key that others advertise in a level, from originators that are alive (isAlive). */
function candidates(s: Speaker, level: LevelState, key: string): Offered[] {
  const found: Offered[] = [];
  for (const { lspKey, entry } of s.leaking.offered[level.level].get(key) ?? []) {
    const lsp = level.lsdb.byKey.get(lspKey);
    if (lsp && isAlive(s, level, lsp.system)) found.push({ entry, lsp, node: nodeLookup(level, lsp) });
  }
  return found;
}

/** The entry to leak; undefined when none may be leaked. */
function bestCandidate(s: Speaker, key: string, from: LevelState, to: LevelState): Offered | undefined {
  const rulesOf = ({ entry }: Offered) => s.kinds.leakingOf(entry);
  const eligible = candidates(s, from, key).filter((c) => rulesOf(c).mayLeak(c.entry, from.level));
  if (eligible.length === 0) return undefined;
  // A lost agent no longer leaks, though its copy is held. The next agent takes over while that copy still counts, so
  // that there is no gap.
  const leaksFirst = ({ lsp }: Offered): boolean => lsp.system < s.system && to.graph.reachable.has(lsp.system);
  const known = candidates(s, to, key).some((c) => !rulesOf(c).isCopy(c.entry) || leaksFirst(c));
  return known ? undefined : eligible.reduce((a, b) => (rulesOf(a).compare(a, b) <= 0 ? a : b));
}
