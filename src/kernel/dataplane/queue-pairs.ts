// What the proxy has learned about Queue Pairs (bpf/lib/proxy/layout.h): the bytes of keys and values of `queue_pairs`,
// `unconfirmed_queue_pairs` and `static_queue_pairs`. A connection is two entries, one a direction. Times are
// nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime.bigint().
import type { QueuePairs } from '../../model/roce.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, unmappedAddressAt, viewOf } from './layout.ts';

/**
 * A flow as its packets identify it, with the tenant of its addresses (bpf/lib/proxy/tenant.h): 0 or absent, the
 * router's own address space.
 */
export interface FlowName extends Omit<QueuePairs, 'senderQpn'> {
  readonly tenant?: number;
}

type QueuePairSource = 'cm' | 'reverse-traffic' | 'configured';
const SOURCES: Readonly<Record<QueuePairSource, number>> = { cm: 1, 'reverse-traffic': 2, configured: 3 };
const SOURCE_OF: ReadonlyMap<number, QueuePairSource> = new Map(
  (Object.keys(SOURCES) as QueuePairSource[]).map((name) => [SOURCES[name], name]),
);

export interface LearnedQueuePair extends QueuePairs {
  readonly tenant: number;
  /** Tenant in which packets of the other direction are seen. */
  readonly peerTenant: number;
  readonly source: QueuePairSource;
  /** PSN of the sender, from the CM exchange. */
  readonly startingPsn: number | null;
  /** PSN of the last request seen. */
  readonly lastPsn: number | null;
  readonly learnedAt: bigint;
  readonly lastSeen: bigint;
  /** CNPs sent for this flow. */
  readonly cnps: bigint;
  /**
   * Requests of this direction since it was learned, and their frames' bytes: estimates from PSNs, since not every
   * packet is looked at.
   */
  readonly packets: bigint;
  readonly bytes: bigint;
  /** False: from a CM exchange, and no answer has matched a request yet. */
  readonly confirmed: boolean;
  /** Its requests have been unanswered for so long that it is not used. */
  readonly doubtful: boolean;
}

/** struct qp_flow. */
export const FLOW_KEY_SIZE = 40;
/** Offsets in struct queue_pair. */
export const QUEUE_PAIR_SIZE = 120;
const VALUE = {
  senderQpn: 0,
  startingPsn: 4,
  psn: 8,
  source: 12,
  doubtful: 15,
  learnedAt: 16,
  lastSeen: 24,
  checkedAt: 32,
  unanswered: 40,
  cnps: 56,
  packets: 64,
  bytes: 72,
  peerTenant: 80,
  place: 108,
} as const;
const UNKNOWN = 0xffff_ffff;

export const encodeFlowKey = (flow: FlowName): Uint8Array =>
  structure(FLOW_KEY_SIZE, (view, bytes) => {
    bytes.set(mappedAddress(flow.sender), 0);
    bytes.set(mappedAddress(flow.receiver), 16);
    view.setUint32(32, flow.receiverQpn, LITTLE_ENDIAN);
    view.setUint32(36, flow.tenant ?? 0, LITTLE_ENDIAN);
  });

export function decodeFlowKey(key: Uint8Array): Required<FlowName> {
  const view = viewOf(key);
  return {
    sender: unmappedAddressAt(view, 0),
    receiver: unmappedAddressAt(view, 16),
    receiverQpn: view.getUint32(32, LITTLE_ENDIAN),
    tenant: view.getUint32(36, LITTLE_ENDIAN),
  };
}

/** Key of `connected_queue_pairs`, struct qp_owner: a host's Queue Pair that sends in a connection. */
export const ownerKey = ({
  sender,
  senderQpn,
  tenant,
}: Pick<LearnedQueuePair, 'sender' | 'senderQpn' | 'tenant'>): Uint8Array =>
  structure(24, (view, bytes) => {
    bytes.set(mappedAddress(sender), 0);
    view.setUint32(16, senderQpn, LITTLE_ENDIAN);
    view.setUint32(20, tenant, LITTLE_ENDIAN);
  });

/** Value of `connected_queue_pairs`, struct qp_peer: the other end. */
export const encodePeer = ({ receiver, receiverQpn }: Pick<FlowName, 'receiver' | 'receiverQpn'>): Uint8Array =>
  structure(24, (view, bytes) => {
    bytes.set(mappedAddress(receiver), 0);
    view.setUint32(16, receiverQpn, LITTLE_ENDIAN);
  });

/** Whether this value names the pair's other end. */
export const namesPeer = (value: Uint8Array, pair: Pick<FlowName, 'receiver' | 'receiverQpn'>): boolean =>
  Buffer.compare(value, encodePeer(pair)) === 0;

/**
 * A value of `static_queue_pairs`. Writing it again resets the time of the flow's last notification: write changes
 * only.
 */
export const encodeStaticQueuePair = (pair: { readonly senderQpn: number; readonly now: bigint }): Uint8Array =>
  structure(QUEUE_PAIR_SIZE, (view, bytes) => {
    view.setUint32(VALUE.senderQpn, pair.senderQpn, LITTLE_ENDIAN);
    view.setUint32(VALUE.startingPsn, UNKNOWN, LITTLE_ENDIAN);
    view.setUint32(VALUE.psn, UNKNOWN, LITTLE_ENDIAN);
    bytes[VALUE.source] = SOURCES.configured;
    for (const at of [VALUE.learnedAt, VALUE.lastSeen, VALUE.checkedAt, VALUE.unanswered])
      view.setBigUint64(at, pair.now, LITTLE_ENDIAN);
  });

/** An entry of either map. Undefined when its source is unknown: another version wrote it. */
export function decodeQueuePair(key: Uint8Array, value: Uint8Array): LearnedQueuePair | undefined {
  const source = SOURCE_OF.get(value[VALUE.source]!);
  if (!source) return undefined;
  const { sender, receiver, receiverQpn, tenant } = decodeFlowKey(key);
  const view = viewOf(value);
  return {
    sender,
    receiver,
    receiverQpn,
    tenant,
    peerTenant: view.getUint32(VALUE.peerTenant, LITTLE_ENDIAN),
    senderQpn: view.getUint32(VALUE.senderQpn, LITTLE_ENDIAN),
    source,
    startingPsn: psnAt(view, VALUE.startingPsn),
    lastPsn: psnAt(view, VALUE.psn),
    learnedAt: view.getBigUint64(VALUE.learnedAt, LITTLE_ENDIAN),
    lastSeen: view.getBigUint64(VALUE.lastSeen, LITTLE_ENDIAN),
    cnps: view.getBigUint64(VALUE.cnps, LITTLE_ENDIAN),
    packets: view.getBigUint64(VALUE.packets, LITTLE_ENDIAN),
    bytes: view.getBigUint64(VALUE.bytes, LITTLE_ENDIAN),
    confirmed: view.getUint32(VALUE.place, LITTLE_ENDIAN) === 0,
    doubtful: value[VALUE.doubtful] !== 0,
  };
}

function psnAt(view: DataView, at: number): number | null {
  const psn = view.getUint32(at, LITTLE_ENDIAN);
  return psn === UNKNOWN ? null : psn;
}
