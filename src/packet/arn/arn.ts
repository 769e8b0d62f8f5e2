// The Adaptive Routing Notification (FCN §4.1.1, Figures 2 to 4; draft-wh-rtgwg-adaptive-routing-arn): a router asks
// its upstream neighbor to stop a service, a flow or a priority for a while, or to let it go on. Big-endian:
//
//   type 1, version 4 bits, reserved 4 bits, metric 1, Para-Type 1, parameters in the order of their bits:
//   bit 0 flow identifier, bit 1 path identifier 4, bit 2 priority 4, bit 3 compression time 4
//
// The drafts leave open which end of Para-Type bit 0 is, how a five-tuple is written, and the unit of the time. Here
// (docs/explanation/decisions.md, "ARN") bit 0 is the most significant one unless `bitOrder` says otherwise. A flow
// identifier is source, destination, protocol 1, source port 2, destination port 2, and three zeros: 16 bytes of IPv4,
// 40 of IPv6. The message has no field for the family; its length tells them apart, so that whoever cut an IPv6 flow by
// 24 bytes would have made an IPv4 flow of it: take only what has a right UDP checksum. Time is in microseconds.
import type { Family } from '../../model/address.ts';
import type { ArnBitOrder } from '../../model/code-points.ts';
import { ok } from '../../model/result.ts';
import { concat, put32, u32 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import { type FiveTuple, TUPLE_SIZE, encodeTuple, readTuple } from '../ip/five-tuple.ts';

/** In the order of their numbers, from 1. In flow control the first has a time, and the second ends it. */
export const ARN_TYPES = ['congestion', 'congestion-eliminated', 'failure', 'failure-eliminated'] as const;
export type ArnType = (typeof ARN_TYPES)[number];

export interface Arn {
  readonly type: ArnType;
  /** 0 … 255. */
  readonly metric: number;
  readonly flow?: FiveTuple;
  readonly pathId?: number;
  /** 0 … 7, as PFC counts. */
  readonly priority?: number;
  /** Compression time in microseconds; 0 is no time of `congestion`. */
  readonly pauseUs?: number;
}

/** What an ARN stops: all of a tunnel's packets, one flow, or a priority. */
export type ArnScope = 'service' | 'flow' | 'priority';

const VERSION = 1;
const HEADER = 4;
const PARAMETER = 4;
const HIGHEST_PRIORITY = 7;
/** Zeros behind a five-tuple, up to whole words. */
const PADDING = new Uint8Array(3);
/** Bits of Para-Type that have a meaning, as numbers of the draft. */
const [FLOW, PATH, PRIORITY, TIME]: readonly [number, number, number, number] = [0, 1, 2, 3];
const KNOWN = [FLOW, PATH, PRIORITY, TIME];
/** IPv4, IPv6 and SRH in IP: a five-tuple of such a protocol names a tunnel. */
const TUNNELS: ReadonlySet<number> = new Set([4, 41, 43]);

const mask = (bit: number, order: ArnBitOrder): number => (order === 'msb-first' ? 0x80 >>> bit : 1 << bit);

/** The message, from its type. @throws EncodeError `bad-field`, `bad-tuple`, `no-time` */
export function encodeArn(arn: Arn, bitOrder: ArnBitOrder = 'msb-first'): Uint8Array {
  const { type, metric, flow, pathId, priority, pauseUs } = arn;
  if (type === 'congestion' && pauseUs === 0) throw new EncodeError('no-time', 'a pause of 0 µs');
  const header = new Uint8Array(HEADER);
  header[0] = ARN_TYPES.indexOf(type) + 1;
  header[1] = VERSION << 4;
  header[2] = field('metric', metric, 8);
  const parts: Uint8Array[] = [header];
  const add = (bit: number, bytes: Uint8Array): void => {
    header[3]! |= mask(bit, bitOrder);
    parts.push(bytes);
  };
  if (flow) add(FLOW, concat(encodeTuple(flow), PADDING));
  if (pathId !== undefined) add(PATH, word('path identifier', pathId, 32));
  if (priority !== undefined) add(PRIORITY, word('priority', priority, 3));
  if (pauseUs !== undefined) add(TIME, word('compression time', pauseUs, 32));
  return concat(...parts);
}

function word(name: string, value: number, bits: number): Uint8Array {
  const bytes = new Uint8Array(PARAMETER);
  put32(bytes, 0, field(name, value, bits));
  return bytes;
}

/**
 * Reserved bits and padding are ignored. Codes: `truncated`: no whole header; `bad-version`; `bad-type`;
 * `unknown-parameter`: a bit of Para-Type whose parameter has no known length; `bad-length`: not what Para-Type says;
 * `bad-priority`: above 7; `no-time`: congestion with a time of 0.
 */
export function decodeArn(bytes: Uint8Array, bitOrder: ArnBitOrder = 'msb-first'): Decoded<Arn> {
  if (bytes.length < HEADER) return malformed('truncated', bytes.length, 'shorter than the header of an ARN');
  const version = bytes[1]! >>> 4;
  if (version !== VERSION) return malformed('bad-version', 1, `version ${version}`);
  const type = ARN_TYPES[bytes[0]! - 1];
  if (!type) return malformed('bad-type', 0, `type ${bytes[0]!}`);
  const paraType = bytes[3]!;
  const has = (bit: number): boolean => (paraType & mask(bit, bitOrder)) !== 0;
  const known = KNOWN.reduce((bits, bit) => bits | mask(bit, bitOrder), 0);
  if ((paraType & ~known) !== 0) return malformed('unknown-parameter', 3, `Para-Type 0x${paraType.toString(16)}`);
  const words = [PATH, PRIORITY, TIME].filter(has);
  const rest = bytes.length - HEADER - PARAMETER * words.length;
  const family = familyOf(rest);
  if (has(FLOW) ? family === undefined : rest !== 0)
    return malformed('bad-length', bytes.length, `${bytes.length} bytes with Para-Type 0x${paraType.toString(16)}`);
  const afterFlow = bytes.length - PARAMETER * words.length;
  const at = (bit: number): number => afterFlow + PARAMETER * words.indexOf(bit);
  const value = (bit: number): number | undefined => (has(bit) ? u32(bytes, at(bit)) : undefined);
  const [pathId, priority, pauseUs] = [value(PATH), value(PRIORITY), value(TIME)];
  if (priority !== undefined && priority > HIGHEST_PRIORITY)
    return malformed('bad-priority', at(PRIORITY), `priority ${priority}`);
  if (type === 'congestion' && pauseUs === 0) return malformed('no-time', at(TIME), 'a pause of 0 µs');
  return ok({
    type,
    metric: bytes[2]!,
    ...(family && { flow: readTuple(bytes, HEADER, family) }),
    ...(pathId !== undefined && { pathId }),
    ...(priority !== undefined && { priority }),
    ...(pauseUs !== undefined && { pauseUs }),
  });
}

const familyOf = (size: number): Family | undefined =>
  ([4, 6] as const).find((family) => size === TUPLE_SIZE[family] + PADDING.length);

/**
 * What precise flow control (FCN §4.1.2) is to stop or let go on: `service` for the five-tuple of an outer header,
 * which has a tunnel's protocol and no ports, `flow` for any other. Undefined: neither flow nor priority is named, or
 * both are.
 */
export function scopeOf({ flow, priority }: Arn): ArnScope | undefined {
  if ((flow === undefined) === (priority === undefined)) return undefined;
  if (!flow) return 'priority';
  return TUNNELS.has(flow.protocol) && flow.sourcePort === 0 && flow.destinationPort === 0 ? 'service' : 'flow';
}
