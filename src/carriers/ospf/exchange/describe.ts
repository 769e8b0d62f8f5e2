// Our half of the exchange (RFC 2328 §10.6, §10.8): claims to be master, then descriptions of our database, packet by
// packet.
import { count, random } from '../../effects.ts';
import type { DatabaseDescription, LsaHeader } from '../../../packet/ospf/types.ts';
import { floodTo } from '../flooding/flood.ts';
import { headerOf, isMaxAge } from '../lsdb/lsdb.ts';
import { type Neighbor, type NeighborEvent, clearLists } from '../neighbor/neighbor.ts';
import { transition } from '../neighbor/transition.ts';
import type { AreaState, Speaker } from '../state.ts';
import { headersThatFit, send } from '../transmit.ts';

const DD_FIXED = 12;

/** Claims to be master, with an empty description, until the neighbour agrees or claims it with a higher router ID. */
export function enterExStart(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  clearLists(neighbor);
  neighbor.ddSequence = neighbor.ddSequence === 0 ? Math.floor(random(s) * 2 ** 31) : (neighbor.ddSequence + 1) >>> 0;
  neighbor.weAreMaster = true;
  neighbor.ddAt = Math.max(s.now, neighbor.exchangeFrom);
  if (neighbor.ddAt <= s.now) ddDue(s, area, neighbor);
}

/** Begins anew after something that cannot be (RFC 2328 §10.3). */
export function fail(s: Speaker, area: AreaState, neighbor: Neighbor, event: NeighborEvent): void {
  if (transition(s, area, neighbor, event)) enterExStart(s, area, neighbor);
}

/** The neighbour has not answered: the last description once more, or the first of an exchange. */
export function ddDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
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

/** The next part of our database. */
export function describeNext(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  const headers: LsaHeader[] = [];
  const fit = headersThatFit(s, area, DD_FIXED);
  while (headers.length < fit && neighbor.nextDescribed !== undefined) {
    const lsa = area.lsdb.byKey.get(neighbor.nextDescribed);
    if (lsa) headers.push(headerOf(lsa, s.now));
    findNextDescribed(s, neighbor);
  }
  describe(s, area, neighbor, { initialize: false, more: neighbor.nextDescribed !== undefined, headers });
  neighbor.ddAt = neighbor.weAreMaster ? s.now + area.config.retransmitMs : Infinity;
}

/**
 * What we have when the exchange begins; LSAs on their way out are flooded instead (RFC 2328 §10.3, NegotiationDone).
 * Looked for packet by packet: a list of a whole database would be made in one turn. What was installed since came from
 * this neighbour or is flooded to it.
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
