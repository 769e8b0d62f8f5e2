// Leaking the PNC between levels (PNC-5.1-c: it "MUST be preserved when a router propagates a prefix between ISIS
// levels"; RFC 5302), and SIDs (RFC 9352 §7.1). FRR propagates nothing here, so an agent of both levels originates in
// the one level what it learned in the other: same flags, R flag set, same proxy address, up/down bit (of locators: D
// bit) on the way down. A prefix without the P-flag is not leaked, so a clear flag stays clear. No loops: what has the
// up/down bit never goes up; what the target level knows from its own originator does not enter it; and of several
// agents that could leak a prefix the one with the lowest system ID does, so that two never answer each other's
// copies.
import { count } from '../../effects.ts';
import { type IpAddress, compareAddresses } from '../../../model/address.ts';
import { hasFlag, withFlag } from '../../../packet/bit-string.ts';
import { ATTRIBUTE_BIT } from '../../../packet/isis/attribute-flags.ts';
import { proxyOf } from '../kinds/entries.ts';
import { nodeAddresses } from '../lsdb/learning.ts';
import type { StoredLsp } from '../lsdb/lsdb.ts';
import { setEntry } from '../own/origination.ts';
import type { Originated } from '../own/placement.ts';
import { isAlive } from '../lsdb/graph.ts';
import type { LevelState, Speaker } from '../state.ts';
import { isSid } from './offers.ts';
import type { Leakable } from './state.ts';

interface Candidate {
  readonly entry: Leakable;
  readonly lsp: StoredLsp;
}

/** Decides about a batch of prefixes and SIDs in both directions. */
export function leakDue(s: Speaker): void {
  const [level1, level2] = [s.levels.get(1)!, s.levels.get(2)!];
  s.leaking.queue.take(s.now, (key) =>
    s.desired.has(key) || s.stopping
      ? Infinity
      : Math.min(decide(s, key, level1, level2), decide(s, key, level2, level1)),
  );
}

/** @returns when to decide again, if it is eligible but has not been so for long enough; else never */
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
  const ripe = s.leaking.queue.eligible(place, s.now);
  if (s.now < ripe) return ripe;
  if (!to.own.placement.whereIs.has(key)) count(s, 'carry.carried');
  setEntry(s, to, key, leaked(key, best, from, to));
  return Infinity;
}

/**
 * The advertisements of a flagged prefix or a SID in a level that are not ours and whose originator is there, or was
 * until a short while ago.
 */
function candidates(s: Speaker, level: LevelState, key: string): Candidate[] {
  const found: Candidate[] = [];
  for (const { lspKey, entry } of s.leaking.offered[level.level].get(key) ?? []) {
    const lsp = level.lsdb.byKey.get(lspKey);
    if (lsp && isAlive(s, level, lsp.system)) found.push({ entry, lsp });
  }
  return found;
}

const isCopy = ({ entry }: Candidate): boolean => entry.down || hasFlag(entry.flags, ATTRIBUTE_BIT.readvertised);

/**
 * What to leak: the lowest metric, then the lowest proxy address (decision D7). Undefined when nothing may be leaked.
 */
function bestCandidate(s: Speaker, key: string, from: LevelState, to: LevelState): Candidate | undefined {
  const eligible = candidates(s, from, key).filter((c) => from.level === 2 || !c.entry.down);
  if (eligible.length === 0) return undefined;
  // A lost agent leaks no longer, though its copy is held: the next agent takes over while the copy still counts, so
  // that there is no gap.
  const leaksFirst = ({ lsp }: Candidate): boolean => lsp.system < s.system && to.graph.reachable.has(lsp.system);
  const known = candidates(s, to, key).some((c) => !isCopy(c) || leaksFirst(c));
  return known ? undefined : eligible.reduce((a, b) => (preferred(from, a, b) <= 0 ? a : b));
}

function preferred(level: LevelState, a: Candidate, b: Candidate): number {
  if (a.entry.metric !== b.entry.metric) return a.entry.metric - b.entry.metric;
  const [proxyA, proxyB] = [resolve(level, a), resolve(level, b)];
  if (proxyA && proxyB) return compareAddresses(proxyA, proxyB);
  return proxyA ? -1 : proxyB ? 1 : 0;
}

/** The proxy of a prefix; a SID has none. */
function resolve(level: LevelState, { entry, lsp }: Candidate): IpAddress | undefined {
  if (isSid(entry)) return undefined;
  const { routerIds, interfaces } = nodeAddresses(level, lsp, [entry]);
  return proxyOf(entry, routerIds, interfaces);
}

/**
 * The copy: flags kept and R set (RFC 7794 §2.1), the proxy that the original resolves to named in the entry itself.
 */
function leaked(key: string, candidate: Candidate, from: LevelState, to: LevelState): Originated {
  const { entry } = candidate;
  const proxy = resolve(from, candidate);
  const source4 = proxy?.family === 4 ? proxy : entry.source4;
  const source6 = proxy?.family === 6 ? proxy : entry.source6;
  const copy = {
    key,
    down: to.level === 1,
    flags: withFlag(entry.flags, ATTRIBUTE_BIT.readvertised),
    ...(source4 && { source4 }),
    ...(source6 && { source6 }),
  };
  if (!isSid(entry)) return { ...copy, prefix: entry.prefix, external: entry.external };
  const { sid, behavior, locator, algorithm } = entry;
  return { ...copy, sid, behavior, locator, algorithm };
}
