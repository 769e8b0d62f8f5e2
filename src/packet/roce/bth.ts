// The Base Transport Header (InfiniBand vol. 1 §9.2): the first 12 bytes of every RoCEv2 datagram. It names the
// destination Queue Pair only; there is no source Queue Pair in it.
import { ok } from '../../model/result.ts';
import { put16, put24, u16, u24 } from '../bytes.ts';
import { type Decoded, malformed } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';

export const BTH_LENGTH = 12;
/** Partition key of full members of the default partition. */
export const DEFAULT_PKEY = 0xffff;

export interface Bth {
  readonly opcode: number;
  readonly solicited: boolean;
  readonly migration: boolean;
  /** Bytes of padding after the payload, 0..3. */
  readonly padCount: number;
  /** 0. */
  readonly version: number;
  readonly pkey: number;
  readonly fecn: boolean;
  readonly becn: boolean;
  /** The six bits after BECN; 0. (The byte of all eight is not covered by the ICRC.) */
  readonly reserved: number;
  /** 24 bits. */
  readonly destQpn: number;
  readonly ackRequest: boolean;
  /** 24 bits. */
  readonly psn: number;
}

/** The header at `offset`. Code: `truncated`. */
export function decodeBth(bytes: Uint8Array, offset = 0, end = bytes.length): Decoded<Bth> {
  if (offset + BTH_LENGTH > end) return malformed('truncated', offset, 'shorter than a BTH');
  const flags = bytes[offset + 1]!;
  const congestion = bytes[offset + 4]!;
  return ok({
    opcode: bytes[offset]!,
    solicited: (flags & 0x80) !== 0,
    migration: (flags & 0x40) !== 0,
    padCount: (flags >>> 4) & 3,
    version: flags & 0xf,
    pkey: u16(bytes, offset + 2),
    fecn: (congestion & 0x80) !== 0,
    becn: (congestion & 0x40) !== 0,
    reserved: congestion & 0x3f,
    destQpn: u24(bytes, offset + 5),
    ackRequest: (bytes[offset + 8]! & 0x80) !== 0,
    psn: u24(bytes, offset + 9),
  });
}

/** The required fields of a BTH; the rest is 0, false, and the default partition. */
export type BthFields = Pick<Bth, 'opcode' | 'destQpn' | 'psn'> & Partial<Bth>;

/** 12 bytes. @throws EncodeError when a Queue Pair or PSN exceeds 24 bits */
export function encodeBth(fields: BthFields): Uint8Array {
  const { destQpn, psn } = fields;
  if (!Number.isInteger(destQpn) || destQpn < 0 || destQpn > 0xffffff)
    throw new EncodeError('bad-field', `Queue Pair ${destQpn}`);
  if (!Number.isInteger(psn) || psn < 0 || psn > 0xffffff) throw new EncodeError('bad-field', `PSN ${psn}`);
  const out = new Uint8Array(BTH_LENGTH);
  out[0] = fields.opcode;
  out[1] =
    (fields.solicited ? 0x80 : 0) |
    (fields.migration ? 0x40 : 0) |
    (((fields.padCount ?? 0) & 3) << 4) |
    ((fields.version ?? 0) & 0xf);
  put16(out, 2, fields.pkey ?? DEFAULT_PKEY);
  out[4] = (fields.fecn ? 0x80 : 0) | (fields.becn ? 0x40 : 0) | ((fields.reserved ?? 0) & 0x3f);
  put24(out, 5, destQpn);
  out[8] = fields.ackRequest ? 0x80 : 0;
  put24(out, 9, psn);
  return out;
}
