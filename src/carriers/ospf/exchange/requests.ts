// Requests (RFC 2328 §10.7, §10.9): LSAs that the neighbor listed and we lack are requested, one packet at a time, and
// requested again if they do not arrive. The neighbor's own requests are answered at once.
import { count } from '../../effects.ts';
import { lsaKeyText } from '../../../packet/ospf/router-id.ts';
import type { Lsa, LsaHeader, LsaKey, LinkStateRequest } from '../../../packet/ospf/types.ts';
import { fail } from './describe.ts';
import { compareInstances, forSending } from '../lsdb/lsdb.ts';
import { type Neighbor, isExchanging } from '../neighbor/neighbor.ts';
import { transition } from '../neighbor/transition.ts';
import { topologyChanged } from '../own/topology.ts';
import type { AreaState, Speaker } from '../state.ts';
import { headersThatFit, send, sendUpdates } from '../transmit.ts';

const REQUEST_LENGTH = 12;

/** Sends the next request packet, unless answers to the last one are missing. */
export function sendRequests(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  if (neighbor.asked.size > 0 || neighbor.requests.size === 0) return;
  const fit = headersThatFit(s, area, 0, REQUEST_LENGTH);
  for (const key of neighbor.requests.keys()) {
    if (neighbor.asked.size >= fit) break;
    neighbor.asked.add(key);
  }
  ask(s, area, neighbor);
}

function ask(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  const requests = [...neighbor.asked].map((key): LsaKey => neighbor.requests.get(key)!);
  send(s, area, { kind: 'link-state-request', requests });
  neighbor.requestAt = s.now + area.config.retransmitMs;
}

/** The request was not answered: sends it again. */
export function requestDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  count(s, 'tx.retransmitted-request');
  ask(s, area, neighbor);
}

/** An instance of an LSA has arrived: removes the request if the instance is the requested one or a newer one. */
export function satisfy(s: Speaker, area: AreaState, neighbor: Neighbor, key: string, header: LsaHeader): void {
  const requested = neighbor.requests.get(key);
  if (!requested || compareInstances(header, requested) === 'older') return;
  neighbor.requests.delete(key);
  neighbor.asked.delete(key);
  if (neighbor.asked.size > 0) return;
  neighbor.requestAt = Infinity;
  sendRequests(s, area, neighbor);
  loadingDue(s, area, neighbor);
}

/** No request is left: the neighbor becomes Full. */
export function loadingDue(s: Speaker, area: AreaState, neighbor: Neighbor): void {
  if (neighbor.requests.size === 0 && transition(s, area, neighbor, 'loading-done')) topologyChanged(s, area);
}

export function receiveRequest(s: Speaker, area: AreaState, neighbor: Neighbor, { requests }: LinkStateRequest): void {
  if (!isExchanging(neighbor)) return count(s, 'request.not-exchanging');
  const lsas: Lsa[] = [];
  for (const key of requests) {
    const lsa = area.lsdb.byKey.get(lsaKeyText(key));
    if (!lsa) return fail(s, area, neighbor, 'bad-request');
    lsas.push(forSending(lsa, s.now));
  }
  sendUpdates(s, area, lsas);
}
