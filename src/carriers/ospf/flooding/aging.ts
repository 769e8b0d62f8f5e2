// Aging (RFC 2328 §14): an LSA that was not refreshed is flooded once more, at MaxAge, so that all routers remove it
// together. It is removed when the neighbor has acknowledged it and no exchange runs that might list it.
import { count } from '../../effects.ts';
import { SWEEP_BATCH, SWEEP_CHANGES } from '../constants.ts';
import { exchangeRunning } from '../neighbor/neighbor.ts';
import { flood } from './flood.ts';
import { atMaxAge, uninstall } from '../lsdb/install.ts';
import { type StoredLsa, atEnd, isMaxAge, maxAgeAt, sweepBy } from '../lsdb/lsdb.ts';
import { owes } from '../neighbor/neighbor.ts';
import { forgotten } from '../own/own.ts';
import type { AreaState, Speaker } from '../state.ts';

/** One pass over the database, a batch at a time, at most once per second. */
export function sweep(s: Speaker, area: AreaState): void {
  const { lsdb } = area;
  if (!lsdb.pass) {
    lsdb.sweptAt = s.now;
    lsdb.sweepAt = Infinity;
    lsdb.pass = lsdb.byKey.values();
  }
  let changes = 0;
  for (let looked = 0; looked < SWEEP_BATCH && changes < SWEEP_CHANGES; looked++) {
    const next = lsdb.pass.next();
    if (next.done === true) {
      lsdb.pass = undefined;
      return;
    }
    if (sweepLsa(s, area, next.value)) changes++;
  }
}

/** @returns whether it changed the database */
function sweepLsa(s: Speaker, area: AreaState, lsa: StoredLsa): boolean {
  const { lsdb, neighbor } = area;
  if (!isMaxAge(lsa, s.now)) sweepBy(lsdb, maxAgeAt(lsa));
  else if (!atEnd(lsa)) {
    expire(s, area, lsa);
    return true;
  } else if ((neighbor && owes(neighbor, lsa.key)) || exchangeRunning(area)) sweepBy(lsdb, s.now);
  else {
    uninstall(s, area, lsa);
    if (lsa.own) forgotten(s, area, lsa);
    return true;
  }
  return false;
}

/** The LSA has reached MaxAge here: stores and floods it with that age. */
function expire(s: Speaker, area: AreaState, lsa: StoredLsa): void {
  if (!lsa.own) count(s, 'lsa.expired');
  flood(s, area, atMaxAge(s, area, lsa));
}
