// Database exchange (RFC 2328 §10.6, §10.8): master and slave, the descriptions of both databases, duplicates and
// retransmission. The master sends, and retransmits until it is answered. The slave answers, and repeats its last
// answer to a duplicate.
import { count, warnLimited } from '../../effects.ts';
import { lengthFlaw } from '../../../packet/ospf/lsa-shape.ts';
import { formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { DatabaseDescription } from '../../../packet/ospf/types.ts';
import { compareInstances, hasHeadroom, headerOf } from '../lsdb/lsdb.ts';
import type { Neighbor } from '../neighbor/neighbor.ts';
import { transition } from '../neighbor/transition.ts';
import { isDesired } from '../own/state.ts';
import { outbid } from '../own/own.ts';
import { loadingDue, sendRequests } from './requests.ts';
import type { AreaState, Speaker } from '../state.ts';
import { send } from '../transmit.ts';
import { describeNext, fail, findNextDescribed } from './describe.ts';

function enterExchange(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  transition(s, area, neighbor, 'negotiation-done');
  const { options } = neighbor;
  if (!s.config.version.takesOurs(options)) {
    warnLimited(s, 'neighbor.no-opaque', {}, 'the neighbor accepts no opaque LSAs: it lacks "capability opaque"');
  }
  neighbor.summary = area.lsdb.byKey.values();
  neighbor.exchangeAt = s.now;
  findNextDescribed(s, neighbor);
}

export function receiveDescription(s: Speaker, area: AreaState, neighbor: Neighbor, dd: DatabaseDescription): void {
  neighbor.mtu = dd.mtu;
  if (neighbor.state === 'ex-start') neighbor.options = dd.options;
  if (dd.mtu > area.config.mtu && !area.config.ignoreMtu) {
    warnLimited(
      s,
      'exchange.mtu-mismatch',
      { theirs: dd.mtu, ours: area.config.mtu },
      "the neighbor's MTU is larger than ours: the exchange cannot begin",
    );
    // It has restarted, and its first hello listed us already. Full would hide that it is adjacent no more.
    if (dd.initialize) fail(s, area, neighbor, 'sequence-number-mismatch');
    return;
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

/** A description in sequence: records the LSAs that we lack, then sends the next description. */
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
    // The LSA would be refused when it arrives (flooding.ts).
    const flaw = isDesired(area, key) ? undefined : lengthFlaw(s.config.version.version, header);
    if (flaw !== undefined) {
      warnLimited(
        s,
        'exchange.bad-shape',
        { lsa: formatLsaKey(header), detail: flaw },
        'LSA not requested: its length is invalid for its type',
      );
      continue;
    }
    // Without headroom the LSA is not requested: the adjacency would never become Full, and a neighbor may list LSAs
    // without end.
    if (hasHeadroom(area.lsdb, header.length, stored, neighbor.requests.size) || isDesired(area, key))
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
