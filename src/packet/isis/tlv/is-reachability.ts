// TLV 22, Extended IS Reachability (RFC 5305 §3), and TLV 222, the same in a topology (RFC 5120 §7.1). The
// traffic-engineering sub-TLVs of a neighbor stay bytes.
import { ok } from '../../../model/result.ts';
import { concat, put16, put24, u16, u24 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { exactly, field } from '../../field.ts';
import { SYSTEM_ID_LENGTH } from '../lsp-id.ts';
import type { ExtendedIsReachability, IsNeighbor, MtIsReachability } from './types.ts';
import { MAX_VALUE, type TlvCodec } from './codec.ts';

/** System ID 6, pseudonode 1, metric 3, length of the sub-TLVs 1. */
export const NEIGHBOR_FIXED = 11;

/** Bytes of the neighbor at `at`, whose fixed part is there. */
export const neighborLength = (bytes: Uint8Array, at: number): number => NEIGHBOR_FIXED + bytes[at + 10]!;

export const neighborMetric = (bytes: Uint8Array, at: number): number => u24(bytes, at + 7);

function decodeNeighbors(value: Uint8Array, start: number): Decoded<IsNeighbor[]> {
  const neighbors: IsNeighbor[] = [];
  for (let at = start; at < value.length;) {
    if (at + NEIGHBOR_FIXED > value.length) return malformed('neighbor-overrun', at, 'a neighbor exceeds the TLV');
    const next = at + neighborLength(value, at);
    if (next > value.length) return malformed('sub-tlv-overrun', at + 10, "a neighbor's sub-TLVs exceed the TLV");
    neighbors.push({
      systemId: value.subarray(at, at + 6),
      pseudonode: value[at + 6]!,
      metric: neighborMetric(value, at),
      subTlvs: value.subarray(at + NEIGHBOR_FIXED, next),
    });
    at = next;
  }
  return ok(neighbors);
}

function encodeNeighbor(neighbor: IsNeighbor): Uint8Array {
  const out = new Uint8Array(NEIGHBOR_FIXED + neighbor.subTlvs.length);
  out.set(exactly('system ID', neighbor.systemId, SYSTEM_ID_LENGTH));
  out[6] = field('pseudonode', neighbor.pseudonode, 8);
  put24(out, 7, field('link metric', neighbor.metric, 24));
  out[10] = field('length of sub-TLVs', neighbor.subTlvs.length, 8);
  out.set(neighbor.subTlvs, NEIGHBOR_FIXED);
  return out;
}

export const EXTENDED_IS_REACHABILITY: TlvCodec<ExtendedIsReachability> = {
  type: 22,
  name: 'extended-is-reachability',
  decode(value) {
    const neighbors = decodeNeighbors(value, 0);
    return neighbors.ok ? ok({ kind: 'extended-is-reachability', neighbors: neighbors.value }) : neighbors;
  },
  encode: ({ neighbors }) => concat(...neighbors.map(encodeNeighbor)),
};

export const MT_IS_REACHABILITY: TlvCodec<MtIsReachability> = {
  type: 222,
  name: 'mt-is-reachability',
  decode(value) {
    if (value.length < 2) return malformed('bad-length', 0, 'no topology ID');
    const neighbors = decodeNeighbors(value, 2);
    return neighbors.ok
      ? ok({ kind: 'mt-is-reachability', mtId: u16(value, 0) & 0xfff, neighbors: neighbors.value })
      : neighbors;
  },
  encode({ mtId, neighbors }) {
    const topology = new Uint8Array(2);
    put16(topology, 0, field('topology ID', mtId, 12));
    return concat(topology, ...neighbors.map(encodeNeighbor));
  },
};

/** Distributes neighbors over as many TLVs 22 as they need. */
export function packNeighbors(neighbors: readonly IsNeighbor[]): ExtendedIsReachability[] {
  const tlvs: IsNeighbor[][] = [];
  let headroom = 0;
  for (const neighbor of neighbors) {
    const size = NEIGHBOR_FIXED + neighbor.subTlvs.length;
    if (size > headroom) {
      tlvs.push([]);
      headroom = MAX_VALUE;
    }
    tlvs.at(-1)!.push(neighbor);
    headroom -= size;
  }
  return tlvs.map((list) => ({ kind: 'extended-is-reachability', neighbors: list }));
}
