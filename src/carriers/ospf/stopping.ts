// A clean stop: flush everything of ours, wait until the neighbor has acknowledged it, then remove the neighbor from
// our hellos. Without a neighbor there is nothing to wait for.
import { log } from '../effects.ts';
import { STOP_LIMIT_MS, STOP_RETRANSMIT_MS } from './constants.ts';
import { sendHello } from './neighbor/interface.ts';
import { isExchanging } from './neighbor/neighbor.ts';
import { withdrawAll } from './own/own.ts';
import type { AreaState, Speaker } from './state.ts';

export function beginStop(s: Speaker): void {
  if (s.stopping) return;
  s.stopping = { deadline: s.now + STOP_LIMIT_MS, done: false };
  for (const area of s.areas.values()) {
    hurry(s, area);
    withdrawAll(s, area);
  }
}

/**
 * Retransmissions that are pending become due as soon as those of the flush. Otherwise they would delay the flush,
 * because the queue is sorted by time.
 */
function hurry({ now }: Speaker, { neighbor }: AreaState): void {
  if (!neighbor) return;
  const { retransmit } = neighbor;
  for (const [key, at] of retransmit) retransmit.set(key, Math.min(at, now + STOP_RETRANSMIT_MS));
  if (retransmit.size > 0) neighbor.floodAt = Math.min(neighbor.floodAt, now + STOP_RETRANSMIT_MS);
}

/** Whether any of our LSAs is still to be flushed or acknowledged. */
function owing({ neighbor, own, lsdb }: AreaState): boolean {
  if (!neighbor || !isExchanging(neighbor)) return false;
  if (own.takingOver || own.dirty.size > 0) return true;
  const ours = (key: string): boolean => lsdb.byKey.get(key)?.own ?? false;
  for (const key of neighbor.unsent) if (ours(key)) return true;
  for (const key of neighbor.retransmit.keys()) if (ours(key)) return true;
  return false;
}

/** Ends the stop when everything is acknowledged or the time limit is reached. Called after every event. */
export function checkStop(s: Speaker): void {
  if (!s.stopping || s.stopping.done) return;
  const clean = ![...s.areas.values()].some(owing);
  if (!clean && s.now < s.stopping.deadline) return;
  s.stopping.done = true;
  if (!clean) log(s, 'warn', {}, 'stopped before the neighbor acknowledged the flush of our LSAs');
  for (const area of s.areas.values()) {
    sendHello(s, area);
    area.link = undefined;
    area.helloAt = Infinity;
  }
  s.effects.push({ type: 'stopped', clean });
}
