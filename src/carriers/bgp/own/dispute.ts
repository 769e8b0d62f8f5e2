// Somebody else at the same gobgpd changes what is cnpd's: another cnpd, whose paths have the same identifier, or a
// script of the operator's. What one takes out the other puts back, and every router of the network hears of each
// change. So after a few rounds there is a pause before the next, which grows until the changes end.
import { warnLimited } from '../../effects.ts';
import { DISPUTE_PAUSE_MS, DISPUTE_QUIET_MS, DISPUTE_ROUNDS } from '../constants.ts';
import type { Content } from '../state.ts';
import { type Own, markDirty } from './state.ts';

/** A path of ours is gone, or there, and we have not done it. */
export function changedByOthers(c: Content): void {
  const { dispute } = c.own;
  if (c.now - dispute.last > DISPUTE_QUIET_MS) dispute.rounds = 0;
  dispute.last = c.now;
  dispute.open = true;
}

/** We change it back: the next changes wait when that is so for the umpteenth time. */
export function changeBack(c: Content): void {
  const { own } = c;
  if (!own.dispute.open) return;
  own.dispute.open = false;
  const over = ++own.dispute.rounds - DISPUTE_ROUNDS;
  if (over <= 0 || c.stopping) return;
  own.retryAt = c.now + Math.min(DISPUTE_PAUSE_MS.longest, DISPUTE_PAUSE_MS.first * 2 ** over);
  warnLimited(
    c,
    'own.disputed',
    { rounds: own.dispute.rounds },
    'another client adds and removes our paths at this gobgpd: ours are restored at growing intervals',
  );
}

/** Whether that goes on. */
export const disputed = ({ own: { dispute } }: Content, now: number): boolean =>
  dispute.rounds > DISPUTE_ROUNDS && now - dispute.last <= DISPUTE_QUIET_MS;

/** Somebody else has put a path of the same prefix and identifier in. */
export function overwritten(c: Content, own: Own): void {
  own.put = { since: own.put!.since };
  own.heard = false;
  markDirty(c.own, own);
  changedByOthers(c);
  warnLimited(
    c,
    'own.overwritten',
    { prefix: own.text },
    'another client of this gobgpd has replaced a path of ours: it is added again',
  );
}
