// One advertisement of the learned table as the northbound shows it.
import { formatAddress } from '../model/address.ts';
import type { SenderState } from '../model/state.ts';
import type { Advertisement } from './preference.ts';

/** @param toWall what to add to the clock's time to get the time of day */
export const senderState = (a: Advertisement, prefix: string, best: boolean, toWall: number): SenderState => ({
  prefix,
  proxy: a.proxy ? formatAddress(a.proxy) : null,
  best,
  pnc: a.pnc,
  metric: a.metric,
  carrier: a.source.originator.carrier,
  originator: a.source.originator.name,
  source: a.source.name,
  since: new Date(a.since).toISOString(),
  ...(a.source.originator.reachability === 'held' && {
    heldUntil: new Date(a.source.originator.heldUntil + toWall).toISOString(),
  }),
});
