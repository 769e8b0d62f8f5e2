// What the nodes on the way have written into an IOAM trace (RFC 9197 §4.4.2), the last node first. Each node has the
// fields of the trace type's bits, in the order of the bits, 4 octets each, or 8 where it says `wide`; bit 22 adds a
// state of any length at the end. In a pre-allocated trace the free space is in front, since it fills from its end.
// All ones say that the node does not know a value: undefined here.
import { ok } from '../../model/result.ts';
import { u16, u24, u32, u64 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { type IoamTrace, TRACE, TRACE_HEADER } from './ioam.ts';

export interface IoamNode {
  readonly hopLimit?: number;
  readonly nodeId?: number | bigint;
  /** Interfaces, as numbers of the node. */
  readonly ingress?: number;
  readonly egress?: number;
  /** Of the arrival, in the format of the namespace (RFC 9197 §5). */
  readonly seconds?: number;
  readonly fraction?: number;
  /** Nanoseconds. */
  readonly transitDelay?: number;
  readonly namespaceData?: number;
  /** Of the egress queue, in units of the node. Linux: bytes. */
  readonly queueDepth?: number;
  readonly namespaceDataWide?: bigint;
  readonly bufferOccupancy?: number;
}

type Field = (b: Uint8Array, at: number) => IoamNode;

const UNKNOWN = { 16: 0xffff, 24: 0xff_ffff, 32: 0xffff_ffff, 56: (1n << 56n) - 1n, 64: (1n << 64n) - 1n } as const;

/** The field if it is known. */
const known = <K extends keyof IoamNode>(name: K, value: number | bigint, bits: keyof typeof UNKNOWN): IoamNode =>
  value === UNKNOWN[bits] ? {} : { [name]: value };

/** By bit: the octets of its field, and what they say. */
const FIELDS: readonly (readonly [number, Field])[] = [
  [4, (b, at) => ({ hopLimit: b[at]!, ...known('nodeId', u24(b, at + 1), 24) })],
  [4, (b, at) => ({ ...known('ingress', u16(b, at), 16), ...known('egress', u16(b, at + 2), 16) })],
  [4, (b, at) => known('seconds', u32(b, at), 32)],
  [4, (b, at) => known('fraction', u32(b, at), 32)],
  [4, (b, at) => known('transitDelay', u32(b, at), 32)],
  [4, (b, at) => known('namespaceData', u32(b, at), 32)],
  [4, (b, at) => known('queueDepth', u32(b, at), 32)],
  // The checksum complement says nothing about the node.
  [4, () => ({})],
  [8, (b, at) => ({ hopLimit: b[at]!, ...known('nodeId', u64(b, at) & UNKNOWN[56], 56) })],
  [8, (b, at) => ({ ...known('ingress', u32(b, at), 32), ...known('egress', u32(b, at + 4), 32) })],
  [8, (b, at) => known('namespaceDataWide', u64(b, at), 64)],
  [4, (b, at) => known('bufferOccupancy', u32(b, at), 32)],
];
/** Bits that are not defined yet: their fields have 4 octets each. */
const LAST_FIELD = 21;
const STATE_BIT = 22;

const hasBit = (traceType: number, bit: number): boolean => ((traceType >>> (23 - bit)) & 1) === 1;

function fieldsOf(traceType: number): { readonly length: number; readonly fields: readonly [number, Field][] } {
  const fields: [number, Field][] = [];
  let length = 0;
  for (let bit = 0; bit <= LAST_FIELD; bit++) {
    if (!hasBit(traceType, bit)) continue;
    const [octets, read] = FIELDS[bit] ?? [4, () => ({})];
    fields.push([length, read]);
    length += octets;
  }
  return { length, fields };
}

/**
 * The nodes of a trace, the last one first. Codes: `bad-node-length` (not that of the trace type),
 * `bad-remaining-length` (more than there is), `truncated-node`.
 */
export function decodeTraceNodes({ kind, nodeLength, remaining, traceType, bytes }: IoamTrace): Decoded<IoamNode[]> {
  const { length, fields } = fieldsOf(traceType);
  const state = hasBit(traceType, STATE_BIT);
  if (length !== nodeLength || (length === 0 && !state))
    return malformed('bad-node-length', 2, `${nodeLength} bytes a node, ${length} by its type`);
  let at = TRACE_HEADER + (kind === TRACE.preallocated ? remaining : 0);
  if (at > bytes.length) return malformed('bad-remaining-length', 3, `${remaining} bytes free`);
  const nodes: IoamNode[] = [];
  while (at < bytes.length) {
    const stateLength = state ? stateAt(bytes, at + length) : 0;
    if (at + length + stateLength > bytes.length) return malformed('truncated-node', at, `node ${nodes.length}`);
    const parts = fields.map(([offset, read]) => read(bytes, at + offset));
    nodes.push(Object.assign({}, ...parts) as IoamNode);
    at += length + stateLength;
  }
  return ok(nodes);
}

/** Octets of an opaque state snapshot: its length in words, 24 bits of its schema, and so many words. */
const stateAt = (bytes: Uint8Array, at: number): number => 4 + 4 * (bytes[at] ?? 0);
