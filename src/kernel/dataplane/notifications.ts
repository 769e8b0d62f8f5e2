// The records that the congested node's program writes for each notification that it hands to the builder. They are in
// the ring buffer `notifications` (bpf/lib/detector/layout.h). Also the numbers of formats, actions and reasons in the
// maps.
import type {
  LongHaulAction,
  NotificationFormat,
  NotificationReason,
  SentNotification,
} from '../../model/notification.ts';
import { LITTLE_ENDIAN, unmappedAddressAt } from './layout.ts';

/** enum notification_format. */
export const FORMAT_NUMBER: Readonly<Record<NotificationFormat, number>> = {
  proxy: 1,
  'fast-cnp': 2,
  'long-haul-icmpv6': 3,
  'long-haul-roce': 4,
};
/** enum action: as on the wire (LHCNP §5.5.1). */
export const ACTION_NUMBER: Readonly<Record<LongHaulAction, number>> = {
  notify: 0,
  pause: 1,
  'rate-reduce': 2,
  resume: 3,
};
/** enum reason; a Resume is sent by the agent and has none. */
export const REASON_NUMBER: Readonly<Record<Exclude<NotificationReason, 'resume'>, number>> = {
  'queue-depth': 1,
  'ecn-marking-rate': 2,
  'queue-growth': 3,
  escalation: 4,
};

const named = <T extends string>(numbers: Readonly<Record<T, number>>): ReadonlyMap<number, T> =>
  new Map(Object.entries(numbers).map(([name, number]) => [number as number, name as T]));
const FORMAT_NAME = named(FORMAT_NUMBER);
const ACTION_NAME = named(ACTION_NUMBER);
const REASON_NAME = named(REASON_NUMBER);

function lookUp<T>(names: ReadonlyMap<number, T>, what: string, number: number): T {
  const name = names.get(number);
  if (name === undefined) throw new RangeError(`${number} is no ${what}`);
  return name;
}

/** @throws RangeError */
export const actionOf = (number: number): LongHaulAction => lookUp(ACTION_NAME, 'action', number);
/** @throws RangeError */
export const formatOf = (number: number): NotificationFormat => lookUp(FORMAT_NAME, 'notification format', number);

export const isLongHaul = (format: NotificationFormat): boolean =>
  format === 'long-haul-icmpv6' || format === 'long-haul-roce';

export const NOTIFICATION_RECORD_SIZE = 88;
/** Offsets in struct notification_record. */
export const RECORD_FIELDS = {
  time: 0,
  source: 8,
  destination: 24,
  endCon: 40,
  ifindex: 56,
  destinationQpn: 60,
  sourceQpn: 64,
  queueBytes: 68,
  format: 72,
  reason: 73,
  action: 74,
  level: 75,
  parameter: 76,
  pkey: 78,
  sourcePort: 80,
  datagram: 82,
} as const;

const isZero = (view: DataView, at: number): boolean =>
  view.getBigUint64(at) === 0n && view.getBigUint64(at + 8) === 0n;

/**
 * One record of the ring buffer, of `length` bytes at `offset`.
 * @throws RangeError: the record has another size, or undefined numbers (the ring of another version)
 */
export function decodeNotification(view: DataView, offset: number, length: number): SentNotification {
  if (length !== NOTIFICATION_RECORD_SIZE)
    throw new RangeError(`a notification record has ${NOTIFICATION_RECORD_SIZE} bytes, not ${length}`);
  const u32 = (field: number): number => view.getUint32(offset + field, LITTLE_ENDIAN);
  const u8 = (field: number): number => view.getUint8(offset + field);
  const format = formatOf(u8(RECORD_FIELDS.format));
  return {
    atNs: view.getBigUint64(offset + RECORD_FIELDS.time, LITTLE_ENDIAN),
    format,
    reason: lookUp(REASON_NAME, 'reason', u8(RECORD_FIELDS.reason)),
    ifindex: u32(RECORD_FIELDS.ifindex),
    source: unmappedAddressAt(view, offset + RECORD_FIELDS.source),
    destination: unmappedAddressAt(view, offset + RECORD_FIELDS.destination),
    destinationQpn: u32(RECORD_FIELDS.destinationQpn),
    sourceQpn: u32(RECORD_FIELDS.sourceQpn),
    endCon: isZero(view, offset + RECORD_FIELDS.endCon) ? null : unmappedAddressAt(view, offset + RECORD_FIELDS.endCon),
    queueBytes: u32(RECORD_FIELDS.queueBytes),
    level: u8(RECORD_FIELDS.level),
    action: isLongHaul(format) ? actionOf(u8(RECORD_FIELDS.action)) : null,
    parameter: view.getUint16(offset + RECORD_FIELDS.parameter, LITTLE_ENDIAN),
    sourcePort: view.getUint16(offset + RECORD_FIELDS.sourcePort),
    pkey: view.getUint16(offset + RECORD_FIELDS.pkey),
    datagram: view.getUint16(offset + RECORD_FIELDS.datagram, LITTLE_ENDIAN) !== 0,
  };
}
