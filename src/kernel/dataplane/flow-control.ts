// Precise flow control (FCN §4.1) in the maps of hold.bpf.o (bpf/lib/flow-control/layout.h): its configuration, what
// has been told, and the records of packets that found a queue filled. Held traffic is in holds.ts. Times are
// nanoseconds of CLOCK_MONOTONIC.
import type { FilledQueue, FillingTraffic, FlowControlMode } from '../../model/flow-control.ts';
import { HOLD_KIND, KIND_OF_MODE, decodeTrafficKey, encodeHoldKey } from './hold-key.ts';
import { LITTLE_ENDIAN, structure, u32Key, unmappedAddressAt } from './layout.ts';

export const FLOW_CONTROL_PROGRAMS = {
  /** tc ingress of interfaces behind which there are upstream neighbors. */
  arrival: 'flow_control_arrival',
  /** tc egress of ports that are watched, or hold traffic. */
  egress: 'flow_control_egress',
} as const;

export const FLOW_CONTROL_MAPS = {
  /** One entry, key FLOW_CONTROL_KEY: encodeFlowControlConfig. */
  config: 'flow_control_config',
  /** One u64, key FLOW_CONTROL_KEY; write 0 when the rate changes. */
  bucket: 'flow_control_bucket',
  /** Key toldKey: when a packet of this traffic that found this queue filled has been reported last. */
  told: 'flow_control_told',
  /** decodeFilledQueue. */
  records: 'flow_control_records',
} as const;

/**
 * Neither what has been told nor the way packets arrive needs to survive other programs: the next packets show both.
 * With the same programs they live on, as they do while cnpd runs; all of it is of the last moments. Records of an
 * earlier run are about queues as they were then: whoever reads them skips what is there (reconcile/flow-control.ts).
 */
export const FLOW_CONTROL_SCRATCH_MAPS = [
  'flow_control_arrivals',
  'flow_control_bucket',
  'flow_control_largest',
  'flow_control_records',
  'flow_control_shares',
  'flow_control_ways',
  'flow_control_told',
] as const;

export const FLOW_CONTROL_KEY = u32Key(0);
/** By DSCP. */
const PRIORITIES = 64;
const HIGHEST_PRIORITY = 7;

export interface FlowControlConfig {
  readonly mode: FlowControlMode;
  /** Least time between two records of the same traffic from the same interface about the same queue. */
  readonly intervalNs: number;
  /** Limit for all records together. */
  readonly perSecond: number;
  /** Records that may come back to back, at least 1. */
  readonly burst: number;
  /** 64 entries, by DSCP: 0 … 7. */
  readonly priorities: readonly number[];
}

/** Offsets in struct flow_control_config. */
export const FLOW_CONTROL_CONFIG_SIZE = 96;
const CONFIG = { kind: 0, interval: 8, spacing: 16, burst: 24, priorities: 32 } as const;

/** @throws RangeError for a token bucket, or a priority, that is impossible */
export function encodeFlowControlConfig(config: FlowControlConfig): Uint8Array {
  const { mode, intervalNs, perSecond, burst, priorities } = config;
  if (!(perSecond > 0) || !(burst >= 1)) throw new RangeError(`no token bucket: ${perSecond}/s, burst ${burst}`);
  const isPriority = (n: number): boolean => Number.isInteger(n) && n >= 0 && n <= HIGHEST_PRIORITY;
  if (priorities.length !== PRIORITIES || !priorities.every(isPriority))
    throw new RangeError(`no priorities of ${PRIORITIES} DSCPs: ${priorities.join()}`);
  // Rounded up: never above the rate.
  const spacing = BigInt(Math.ceil(1e9 / perSecond));
  return structure(FLOW_CONTROL_CONFIG_SIZE, (view, bytes) => {
    view.setUint32(CONFIG.kind, HOLD_KIND[KIND_OF_MODE[mode]], LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.interval, BigInt(Math.ceil(intervalNs)), LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.spacing, spacing, LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.burst, BigInt(Math.floor(burst) - 1) * spacing, LITTLE_ENDIAN);
    bytes.set(priorities, CONFIG.priorities);
  });
}

/** Rate and burst in a value of encodeFlowControlConfig, for comparison. */
export const flowControlBucketOf = (value: Uint8Array): string =>
  Buffer.from(value.subarray(CONFIG.spacing, CONFIG.priorities)).toString('hex');

/** struct flow_control_record, and the offsets in it. */
export const FLOW_CONTROL_RECORD_SIZE = 88;
const RECORD = { time: 0, traffic: 8, cameFrom: 56, egress: 72, depth: 76, mac: 80, reason: 86 } as const;
const MAC_LENGTH = 6;
/** enum flow_control_reason. */
export const FLOW_CONTROL_REASON = { queue: 1, held: 2 } as const satisfies Record<FilledQueue['reason'], number>;
const REASONS = new Map<number, FilledQueue['reason']>([
  [FLOW_CONTROL_REASON.queue, 'queue'],
  [FLOW_CONTROL_REASON.held, 'held'],
]);

/** Offsets in struct flow_control_told_key, after the traffic, whose interface is that at which it arrives. */
const TOLD = { size: 56, egress: 48, reason: 52 } as const;

export const toldKey = ({ traffic, ingress, egress, reason }: FillingTraffic): Uint8Array =>
  structure(TOLD.size, (view, bytes) => {
    bytes.set(encodeHoldKey({ traffic, egress: ingress }));
    view.setUint32(TOLD.egress, egress, LITTLE_ENDIAN);
    view.setUint32(TOLD.reason, FLOW_CONTROL_REASON[reason], LITTLE_ENDIAN);
  });

/**
 * One record of the ring buffer, of `length` bytes at `offset`.
 * @throws RangeError: the record has another size, or undefined numbers (the ring of another version)
 */
export function decodeFilledQueue(view: DataView, offset: number, length: number): FilledQueue {
  if (length !== FLOW_CONTROL_RECORD_SIZE)
    throw new RangeError(`a record of flow control has ${FLOW_CONTROL_RECORD_SIZE} bytes, not ${length}`);
  const key = decodeTrafficKey(view, offset + RECORD.traffic);
  const reason = REASONS.get(view.getUint8(offset + RECORD.reason));
  if (!key || !reason) throw new RangeError(`reason ${view.getUint8(offset + RECORD.reason)}, kind of traffic`);
  return {
    atNs: view.getBigUint64(offset + RECORD.time, LITTLE_ENDIAN),
    traffic: key.traffic,
    ingress: key.egress,
    cameFrom: unmappedAddressAt(view, offset + RECORD.cameFrom),
    // A copy: the ring is written again.
    sourceMac: new Uint8Array(view.buffer, view.byteOffset + offset + RECORD.mac, MAC_LENGTH).slice(),
    egress: view.getUint32(offset + RECORD.egress, LITTLE_ENDIAN),
    reason,
    depth: view.getUint32(offset + RECORD.depth, LITTLE_ENDIAN),
  };
}
