// Our half of the database exchange (RFC 2328 §10.6, §10.8): first the claim to be master, then descriptions of our
// database, packet by packet.
import { count, random } from '../../effects.ts';
import type { DatabaseDescription, LsaHeader } from '../../../packet/ospf/types.ts';
import { floodTo } from '../flooding/flood.ts';
import { headerOf, isMaxAge } from '../lsdb/lsdb.ts';
import { type Neighbor, type NeighborEvent, clearLists } from '../neighbor/neighbor.ts';
import { transition } from '../neighbor/transition.ts';
import type { AreaState, Speaker } from '../state.ts';
import { headersThatFit, send } from '../transmit.ts';

const DD_FIXED = 12;

/**
 * Claims to be master, with an empty description. The claim is repeated until the neighbor agrees, or claims the same
 * with a higher router ID.
 */
export function enterExStart(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  clearLists(neighbor);
  neighbor.ddSequence = neighbor.ddSequence === 0 ? Math.floor(random(s) * 2 ** 31) : (neighbor.ddSequence + 1) >>> 0;
  neighbor.weAreMaster = true;
  neighbor.ddAt = Math.max(s.now, neighbor.exchangeFrom);
  if (neighbor.ddAt <= s.now) ddDue(s, area, neighbor);
}

/** Restarts the exchange after an event that must not happen (RFC 2328 §10.3). */
export function fail(s: Speaker, area: AreaState, neighbor: Neighbor, event: NeighborEvent): void {
  if (transition(s, area, neighbor, event)) enterExStart(s, area, neighbor);
}

/**
 * The neighbor has not answered: sends the last description again, or the first one of an exchange. A slave that its
 * master has forgotten restarts the exchange.
 */
export function ddDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  if (neighbor.state === 'exchange' && !neighbor.weAreMaster) {
    count(s, 'exchange.abandoned');
    return fail(s, area, neighbor, 'sequence-number-mismatch');
  }
  if (neighbor.state === 'ex-start' && !neighbor.lastSent)
    describe(s, area, neighbor, { initialize: true, more: true, headers: [] });
  else if (neighbor.lastSent) {
    count(s, 'tx.retransmitted-description');
    send(s, area, neighbor.lastSent);
  }
  neighbor.ddAt = s.now + area.config.retransmitMs;
}

function describe(
  s: Speaker,
  area: AreaState,
  neighbor: Neighbor,
  what: Pick<DatabaseDescription, 'initialize' | 'more' | 'headers'>,
): void {
  const { version, routerId } = s.config;
  const { areaId, instanceId, mtu, keys } = area.config;
  neighbor.lastSent = {
    kind: 'database-description',
    routerId,
    areaId,
    instanceId,
    mtu,
    options: version.exchangeOptions(keys.length > 0),
    master: neighbor.weAreMaster,
    sequence: neighbor.ddSequence,
    ...what,
  };
  send(s, area, neighbor.lastSent);
}

/** Sends the next part of our database. */
export function describeNext(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  const headers: LsaHeader[] = [];
  const fit = headersThatFit(s, area, DD_FIXED);
  while (headers.length < fit && neighbor.nextDescribed !== undefined) {
    const lsa = area.lsdb.byKey.get(neighbor.nextDescribed);
    if (lsa) headers.push(headerOf(lsa, s.now));
    findNextDescribed(s, neighbor);
  }
  describe(s, area, neighbor, { initialize: false, more: neighbor.nextDescribed !== undefined, headers });
  // A slave has nothing to retransmit. If a late copy of an old claim brought it here, and its answer is lost, the
  // master is Full and sends no description any more.
  const { retransmitMs, deadSeconds } = area.config;
  neighbor.ddAt = s.now + (neighbor.weAreMaster ? retransmitMs : 1000 * deadSeconds);
}

/**
 * Finds the next LSA to describe, among those that we had when the exchange began. LSAs that are being sent are flooded
 * instead (RFC 2328 §10.3, NegotiationDone). The search is per packet, because a list of the whole database would take
 * a long turn of the event loop. LSAs installed since came from this neighbor or are flooded to it.
 */
export function findNextDescribed(s: Speaker, neighbor: Neighbor): void {
  neighbor.nextDescribed = undefined;
  for (let next = neighbor.summary?.next(); next && !next.done; next = neighbor.summary?.next()) {
    const lsa = next.value;
    if (lsa.installedAt > neighbor.exchangeAt || !s.config.version.offers(lsa.type, neighbor.options)) continue;
    if (isMaxAge(lsa, s.now)) floodTo(s, neighbor, lsa);
    else {
      neighbor.nextDescribed = lsa.key;
      return;
    }
  }
}
