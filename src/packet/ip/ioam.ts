// The IOAM trace option of a packet's Hop-by-Hop header (RFC 9197 §4.4, RFC 9486 §3). A Fast CNP copies it whole
// (FCNP-4-o, FCNP-4-s): node data are not interpreted here.
//
//   option type 0x31, length, reserved 1, IOAM type 1,
//   namespace 2, node length 5 bits | flags 4 | remaining length 7, trace type 3, reserved 1, node data
import { ok } from '../../model/result.ts';
import { u16, u24 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { IPV6_HEADER, decodeIpv6 } from './ipv6.ts';
import { NEXT_HEADER, decodeOptionsHeader } from './options.ts';

/** IOAM in a Hop-by-Hop header: unknown is skipped, data may change on the way (RFC 9486 §3). */
const IOAM_OPTION = 0x31;
/** IOAM Option-Types that are traces (RFC 9197 §4.4). */
export const TRACE = { preallocated: 0, incremental: 1 } as const;
/** Namespace, node length, flags, remaining length, trace type, reserved. */
export const TRACE_HEADER = 8;
/** Reserved and IOAM type, before the trace. */
const LEAD = 2;

export interface IoamTrace {
  /** TRACE. */
  readonly kind: number;
  readonly namespace: number;
  /** Bytes of data that each node adds. */
  readonly nodeLength: number;
  /** O, L, A and a reserved bit. */
  readonly flags: number;
  /** Bytes still free. */
  readonly remaining: number;
  /** Bitmap, 24 bits. */
  readonly traceType: number;
  /** Trace header and node data, as on the wire: 8 + 4k bytes. A view. */
  readonly bytes: Uint8Array;
}

const isTrace = (kind: number | undefined): kind is number => kind === TRACE.preallocated || kind === TRACE.incremental;

/**
 * The trace `bytes` (header and node data) of an IOAM type, undefined when there is none. Codes: `not-a-trace`,
 * `bad-trace-length`.
 */
export function decodeTrace(kind: number | undefined, bytes: Uint8Array): Decoded<IoamTrace> {
  if (!isTrace(kind)) return malformed('not-a-trace', 0, `IOAM type ${kind}`);
  if (bytes.length < TRACE_HEADER || bytes.length % 4 !== 0)
    return malformed('bad-trace-length', 0, `an IOAM trace of ${bytes.length} bytes`);
  const word = u16(bytes, 2);
  return ok({
    kind,
    namespace: u16(bytes, 0),
    nodeLength: (word >>> 11) * 4,
    flags: (word >>> 7) & 0xf,
    remaining: (word & 0x7f) * 4,
    traceType: u24(bytes, 4),
    bytes,
  });
}

/**
 * The first trace in the Hop-by-Hop header of the packet whose IPv6 header is at `offset`; undefined when there is none
 * that can be read. A Hop-by-Hop header is next to the IPv6 header or nowhere (RFC 8200 §4.1).
 */
export function findIoamTrace(packet: Uint8Array, offset = 0): IoamTrace | undefined {
  const header = decodeIpv6(packet, offset);
  if (!header.ok || header.value.nextHeader !== NEXT_HEADER.hopByHop) return undefined;
  const hopByHop = decodeOptionsHeader(packet, offset + IPV6_HEADER, packet.length);
  if (!hopByHop.ok) return undefined;
  for (const { type, data } of hopByHop.value.options) {
    const trace = type === IOAM_OPTION ? decodeTrace(data[1], data.subarray(LEAD)) : undefined;
    if (trace?.ok) return trace.value;
  }
  return undefined;
}
