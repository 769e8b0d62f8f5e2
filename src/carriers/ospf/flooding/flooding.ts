// Flooding (RFC 2328 §13) over one point-to-point link. Received LSAs are compared, installed and acknowledged. Our
// LSAs are sent until they are acknowledged. Nothing is forwarded: the area has no other neighbor.
import { count, warnLimited } from '../../effects.ts';
import { MAX_SEQUENCE } from '../../../packet/ospf/numbers.ts';
import { isBaseType } from '../../../packet/ospf/lsa-type.ts';
import { shapeFlaw } from '../../../packet/ospf/lsa-shape.ts';
import { formatLsaKey, lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { LinkStateAcknowledgment, LinkStateUpdate, Lsa, LsaHeader } from '../../../packet/ospf/types.ts';
import { ACK_DELAY_MS, MIN_LS_ARRIVAL_MS, SEND_BURST, SEND_GAP_MS, STOP_RETRANSMIT_MS } from '../constants.ts';
import { exchangeRunning } from '../neighbor/neighbor.ts';
import { fail } from '../exchange/describe.ts';
import { install, uninstall } from '../lsdb/install.ts';
import {
  type StoredLsa,
  atEnd,
  compareInstances,
  forSending,
  hasHeadroom,
  headerOf,
  isMaxAge,
  sweepBy,
} from '../lsdb/lsdb.ts';
import { type Neighbor, isExchanging, owes, settle } from '../neighbor/neighbor.ts';
import { isDesired } from '../own/state.ts';
import { recover } from '../own/own.ts';
import { satisfy } from '../exchange/requests.ts';
import type { AreaState, Speaker } from '../state.ts';
import { bodyCapacity, headersThatFit, sendAcknowledgments, sendUpdates } from '../transmit.ts';
import { isOwn } from '../version.ts';

export function receiveUpdate(s: Speaker, area: AreaState, neighbor: Neighbor, { lsas }: LinkStateUpdate): void {
  if (!isExchanging(neighbor)) return count(s, 'update.not-exchanging');
  const direct: LsaHeader[] = [];
  for (const lsa of lsas) {
    // A bad request ends the exchange: the rest of the packet is ignored.
    if (!isExchanging(neighbor)) break;
    receiveLsa(s, area, neighbor, lsa, direct);
  }
  sendAcknowledgments(s, area, direct);
}

/**
 * The steps of RFC 2328 §13, by their numbers; step 1, the checksum, is the decoder's.
 * @param direct headers to acknowledge at once
 */
function receiveLsa(s: Speaker, area: AreaState, neighbor: Neighbor, lsa: Lsa, direct: LsaHeader[]): void {
  // 2
  if (!s.config.version.knows(lsa.type)) return count(s, 'lsa.unknown-type');
  const key = lsaKeyText(lsa);
  const stored = area.lsdb.byKey.get(key);
  const received = headerOnly(lsa);
  const flaw = shapeFlaw(s.config.version.version, lsa);
  if (flaw !== undefined && !mustOutbid(s, area, lsa))
    return refuseShape(s, area, neighbor, lsa, { stored, flaw, direct });
  // 4
  if (!stored && atEnd(lsa) && !exchangeRunning(area)) return void direct.push(received);
  const relation = stored ? compareInstances(lsa, headerOf(stored, s.now)) : 'newer';
  // 5
  if (relation === 'newer') return receiveNewer(s, area, neighbor, lsa, stored);
  // 6
  if (neighbor.requests.has(key)) return fail(s, area, neighbor, 'bad-request');
  // 7: an implied acknowledgment if one is outstanding
  if (relation === 'same') {
    if (!settle(neighbor, key)) direct.push(received);
    return;
  }
  // 8
  if (isMaxAge(stored!, s.now) && stored!.sequence === MAX_SEQUENCE) return;
  if (s.now - stored!.answeredAt < MIN_LS_ARRIVAL_MS) return count(s, 'lsa.older-again');
  stored!.answeredAt = s.now;
  sendUpdates(s, area, [forSending(stored!, s.now)]);
}

const headerOnly = ({ raw: _raw, ...header }: Lsa): LsaHeader => header;

function receiveNewer(s: Speaker, area: AreaState, neighbor: Neighbor, lsa: Lsa, stored: StoredLsa | undefined): void {
  const key = lsaKeyText(lsa);
  // 5a: not acknowledged, so that the neighbor sends it again. But a flush is accepted at once. It has the sequence
  // number of the previous instance. An ospfd (8.4.4) would take the delayed acknowledgment of that instance for one of
  // the flush, and would not send the flush again.
  if (stored?.flooded && !atEnd(lsa) && s.now - stored.installedAt < MIN_LS_ARRIVAL_MS) return count(s, 'lsa.too-soon');
  if (!hasHeadroom(area.lsdb, lsa.length, stored) && !isDesired(area, key))
    return refuseLsa(s, area, neighbor, lsa, stored);
  // 5c, 5d
  settle(neighbor, key);
  const own = isOwn(s.config.routerId, lsa);
  install(s, area, lsa, own, true);
  // 5e
  acknowledge(s, area, neighbor, key, headerOnly(lsa));
  satisfy(s, area, neighbor, key, lsa);
  // 5f
  if (own) recover(s, area, lsa);
}

/**
 * Whether the LSA is forged under our name, in a type that others accept in any shape. Our own instance replaces it.
 */
const mustOutbid = ({ config: { version } }: Speaker, area: AreaState, lsa: Lsa): boolean =>
  !isBaseType(version.version, lsa.type) && isDesired(area, lsaKeyText(lsa));

/**
 * The LSA does not have the shape of its type. It is not stored, because an ospfd or ospf6d drops every Database
 * Description that lists it. If it was requested, the adjacency comes up without it. In a type of RFC 2328 or RFC 5340
 * no router has it (step 1 discards it), so the previous instance remains. In a later type other routers may have
 * accepted it. It is acknowledged then, so that the neighbor stops retransmitting it, and the previous instance is
 * removed.
 */
function refuseShape(
  s: Speaker,
  area: AreaState,
  neighbor: Neighbor,
  lsa: Lsa,
  {
    stored,
    flaw,
    direct,
  }: { readonly stored: StoredLsa | undefined; readonly flaw: string; readonly direct: LsaHeader[] },
): void {
  warnLimited(
    s,
    'lsa.bad-shape',
    { lsa: formatLsaKey(lsa), detail: flaw },
    'LSA refused: its length or lists are invalid for its type',
  );
  const newer = !stored || compareInstances(lsa, headerOf(stored, s.now)) === 'newer';
  if (!isBaseType(s.config.version.version, lsa.type)) {
    direct.push(headerOnly(lsa));
    if (stored && newer) {
      settle(neighbor, stored.key);
      uninstall(s, area, stored);
    }
  }
  if (newer) satisfy(s, area, neighbor, lsaKeyText(lsa), lsa);
}

/**
 * The database has no headroom for the LSA. It is not acknowledged, so that the neighbor sends it again, and the
 * previous instance is removed. If it was requested, the adjacency comes up without it.
 */
function refuseLsa(s: Speaker, area: AreaState, neighbor: Neighbor, lsa: Lsa, stored: StoredLsa | undefined): void {
  const { lsdb } = area;
  lsdb.refusedAt = s.now;
  warnLimited(
    s,
    'lsdb.full',
    { lsas: lsdb.byKey.size, bytes: lsdb.bytes, lsa: formatLsaKey(lsa), length: lsa.length },
    'link state database full: LSA refused',
  );
  const key = lsaKeyText(lsa);
  settle(neighbor, key);
  if (stored) uninstall(s, area, stored);
  satisfy(s, area, neighbor, key, lsa);
}

/** Acknowledgments that fill a packet are sent without further delay. */
function acknowledge(s: Speaker, area: AreaState, neighbor: Neighbor, key: string, header: LsaHeader): void {
  neighbor.acks.set(key, header);
  const full = neighbor.acks.size >= headersThatFit(s, area, 0);
  neighbor.ackAt = Math.min(neighbor.ackAt, full ? s.now : s.now + ACK_DELAY_MS);
}

export function ackDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  sendAcknowledgments(s, area, [...neighbor.acks.values()]);
  neighbor.acks.clear();
  neighbor.ackAt = Infinity;
}

