// Maps of the source's program (bpf/lib/source/layout.h): which senders it acts for, from whom it takes notifications,
// and the records of those that it believed.
import type { IpAddress } from '../../model/address.ts';
import type { LongHaulAction } from '../../model/notification.ts';
import type { Prefix } from '../../model/prefix.ts';
import {
  RECEIVED_FORMATS,
  type ReceivedFormat,
  type SourceAction,
  type SourceNotification,
} from '../../model/source.ts';
import { LITTLE_ENDIAN, structure, u32Key, unmappedAddressAt } from './layout.ts';
import { FORMAT_NUMBER, actionOf, isLongHaul } from './notifications.ts';

/** In dist/bpf/source.bpf.o: tc ingress of the source's ports, and of the loopback interface. */
export const SOURCE_PROGRAM = 'source';

export const SOURCE_MAPS = {
  config: 'source_config',
  /** Key prefixKey, value encodeSourceSender. */
  senders: 'source_senders',
  /** Key prefixKey, value encodeSourceNode. */
  nodes: 'source_nodes',
  /** Keys SOURCE_BUCKETS, value one u64; write 0 when the rate changes. */
  bucket: 'source_bucket',
  /** Value encodeSourceHolding. */
  holding: 'source_holding',
  records: 'source_records',
} as const;

/** Scratch memory, needs no pin. */
export const SOURCE_SCRATCH_MAPS = ['source_scratch', 'source_headers', 'beliefs', 'proxy_scratch'] as const;

/** The one key of `source_config` and `source_holding`. */
export const SOURCE_KEY = u32Key(0);
/** Of the notifications of routers on the allow-list, and of those of flows' receivers that are not. */
export const SOURCE_BUCKETS = [u32Key(0), u32Key(1)] as const;

export interface SourceConfig {
  readonly fastCnpOption: number;
  readonly fastCnpIoamOption: number;
  readonly icrc: 'cover' | 'skip';
  readonly longHaulIcmpv6Type: number;
  /** Least time between two CNPs for one flow. */
  readonly perFlowIntervalNs: number;
  /** Limit for all notifications of nodes together, and for those of flows' receivers. */
  readonly perSecond: number;
  /** Notifications that may come back to back, at least 1. */
  readonly burst: number;
}

/** Offsets in struct source_config. */
export const SOURCE_CONFIG_SIZE = 32;
const CONFIG = { option: 0, ioamOption: 1, skips: 2, longHaul: 3, interval: 8, spacing: 16, burst: 24 } as const;

/** @throws RangeError when rate or burst are invalid */
export function encodeSourceConfig(config: SourceConfig): Uint8Array {
  if (!(config.perSecond > 0) || !(config.burst >= 1))
    throw new RangeError(`no token bucket: ${config.perSecond}/s, burst ${config.burst}`);
  // Rounded up: never above the rate.
  const spacing = BigInt(Math.ceil(1e9 / config.perSecond));
  return structure(SOURCE_CONFIG_SIZE, (view, bytes) => {
    bytes[CONFIG.option] = config.fastCnpOption;
    bytes[CONFIG.ioamOption] = config.fastCnpIoamOption;
    bytes[CONFIG.skips] = Number(config.icrc === 'skip');
    bytes[CONFIG.longHaul] = config.longHaulIcmpv6Type;
    view.setBigUint64(CONFIG.interval, BigInt(Math.ceil(config.perFlowIntervalNs)), LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.spacing, spacing, LITTLE_ENDIAN);
    view.setBigUint64(CONFIG.burst, BigInt(Math.floor(config.burst) - 1) * spacing, LITTLE_ENDIAN);
  });
}

/** The rate and burst in a value of encodeSourceConfig, for comparison. */
export const bucketOf = (value: Uint8Array): string => Buffer.from(value.subarray(CONFIG.spacing)).toString('hex');

/** What the agent can do in place of hosts. */
export interface SourceHolding {
  /** CLOCK_MONOTONIC: until then flows are held. 0: none is. */
  readonly untilNs: bigint;
  /** Whether further flows can be. */
  readonly room: boolean;
}

export const encodeSourceHolding = ({ untilNs, room }: SourceHolding): Uint8Array =>
  structure(16, (view, bytes) => {
    view.setBigUint64(0, untilNs, LITTLE_ENDIAN);
    bytes[8] = Number(room);
  });

