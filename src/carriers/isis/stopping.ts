// A clean stop (ISO/IEC 10589 §7.3.16.4): purge our own LSP in every level, wait until the neighbor has acknowledged
// that, and take the adjacency down. Without a neighbor there is nothing to wait for.
import { log } from '../effects.ts';
import { activeLevels } from './adjacency/adjacency.ts';
import { STOP_LIMIT_MS } from './constants.ts';
import { sendHello } from './adjacency/interface.ts';
import { markDirty } from './own/own.ts';
import type { Speaker } from './state.ts';

export function beginStop(s: Speaker): void {
  if (s.stopping) return;
  s.stopping = { deadline: s.now + STOP_LIMIT_MS, done: false };
  s.pending.clear();
  for (const level of s.levels.values()) {
    level.own.dirty.clear();
    for (const [number, fragment] of level.own.fragments) {
      if (!fragment.live) continue;
      fragment.issuedAt = Math.min(fragment.issuedAt, s.now - STOP_LIMIT_MS);
      fragment.notBefore = -Infinity;
      markDirty(level.own, number, s.now, true);
    }
  }
}

/** Whether purges still have to be issued or acknowledged. */
function hasPendingPurges(s: Speaker): boolean {
  return activeLevels(s).some((name) => {
    const level = s.levels.get(name)!;
    if ([...level.own.fragments.values()].some((fragment) => fragment.live)) return true;
    return [...level.srm.keys()].some((key) => level.lsdb.byKey.get(key)?.own);
  });
}

/** Ends the stop when all purges are acknowledged, or time is up. Called after every event while stopping. */
export function checkStop(s: Speaker): void {
  if (!s.stopping || s.stopping.done) return;
  const clean = !hasPendingPurges(s);
  if (!clean && s.now < s.stopping.deadline) return;
  s.stopping.done = true;
  if (s.adjacency && s.adjacency.state !== 'down') {
    s.adjacency = { ...s.adjacency, state: 'down', reason: 'stopped' };
    sendHello(s);
  }
  if (!clean) log(s, 'warn', {}, 'stopped before the neighbor acknowledged the purges');
  s.link = undefined;
  s.helloAt = Infinity;
  s.effects.push({ type: 'stopped', clean });
}