/** RFC 2328 §13.7. */
export function receiveAcknowledgment(
  s: Speaker,
  area: AreaState,
  neighbor: Neighbor,
  { headers }: LinkStateAcknowledgment,
): void {
  if (!isExchanging(neighbor)) return count(s, 'acknowledgment.not-exchanging');
  for (const header of headers) {
    const key = lsaKeyText(header);
    const stored = area.lsdb.byKey.get(key);
    if (!stored || !owes(neighbor, key)) continue;
    if (compareInstances(header, headerOf(stored, s.now)) !== 'same') {
      count(s, 'acknowledgment.other-instance');
      continue;
    }
    settle(neighbor, key);
    if (atEnd(stored)) sweepBy(area.lsdb, s.now);
  }
}

/** Sends what is due, a burst at a time. */
export function floodDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  const { unsent, retransmit } = neighbor;
  const again = s.now + (s.stopping ? STOP_RETRANSMIT_MS : area.config.retransmitMs);
  for (const [key, at] of retransmit) {
    if (at > s.now) break;
    retransmit.delete(key);
    unsent.add(key);
  }
  let budget = bodyCapacity(s, area) * SEND_BURST;
  const lsas: Lsa[] = [];
  for (const key of unsent) {
    if (budget <= 0) break;
    unsent.delete(key);
    const lsa = area.lsdb.byKey.get(key);
    if (!lsa) continue;
    budget -= lsa.length;
    lsas.push(forSending(lsa, s.now));
    retransmit.set(key, again);
  }
  const [nextAgain = Infinity] = retransmit.values();
  neighbor.floodAt = unsent.size > 0 ? s.now + SEND_GAP_MS : nextAgain;
  sendUpdates(s, area, lsas);
}
