// The neighbor state machine: which event leads to which state (RFC 2328 §10.3), and the pause after failures.
import { logAdjacency, warnLimited } from '../../effects.ts';
import { formatId } from '../../../packet/ospf/router-id.ts';
import { FIRST_BACK_OFF_MS, LAST_BACK_OFF_MS } from '../constants.ts';
import type { AreaState, Speaker } from '../state.ts';
import type { Neighbor, NeighborEvent, NeighborState } from './neighbor.ts';

interface Transition {
  readonly next: NeighborState;
  readonly reason: string;
}

type Row = Partial<Record<NeighborState, Transition>>;

const again = (reason: string): Row => ({
  exchange: { next: 'ex-start', reason },
  loading: { next: 'ex-start', reason },
  full: { next: 'ex-start', reason },
});

const toInit: Transition = { next: 'init', reason: 'the neighbor no longer receives our hellos' };

/** RFC 2328 §10.3. A pair of state and event that is not listed changes nothing. */
const TRANSITIONS: Readonly<Record<NeighborEvent, Row>> = {
  'two-way-received': { init: { next: 'ex-start', reason: 'the neighbor receives our hellos' } },
  'one-way-received': { 'ex-start': toInit, exchange: toInit, loading: toInit, full: toInit },
  'negotiation-done': { 'ex-start': { next: 'exchange', reason: 'master and slave agreed' } },
  'exchange-done': { exchange: { next: 'loading', reason: 'databases described' } },
  'loading-done': { loading: { next: 'full', reason: 'databases agree' } },
  'sequence-number-mismatch': again('Database Description out of sequence'),
  'bad-request': again('request for an LSA that does not exist'),
};

/** @returns whether the state changed */
export function transition(s: Speaker, area: AreaState, neighbor: Neighbor, event: NeighborEvent): boolean {
  const row = TRANSITIONS[event][neighbor.state];
  if (!row) return false;
  if (event === 'sequence-number-mismatch' || event === 'bad-request') {
    backOff(s, neighbor);
    warnLimited(
      s,
      `neighbor.${event}`,
      { area: formatId(area.config.areaId), neighbor: formatId(neighbor.routerId) },
      `${row.reason}: exchange restarts`,
    );
  }
  logAdjacency(
    s,
    { wasUp: neighbor.state === 'full', isUp: row.next === 'full', isStopping: s.stopping !== undefined },
    {
      area: formatId(area.config.areaId),
      neighbor: formatId(neighbor.routerId),
      from: neighbor.state,
      to: row.next,
      reason: row.reason,
    },
    'OSPF neighbor',
  );
  neighbor.state = row.next;
  neighbor.since = s.now;
  neighbor.reason = row.reason;
  return true;
}

/**
 * After one failure the exchange restarts at once, as the RFC requires. After a second one in a row it waits for a
 * second, and after each further one twice as long.
 */
function backOff(s: Speaker, neighbor: Neighbor): void {
  if (neighbor.state === 'full' && s.now - neighbor.since > LAST_BACK_OFF_MS) neighbor.failures = 0;
  const delay = neighbor.failures === 0 ? 0 : FIRST_BACK_OFF_MS * 2 ** (neighbor.failures - 1);
  neighbor.exchangeFrom = s.now + Math.min(LAST_BACK_OFF_MS, delay);
  neighbor.failures++;
}
