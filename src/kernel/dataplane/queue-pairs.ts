// What the proxy has learned about Queue Pairs (bpf/lib/queue-pairs.h): the bytes of keys and values of `queue_pairs` and `static_queue_pairs`. A
// connection is two entries, one a direction. Times are nanoseconds of CLOCK_MONOTONIC, which process.hrtime.bigint() reads too.
import type { QueuePairs } from '../../model/roce.ts';
import { LITTLE_ENDIAN, mappedAddress, structure, unmappedAddress, viewOf } from './layout.ts';

/** A flow as its packets name it. */
export type FlowName = Omit<QueuePairs, 'senderQpn'>;

export type QueuePairSource = 'cm' | 'reverse-traffic' | 'configured';
const SOURCES: Readonly<Record<QueuePairSource, number>> = { cm: 1, 'reverse-traffic': 2, configured: 3 };

export interface LearnedQueuePair extends QueuePairs {
  readonly source: QueuePairSource;
  /** Of the sender, from the CM exchange. */
  readonly startingPsn: number | null;
  /** Of the last request seen. */
  readonly lastPsn: number | null;
  readonly learnedAt: bigint;
  readonly lastSeen: bigint;
  /** CNPs sent for this flow. */
  readonly cnps: bigint;
  /** Requests of this direction since it was learned, and their frames' bytes: estimates from PSNs, for not every packet is looked at. */
  readonly packets: bigint;
  readonly bytes: bigint;
}

export const FLOW_KEY_SIZE = 40;
export const QUEUE_PAIR_SIZE = 80;
const VALUE = { senderQpn: 0, startingPsn: 4, psn: 8, source: 12, learnedAt: 16, lastSeen: 24, checkedAt: 32, unanswered: 40, cnps: 56, packets: 64, bytes: 72 } as const;
const UNKNOWN = 0xffff_ffff;

export const encodeFlowKey = (flow: FlowName): Uint8Array =>
  structure(FLOW_KEY_SIZE, (view, bytes) => {
    bytes.set(mappedAddress(flow.sender), 0);
    bytes.set(mappedAddress(flow.receiver), 16);
    view.setUint32(32, flow.receiverQpn, LITTLE_ENDIAN);
  });

export const decodeFlowKey = (key: Uint8Array): FlowName => ({
  sender: unmappedAddress(key),
  receiver: unmappedAddress(key.subarray(16)),
  receiverQpn: viewOf(key).getUint32(32, LITTLE_ENDIAN),
});

/** A value of `static_queue_pairs`. Writing one again forgets when its flow was last notified: write only what changed. */
export const encodeStaticQueuePair = (pair: { readonly senderQpn: number; readonly now: bigint }): Uint8Array =>
  structure(QUEUE_PAIR_SIZE, (view, bytes) => {
    view.setUint32(VALUE.senderQpn, pair.senderQpn, LITTLE_ENDIAN);
    view.setUint32(VALUE.startingPsn, UNKNOWN, LITTLE_ENDIAN);
    view.setUint32(VALUE.psn, UNKNOWN, LITTLE_ENDIAN);
    bytes[VALUE.source] = SOURCES.configured;
    for (const at of [VALUE.learnedAt, VALUE.lastSeen, VALUE.checkedAt, VALUE.unanswered]) view.setBigUint64(at, pair.now, LITTLE_ENDIAN);
  });

/** An entry of either map. Undefined when it names no known source: another version wrote it. */
export function decodeQueuePair(key: Uint8Array, value: Uint8Array): LearnedQueuePair | undefined {
  const view = viewOf(value);
  const psn = (at: number): number | null => (view.getUint32(at, LITTLE_ENDIAN) === UNKNOWN ? null : view.getUint32(at, LITTLE_ENDIAN));
  const u64 = (at: number): bigint => view.getBigUint64(at, LITTLE_ENDIAN);
  const source = (Object.keys(SOURCES) as QueuePairSource[]).find((name) => SOURCES[name] === value[VALUE.source]);
  return (
    source && {
      ...decodeFlowKey(key),
      senderQpn: view.getUint32(VALUE.senderQpn, LITTLE_ENDIAN),
      source,
      startingPsn: psn(VALUE.startingPsn),
      lastPsn: psn(VALUE.psn),
      learnedAt: u64(VALUE.learnedAt),
      lastSeen: u64(VALUE.lastSeen),
      cnps: u64(VALUE.cnps),
      packets: u64(VALUE.packets),
      bytes: u64(VALUE.bytes),
    }
  );
}
