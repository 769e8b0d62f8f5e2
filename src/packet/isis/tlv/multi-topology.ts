// TLV 229, Multi-Topology (RFC 5120 §7.1): the topologies a router takes part in.
import { ok } from '../../../model/result.ts';
import { put16, u16 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import type { MultiTopology } from './types.ts';
import { type TlvCodec } from './codec.ts';

const OVERLOAD = 0x8000;
const ATTACHED = 0x4000;

export const MULTI_TOPOLOGY: TlvCodec<MultiTopology> = {
  type: 229,
  name: 'multi-topology',
  decode(value) {
    if (value.length % 2 !== 0) return malformed('bad-length', 0, `${value.length} bytes are not whole topology IDs`);
    const topologies = Array.from({ length: value.length / 2 }, (_, i) => {
      const word = u16(value, i * 2);
      return { id: word & 0xfff, overload: (word & OVERLOAD) !== 0, attached: (word & ATTACHED) !== 0 };
    });
    return ok({ kind: 'multi-topology', topologies });
  },
  encode({ topologies }) {
    const out = new Uint8Array(topologies.length * 2);
    for (const [i, t] of topologies.entries()) {
      put16(out, i * 2, field('topology ID', t.id, 12) | (t.overload ? OVERLOAD : 0) | (t.attached ? ATTACHED : 0));
    }
    return out;
  },
};