/** enum source_action. */
export const SOURCE_ACTION_NUMBER: Readonly<Record<SourceAction, number>> = { pass: 1, convert: 2, enforce: 3 };
const ACTION_NAME = new Map<number, SourceAction>(
  (Object.keys(SOURCE_ACTION_NUMBER) as SourceAction[]).map((name) => [SOURCE_ACTION_NUMBER[name], name]),
);

/** struct source_prefix. */
export const SOURCE_PREFIX_SIZE = 8;

/** Value of a declared sender prefix. */
export const encodeSourceSender = (sender: { readonly prefix: Prefix; readonly action: SourceAction }): Uint8Array =>
  Uint8Array.of(sender.prefix.address.family, SOURCE_ACTION_NUMBER[sender.action], 0, 0, 0, 0, 0, 0);

/** Value of a prefix from which notifications are accepted. */
export const encodeSourceNode = (prefix: Prefix): Uint8Array =>
  Uint8Array.of(prefix.address.family, 0, 0, 0, 0, 0, 0, 0);

export const SOURCE_RECORD_SIZE = 80;
/** struct source_trace_record, and the offsets in it. */
export const SOURCE_TRACE_RECORD_SIZE = 320;
const TRACE = { kind: 80, length: 81, bytes: 82, most: 238 } as const;
/** Offsets in struct source_record. */
export const SOURCE_RECORD_FIELDS = {
  time: 0,
  sender: 8,
  receiver: 24,
  node: 40,
  receiverQpn: 56,
  senderQpn: 60,
  metric: 64,
  ifindex: 68,
  parameter: 72,
  level: 74,
  instruction: 75,
  format: 76,
  action: 77,
} as const;

/** FORMAT_NONE: a standard CNP of the receiver. */
const FORMAT_NAME = new Map<number, ReceivedFormat>(
  RECEIVED_FORMATS.map((name) => [name === 'standard-cnp' ? 0 : FORMAT_NUMBER[name], name]),
);

/** @throws RangeError: longer than its place */
function traceIn(view: DataView, offset: number): SourceNotification['trace'] {
  const length = view.getUint8(offset + TRACE.length);
  if (length > TRACE.most) throw new RangeError(`a trace of ${length} bytes`);
  const start = view.byteOffset + offset + TRACE.bytes;
  // A copy: the ring is written again.
  return { kind: view.getUint8(offset + TRACE.kind), bytes: new Uint8Array(view.buffer, start, length).slice() };
}

/**
 * One record of the ring buffer, of `length` bytes at `offset`.
 * @throws RangeError: the record has another size, or undefined numbers (the ring of another version)
 */
export function decodeSourceRecord(view: DataView, offset: number, length: number): SourceNotification {
  if (length !== SOURCE_RECORD_SIZE && length !== SOURCE_TRACE_RECORD_SIZE)
    throw new RangeError(
      `a record of the source has ${SOURCE_RECORD_SIZE} or ${SOURCE_TRACE_RECORD_SIZE} bytes, not ${length}`,
    );
  const at = SOURCE_RECORD_FIELDS;
  const u32 = (field: number): number => view.getUint32(offset + field, LITTLE_ENDIAN);
  const u8 = (field: number): number => view.getUint8(offset + field);
  const address = (field: number): IpAddress => unmappedAddressAt(view, offset + field);
  const format = FORMAT_NAME.get(u8(at.format));
  const action = ACTION_NAME.get(u8(at.action));
  if (!format || !action) throw new RangeError(`format ${u8(at.format)}, action ${u8(at.action)}`);
  const instructs = format !== 'standard-cnp' && isLongHaul(format);
  return {
    atNs: view.getBigUint64(offset + at.time, LITTLE_ENDIAN),
    format,
    action,
    node: address(at.node),
    flow: { sender: address(at.sender), receiver: address(at.receiver), receiverQpn: u32(at.receiverQpn) },
    senderQpn: u32(at.senderQpn),
    ifindex: u32(at.ifindex),
    instruction: instructs
      ? {
          level: u8(at.level),
          action: actionOf(u8(at.instruction)) satisfies LongHaulAction,
          parameter: view.getUint16(offset + at.parameter, LITTLE_ENDIAN),
        }
      : null,
    metric: instructs ? u32(at.metric) : null,
    trace: length === SOURCE_TRACE_RECORD_SIZE ? traceIn(view, offset) : null,
  };
}
