// TLV 240, Point-to-Point Three-Way Adjacency (RFC 5303 §3.1): state, our circuit ID, and the neighbor we see, each
// part optional after the one before it.
import { ok } from '../../../model/result.ts';
import { concat, put32, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { exactly, field } from '../../field.ts';
import { SYSTEM_ID_LENGTH } from '../lsp-id.ts';
import type { ThreeWayAdjacency, ThreeWayState } from './types.ts';
import { type TlvCodec } from './codec.ts';

/** Index is the value on the wire. */
const STATES: readonly ThreeWayState[] = ['up', 'initializing', 'down'];
const LENGTHS: readonly number[] = [1, 5, 11, 15];

function circuit(id: number): Uint8Array {
  const out = new Uint8Array(4);
  put32(out, 0, field('extended circuit ID', id, 32));
  return out;
}

export const THREE_WAY_ADJACENCY: TlvCodec<ThreeWayAdjacency> = {
  type: 240,
  name: 'three-way-adjacency',
  decode(value) {
    const { length } = value;
    if (!LENGTHS.includes(length)) return malformed('bad-length', 0, `${length} bytes; 1, 5, 11 or 15 are allowed`);
    const state = STATES[value[0]!];
    if (state === undefined) return malformed('bad-state', 0, `adjacency state ${value[0]}`);
    return ok({
      kind: 'three-way-adjacency',
      state,
      ...(length >= 5 && { circuitId: u32(value, 1) }),
      ...(length >= 11 && { neighborSystemId: value.subarray(5, 11) }),
      ...(length >= 15 && { neighborCircuitId: u32(value, 11) }),
    });
  },
  encode({ state, circuitId, neighborSystemId, neighborCircuitId }) {
    const parts: Uint8Array[] = [Uint8Array.of(STATES.indexOf(state))];
    if (circuitId !== undefined) parts.push(circuit(circuitId));
    if (neighborSystemId) parts.push(exactly('system ID', neighborSystemId, SYSTEM_ID_LENGTH));
    if (neighborCircuitId !== undefined) parts.push(circuit(neighborCircuitId));
    const out = concat(...parts);
    if (!LENGTHS.includes(out.length) || (circuitId === undefined && out.length > 1)) {
      throw new EncodeError('bad-field', 'each part of TLV 240 needs the one before it');
    }
    return out;
  },
};
