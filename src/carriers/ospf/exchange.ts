// Database exchange (RFC 2328 §10.6, §10.8): who is master, the descriptions of both databases, duplicates and
// retransmission. The master sends, and sends again until answered; the slave answers, and repeats its last answer to a
// duplicate.
import { count, random, warnLimited } from '../effects.ts';
import { lengthFlaw } from '../../packet/ospf/lsa-shape.ts';
import { formatLsaKey, lsaKeyText } from '../../packet/ospf/router-id.ts';
import type { DatabaseDescription, LsaHeader } from '../../packet/ospf/types.ts';
import { floodTo } from './flooding.ts';
import { compareInstances, hasRoom, headerOf, isMaxAge } from './lsdb.ts';
import { type Neighbor, type NeighborEvent, clearLists, isExchanging, transition } from './neighbor.ts';
import { isWanted, outbid } from './own.ts';
import { loadingDue, sendRequests } from './requests.ts';
import type { AreaState, Speaker } from './speaker.ts';
import { headersThatFit, send } from './transmit.ts';

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
function describeNext(s: Speaker, area: AreaState, neighbor: Neighbor): void {
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
function findNextDescribed(s: Speaker, neighbor: Neighbor): void {
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

function enterExchange(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  transition(s, area, neighbor, 'negotiation-done');
  const { options } = neighbor;
  if (!s.config.version.takesOurs(options)) {
    warnLimited(s, 'neighbor.no-opaque', {}, 'the neighbour takes no opaque LSAs: it lacks "capability opaque"');
  }
  neighbor.summary = area.lsdb.byKey.values();
  neighbor.exchangeAt = s.now;
  findNextDescribed(s, neighbor);
}

export function receiveDescription(s: Speaker, area: AreaState, neighbor: Neighbor, dd: DatabaseDescription): void {
  neighbor.mtu = dd.mtu;
  if (neighbor.state === 'ex-start') neighbor.options = dd.options;
  if (dd.mtu > area.config.mtu && !area.config.ignoreMtu) {
    return warnLimited(
      s,
      'exchange.mtu-mismatch',
      { theirs: dd.mtu, ours: area.config.mtu },
      "the neighbour's MTU is larger than ours: the exchange cannot begin",
    );
  }
  if (neighbor.state === 'ex-start') return negotiate(s, area, neighbor, dd);
  if (isDuplicate(neighbor, dd)) {
    count(s, 'exchange.duplicate');
    if (!neighbor.weAreMaster && neighbor.lastSent) send(s, area, neighbor.lastSent);
    return;
  }
  const expected = neighbor.weAreMaster ? neighbor.ddSequence : (neighbor.ddSequence + 1) >>> 0;
  const inOrder =
    neighbor.state === 'exchange' &&
    dd.master !== neighbor.weAreMaster &&
    !dd.initialize &&
    dd.options === neighbor.options;
  if (!inOrder || dd.sequence !== expected) return fail(s, area, neighbor, 'sequence-number-mismatch');
  accept(s, area, neighbor, dd);
}

function isDuplicate({ lastReceived: last }: Neighbor, dd: DatabaseDescription): boolean {
  return (
    last !== undefined &&
    last.sequence === dd.sequence &&
    last.options === dd.options &&
    last.initialize === dd.initialize &&
    last.more === dd.more &&
    last.master === dd.master
  );
}

function negotiate(s: Speaker, area: AreaState, neighbor: Neighbor, dd: DatabaseDescription): void {
  if (s.now < neighbor.exchangeFrom) return count(s, 'exchange.backing-off');
  const theyAreHigher = neighbor.routerId > s.config.routerId;
  if (dd.initialize && dd.more && dd.master && dd.headers.length === 0 && theyAreHigher) {
    neighbor.weAreMaster = false;
    neighbor.ddSequence = dd.sequence;
  } else if (dd.initialize || dd.master || dd.sequence !== neighbor.ddSequence || theyAreHigher)
    return count(s, 'exchange.not-agreed');
  enterExchange(s, area, neighbor);
  accept(s, area, neighbor, dd);
}

/** A description in sequence: note what we lack, then send the next one. */
function accept(s: Speaker, area: AreaState, neighbor: Neighbor, dd: DatabaseDescription): void {
  const { initialize, more, master, options, sequence } = dd;
  neighbor.lastReceived = { initialize, more, master, options, sequence };
  for (const header of dd.headers) {
    if (!s.config.version.knows(header.type)) return fail(s, area, neighbor, 'sequence-number-mismatch');
    const key = lsaKeyText(header);
    const stored = area.lsdb.byKey.get(key);
    const relation = stored ? compareInstances(header, headerOf(stored, s.now)) : 'newer';
    if (stored?.own && relation === 'older' && header.sequence === stored.sequence) outbid(s, area, key);
    if (relation !== 'newer') continue;
    // It would be refused when it comes (flooding.ts).
    const flaw = isWanted(area, key) ? undefined : lengthFlaw(s.config.version.version, header);
    if (flaw !== undefined) {
      warnLimited(
        s,
        'exchange.bad-shape',
        { lsa: formatLsaKey(header), detail: flaw },
        'LSA not asked for: it has not the shape of its type',
      );
      continue;
    }
    // Not asked for: there would be no room for it, the adjacency would never be Full, and a neighbour may list for
    // ever.
    if (hasRoom(area.lsdb, header.length, stored, neighbor.requests.size) || isWanted(area, key))
      neighbor.requests.set(key, header);
    else {
      area.lsdb.refusedAt = s.now;
      count(s, 'exchange.too-many');
    }
  }
  if (neighbor.weAreMaster) {
    const weAreDone = neighbor.lastSent?.more === false;
    neighbor.ddSequence = (neighbor.ddSequence + 1) >>> 0;
    if (weAreDone && !more) return exchangeDone(s, area, neighbor);
    describeNext(s, area, neighbor);
  } else {
    neighbor.ddSequence = sequence;
    describeNext(s, area, neighbor);
    if (!more && !neighbor.lastSent!.more) return exchangeDone(s, area, neighbor);
  }
  sendRequests(s, area, neighbor);
}

function exchangeDone(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  neighbor.ddAt = Infinity;
  transition(s, area, neighbor, 'exchange-done');
  sendRequests(s, area, neighbor);
  loadingDue(s, area, neighbor);
}

/** Whether LSAs at MaxAge must stay because a neighbour may still list them (RFC 2328 §14). */
export const exchangeRunning = ({ neighbor }: AreaState): boolean =>
  neighbor !== undefined && isExchanging(neighbor) && neighbor.state !== 'full';
