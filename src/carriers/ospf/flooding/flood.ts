// Queues an LSA for a neighbor that accepts it.
import type { StoredLsa } from '../lsdb/lsdb.ts';
import { type Neighbor, isExchanging } from '../neighbor/neighbor.ts';
import type { AreaState, Speaker } from '../state.ts';

/** Sends an LSA to a neighbor that accepts it, until it is acknowledged. */
export function floodTo(s: Speaker, neighbor: Neighbor, lsa: StoredLsa): void {
  if (!isExchanging(neighbor) || !s.config.version.offers(lsa.type, neighbor.options)) return;
  neighbor.retransmit.delete(lsa.key);
  neighbor.unsent.add(lsa.key);
  neighbor.floodAt = Math.min(neighbor.floodAt, s.now);
}

export function flood(s: Speaker, area: AreaState, lsa: StoredLsa): void {
  if (area.neighbor) floodTo(s, area.neighbor, lsa);
}
