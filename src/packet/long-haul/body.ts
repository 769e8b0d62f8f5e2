// What both forms of a Long-haul CNP carry (LHCNP §6.1, §6.2.4): a fixed body of 12 octets, then perhaps extension
// objects. Big-endian:
//
//   congestion level 1, action 1 (upper two bits), parameter 2, source Queue Pair 4, metric type 1, metric value 3
//
// The body is an order to a sender, so a combination that contradicts itself is refused as a whole (LHCNP-9-h) and
// nothing is made of it: Notify with a parameter, Pause of 0, more than 100 percent, a level of "no congestion" that
// slows a flow down, a Queue Pair of more than 24 bits, an ECN marking rate above 100 percent. The encoder refuses
// the same.
import { LONG_HAUL_ACTIONS, type LongHaulAction, type LongHaulInstruction } from '../../model/notification.ts';
import { type Result, fail, ok } from '../../model/result.ts';
import { concat, put16, put24, put32, u16, u24, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { decodeExtensions, encodeExtensions } from '../icmpv6/objects.ts';
import { type LongHaulObject, readObject, writeObject } from './objects.ts';

/** LHCNP-6.1-a. */
export const BODY_LENGTH = 12;

/**
 * Metric Types (LHCNP-6.1-l, LHCNP-10.4-a); 5-253 are unassigned, 254 and 255 experimental. 0 makes the value opaque
 * (LHCNP-6.1-m).
 */
export const METRIC = {
  unspecified: 0,
  queueDepthKb: 1,
  queueGrowthKbPerMs: 2,
  ecnMarkingPercent: 3,
  rttUs: 4,
} as const;
const MAX_METRIC_VALUE = 0xffffff;

export interface Metric {
  readonly type: number;
  /** 24 bits; a kilobyte is 1000 bytes (LHCNP §7: 130 MB is 130000). */
  readonly value: number;
}

/** The metric of a node that does not disclose its queues (LHCNP-6.1-n, LHCNP-9-g). */
export const UNDISCLOSED: Metric = { type: METRIC.unspecified, value: 0 };

/** A queue depth in bytes as a metric: whole kilobytes, saturated at 24 bits. */
export const queueDepthMetric = (bytes: number): Metric => ({
  type: METRIC.queueDepthKb,
  value: Math.min(MAX_METRIC_VALUE, Math.floor(bytes / 1000)),
});

export interface LongHaulCnp extends LongHaulInstruction {
  /** The Queue Pair at the sender that is to act. */
  readonly sourceQpn: number;
  readonly metric: Metric;
  readonly objects: readonly LongHaulObject[];
}

const percent = (p: number): string | undefined => (p > 100 ? `${p} percent` : undefined);

/** The error in the parameter of each action; Resume 0 is unconditional. */
const PARAMETER: Readonly<Record<LongHaulAction, (parameter: number) => string | undefined>> = {
  notify: (p) => (p === 0 ? undefined : `Notify with parameter ${p}`),
  pause: (p) => (p === 0 ? 'a pause of 0 µs' : undefined),
  'rate-reduce': percent,
  resume: percent,
};

type Inconsistency = { readonly code: string; readonly at: number; readonly detail: string };

/** The checks of LHCNP-9-h. Codes: `bad-parameter`, `bad-level`, `bad-queue-pair`, `bad-metric`. */
function consistent(cnp: Omit<LongHaulCnp, 'objects'>): Result<undefined, Inconsistency> {
  const parameter = PARAMETER[cnp.action](cnp.parameter);
  if (parameter !== undefined) return fail({ code: 'bad-parameter', at: 2, detail: parameter });
  if (cnp.level === 0 && (cnp.action === 'pause' || cnp.action === 'rate-reduce'))
    return fail({ code: 'bad-level', at: 0, detail: `${cnp.action} without congestion` });
  if (cnp.sourceQpn > 0xffffff) return fail({ code: 'bad-queue-pair', at: 4, detail: `Queue Pair ${cnp.sourceQpn}` });
  if (cnp.metric.type === METRIC.ecnMarkingPercent && cnp.metric.value > 100)
    return fail({ code: 'bad-metric', at: 9, detail: `ECN marking rate of ${cnp.metric.value} percent` });
  return ok(undefined);
}

function field(name: string, value: number, bits: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits)
    throw new EncodeError('bad-field', `${name} ${value}`);
  return value;
}

/** Body, and Extension Header with objects when there are any. @throws EncodeError */
export function encodeLongHaul(cnp: LongHaulCnp, objectClass: number): Uint8Array {
  const body = new Uint8Array(BODY_LENGTH);
  body[0] = field('congestion level', cnp.level, 8);
  body[1] = LONG_HAUL_ACTIONS.indexOf(cnp.action) << 6;
  put16(body, 2, field('parameter', cnp.parameter, 16));
  put32(body, 4, field('Queue Pair', cnp.sourceQpn, 24));
  body[8] = field('metric type', cnp.metric.type, 8);
  put24(body, 9, field('metric value', cnp.metric.value, 24));
  const check = consistent(cnp);
  if (!check.ok) throw new EncodeError(check.error.code, check.error.detail);
  return concat(body, encodeExtensions(cnp.objects.map((object) => writeObject(object, objectClass))));
}

interface LongHaulReading {
  /** The code point `long-haul-object-class`. */
  readonly objectClass: number;
  /** Exactly so many zero bytes may replace the objects (see roce/long-haul-cnp.ts). 0 when absent. */
  readonly padding?: number;
}

/**
 * The body at `offset` and what follows it up to `end`. Codes: `truncated`, those of `consistent` and of
 * decodeExtensions.
 */
export function decodeLongHaul(
  bytes: Uint8Array,
  offset: number,
  end: number,
  reading: LongHaulReading,
): Decoded<LongHaulCnp> {
  if (offset + BODY_LENGTH > end)
    return malformed('truncated', offset, 'shorter than the 12 octets of a Long-haul CNP');
  const fixed = {
    level: bytes[offset]!,
    // The lower six bits are ignored (LHCNP-6.1-h).
    action: LONG_HAUL_ACTIONS[bytes[offset + 1]! >>> 6]!,
    parameter: u16(bytes, offset + 2),
    sourceQpn: u32(bytes, offset + 4),
    metric: { type: bytes[offset + 8]!, value: u24(bytes, offset + 9) },
  };
  const check = consistent(fixed);
  if (!check.ok) return malformed(check.error.code, offset + check.error.at, check.error.detail);
  const rest = offset + BODY_LENGTH;
  // Objects are there when the message is longer than its body, and only then (LHCNP-6.1.1-j).
  if (rest === end || isPadding(bytes, rest, end, reading.padding ?? 0)) return ok({ ...fixed, objects: [] });
  const extensions = decodeExtensions(bytes, rest, end);
  if (!extensions.ok) return extensions;
  return ok({ ...fixed, objects: extensions.value.map((object) => readObject(object, reading.objectClass)) });
}

const isPadding = (bytes: Uint8Array, from: number, end: number, length: number): boolean =>
  end - from === length && bytes.subarray(from, end).every((byte) => byte === 0);
