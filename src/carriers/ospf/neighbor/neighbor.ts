// The neighbor of a link: its states and events on a point-to-point network (RFC 2328 §10.1, §10.2), and what each side
// owes the other. On this kind of network every neighbor becomes adjacent, and Attempt does not occur. transition.ts
// defines which event leads to which state. exchange.ts, requests.ts and flooding.ts define what is sent in each state.
import type { ProtocolIdOrder } from '../../../packet/ospf/auth-v3.ts';
import type { DatabaseDescription, LsaHeader, OspfPacket } from '../../../packet/ospf/types.ts';
import type { StoredLsa } from '../lsdb/lsdb.ts';

export type NeighborState = 'init' | 'ex-start' | 'exchange' | 'loading' | 'full';

export type NeighborEvent =
  | 'two-way-received'
  | 'one-way-received'
  | 'negotiation-done'
  | 'exchange-done'
  | 'loading-done'
  | 'sequence-number-mismatch'
  | 'bad-request';

export interface Neighbor {
  readonly routerId: number;
  /** OSPFv3: the ID of its interface. */
  interfaceId: number;
  state: NeighborState;
  since: number;
  /** Why it is in this state. */
  reason: string;
  /** When it is lost unless a hello arrives. */
  inactiveAt: number;

  /** From its Database Descriptions. */
  options: number;
  mtu: number;
  weAreMaster: boolean;
  ddSequence: number;
  /** The fields by which a duplicate is recognized. */
  lastReceived: Pick<DatabaseDescription, 'initialize' | 'more' | 'master' | 'options' | 'sequence'> | undefined;
  lastSent: DatabaseDescription | undefined;
  /**
   * The part of our database that is still to be described: the key of the next LSA, the LSAs after it, and when the
   * exchange began.
   */
  nextDescribed: string | undefined;
  summary: Iterator<StoredLsa> | undefined;
  exchangeAt: number;
  ddAt: number;
  /** Exchanges that failed since the last successful one, and when the next may begin. */
  failures: number;
  exchangeFrom: number;

  /** LSAs of which it has newer instances than we do, and those of them that have been requested. */
  readonly requests: Map<string, LsaHeader>;
  readonly asked: Set<string>;
  requestAt: number;
  /**
   * LSAs to be sent. LSAs that were sent, and when to send them again unless they are acknowledged, the earliest first.
   */
  readonly unsent: Set<string>;
  readonly retransmit: Map<string, number>;
  floodAt: number;
  /** LSAs to acknowledge. */
  readonly acks: Map<string, LsaHeader>;
  ackAt: number;

  /** Highest authenticated sequence number of each kind of packet. */
  readonly authenticationSequences: Map<OspfPacket['kind'], bigint>;
  protocolIdOrder: ProtocolIdOrder;
}

export const newNeighbor = (routerId: number, now: number): Neighbor => ({
  routerId,
  interfaceId: 0,
  state: 'init',
  since: now,
  reason: 'heard',
  inactiveAt: Infinity,
  options: 0,
  mtu: 0,
  weAreMaster: false,
  ddSequence: 0,
  lastReceived: undefined,
  lastSent: undefined,
  nextDescribed: undefined,
  summary: undefined,
  exchangeAt: -Infinity,
  ddAt: Infinity,
  failures: 0,
  exchangeFrom: -Infinity,
  requests: new Map(),
  asked: new Set(),
  requestAt: Infinity,
  unsent: new Set(),
  retransmit: new Map(),
  floodAt: Infinity,
  acks: new Map(),
  ackAt: Infinity,
  authenticationSequences: new Map(),
  protocolIdOrder: 'network',
});

/** In Exchange or a later state: it takes part in flooding. */
export const isExchanging = ({ state }: Neighbor): boolean =>
  state === 'exchange' || state === 'loading' || state === 'full';

/** Whether it has yet to acknowledge this LSA. */
export const owes = ({ unsent, retransmit }: Neighbor, key: string): boolean => unsent.has(key) || retransmit.has(key);

/** It has acknowledged the LSA, or has a newer one. @returns whether an acknowledgment was outstanding */
export function settle({ unsent, retransmit }: Neighbor, key: string): boolean {
  const wasUnsent = unsent.delete(key);
  return retransmit.delete(key) || wasUnsent;
}

/** Clears the lists of LSAs to send, to acknowledge and to request (RFC 2328 §10.3, leaving Exchange or greater). */
export function clearLists(neighbor: Neighbor): void {
  neighbor.requests.clear();
  neighbor.asked.clear();
  neighbor.unsent.clear();
  neighbor.retransmit.clear();
  neighbor.acks.clear();
  neighbor.nextDescribed = neighbor.summary = undefined;
  neighbor.lastReceived = undefined;
  neighbor.lastSent = undefined;
  neighbor.ddAt = neighbor.requestAt = neighbor.floodAt = neighbor.ackAt = Infinity;
}

/** Whether LSAs at MaxAge must be kept because a neighbor may still list them (RFC 2328 §14). */
export const exchangeRunning = ({ neighbor }: { readonly neighbor: Neighbor | undefined }): boolean =>
  neighbor !== undefined && isExchanging(neighbor) && neighbor.state !== 'full';
