// A clean stop: our paths are removed from gobgpd, for as long as it goes on removing them.
import { log } from '../../effects.ts';
import { STOP_LIMIT_MS } from '../constants.ts';
import { audit, desireNothing, ownCounts } from '../own/own.ts';
import type { Content } from '../state.ts';

export function stop(c: Content): void {
  if (c.stopping) return;
  c.stopping = { deadline: c.now + STOP_LIMIT_MS, done: false };
  c.declaring = undefined;
  desireNothing(c.own);
  c.own.retryAt = -Infinity;
  c.own.audit = audit(c);
}

/** Without a connection there is no gobgpd to ask; with one, everything of ours has to be found first. */
export function checkStop(c: Content): void {
  const { stopping, session, own } = c;
  if (!stopping || stopping.done) return;
  const clean = session.state === 'ready' && !own.audit && own.dirty.length === 0 && !own.busy;
  const isAlone = session.state === 'connecting' || session.state === 'waiting';
  if (!clean && !isAlone && c.now < stopping.deadline) return;
  stopping.done = true;
  const { put } = ownCounts(own);
  if (!clean && put > 0)
    log(c, 'warn', { paths: put }, 'stopped before gobgpd removed our paths: the next run removes them');
  c.effects.push({ type: 'stopped', clean });
}
