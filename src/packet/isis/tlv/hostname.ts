// TLV 137, Dynamic Hostname (RFC 5301 §3): 1 to 255 bytes of ASCII. Names reach logs and terminals, so anything
// unprintable is malformed.
import { ok } from '../../../model/result.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import type { Hostname } from './types.ts';
import type { TlvCodec } from './codec.ts';

const printable = (byte: number): boolean => byte >= 0x20 && byte <= 0x7e;

export const HOSTNAME: TlvCodec<Hostname> = {
  type: 137,
  name: 'hostname',
  decode(value) {
    if (value.length === 0) return malformed('bad-length', 0, 'an empty name');
    const bad = value.findIndex((byte) => !printable(byte));
    if (bad >= 0) return malformed('unprintable', bad, `byte 0x${value[bad]!.toString(16)} in a name`);
    return ok({ kind: 'hostname', name: String.fromCharCode(...value) });
  },
  encode({ name }) {
    if (!/^[\x20-\x7e]+$/.test(name))
      throw new EncodeError('bad-field', `hostname ${JSON.stringify(name)} is not printable ASCII`);
    return Uint8Array.from(name, (c) => c.charCodeAt(0));
  },
};
