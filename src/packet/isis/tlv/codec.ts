// The codec of a TLV: one row of the table in tlvs.ts. To add a TLV, add a file beside this one and a row there.
import type { DecodeError, Decoded } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import type { IsisTlv, PrefixSubTlv } from './types.ts';

export interface TlvCodec<T extends IsisTlv = IsisTlv> {
  readonly type: number;
  readonly name: T['kind'];
  /** Decodes a value whose length is the TLV's; error offsets count from its start. */
  decode(value: Uint8Array, report: SubTlvReport): Decoded<T>;
  /**
   * @returns the value, without type and length.
   * @throws EncodeError
   */
  encode(tlv: T): Uint8Array;
}

/** The same for a sub-TLV of a prefix or a SID: one row of the table in sub-tlvs.ts. */
export interface SubTlvCodec<T extends PrefixSubTlv = PrefixSubTlv> {
  readonly type: number;
  readonly name: T['kind'];
  decode(value: Uint8Array): Decoded<T>;
  encode(subTlv: T): Uint8Array;
}

/** Called for a known sub-TLV with a malformed value; it is kept as unknown, and the TLV around it is used. */
export type SubTlvReport = (subType: number, error: DecodeError) => void;

export const MAX_VALUE = 255;

/** Type, length, value. @throws EncodeError `tlv-too-long` */
export function tlvBytes(type: number, value: Uint8Array): Uint8Array {
  if (value.length > MAX_VALUE)
    throw new EncodeError('tlv-too-long', `TLV ${type} would hold ${value.length} bytes; 255 fit`);
  const out = new Uint8Array(2 + value.length);
  out[0] = type;
  out[1] = value.length;
  out.set(value, 2);
  return out;
}
