// TLVs of LSAs (RFC 3630 §2.3.2; RFC 7684, 7770, 8362): type 2 bytes, length 2 bytes, value, padded with zeros to a
// multiple of 4. The length does not count the padding. Each list of TLVs is a space of type numbers with a table of
// codecs. TLVs of an unknown type, and TLVs with a malformed value, keep their bytes.
import { concat, put16, u16 } from '../bytes.ts';
import { type DecodeError, type Decoded, malformed, shifted } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { field } from '../field.ts';
import { fail, ok } from '../../model/result.ts';
import type { UnknownTlv } from './lsa/types.ts';

/** A TLV that is skipped; the rest of its LSA is used. */
export interface BadTlv {
  /** Types from the outermost TLV to the bad one. */
  readonly path: readonly number[];
  readonly error: DecodeError;
}

export type TlvReport = (bad: BadTlv) => void;

/** One row of a space's table. */
export interface TlvCodec<T extends { readonly kind: string }> {
  readonly type: number;
  readonly name: T['kind'];
  /** Decodes the value of a TLV. Error offsets count from its start. */
  decode(value: Uint8Array, report: TlvReport): Decoded<T>;
  /**
   * @returns the value, without type, length and padding
   * @throws EncodeError
   */
  encode(tlv: T): Uint8Array;
}

export interface TlvSpace<T> {
  /**
   * Decodes the TLVs that fill bytes `start` … end. An error means that the whole LSA is malformed; a bad value of one
   * TLV is reported and kept as unknown. Values are views of `bytes`.
   */
  decode(bytes: Uint8Array, start: number, report: TlvReport): Decoded<(T | UnknownTlv)[]>;
  /** @throws EncodeError */
  encode(tlvs: readonly (T | UnknownTlv)[]): Uint8Array;
}

export const TLV_HEADER = 4;
const padded = (length: number): number => (length + 3) & ~3;

/** Where the value of the TLV at `at` ends. The caller has checked that its header is complete. */
export const tlvValueEnd = (bytes: Uint8Array, at: number): number => at + TLV_HEADER + u16(bytes, at + 2);

/** Where the TLV after the one at `at` begins, if the value of that one ends at `valueEnd`. */
export const nextTlv = (at: number, valueEnd: number): number => at + padded(valueEnd - at);

interface LsaMalformed extends DecodeError {
  readonly malformsLsa: true;
}

/** An error in a TLV that makes its whole LSA malformed; a receiver ignores that LSA. */
export const malformedLsa = (
  code: string,
  offset: number,
  detail: string,
): { readonly ok: false; readonly error: DecodeError } =>
  fail<LsaMalformed>({ code, offset, detail, malformsLsa: true });

/** Type, length, value, padding. @throws EncodeError `tlv-too-long` */
export function tlvBytes(type: number, value: Uint8Array): Uint8Array {
  if (value.length > 0xffff)
    throw new EncodeError('tlv-too-long', `TLV ${type} would hold ${value.length} bytes; 65535 fit`);
  const out = new Uint8Array(TLV_HEADER + padded(value.length));
  put16(out, 0, field('TLV type', type, 16));
  put16(out, 2, value.length);
  out.set(value, TLV_HEADER);
  return out;
}

export function tlvSpace<T extends { readonly kind: string }>(codecs: readonly TlvCodec<T>[]): TlvSpace<T> {
  const byType = new Map(codecs.map((codec) => [codec.type, codec]));
  const byName = new Map(codecs.map((codec) => [codec.name, codec]));

  function decodeOne(bytes: Uint8Array, at: number, end: number, report: TlvReport): Decoded<T | UnknownTlv> {
    const type = u16(bytes, at);
    const valueAt = at + TLV_HEADER;
    const value = bytes.subarray(valueAt, end);
    const within: TlvReport = ({ path, error }) => report({ path: [type, ...path], error: shifted(error, valueAt) });
    const decoded = byType.get(type)?.decode(value, within);
    if (decoded?.ok) return decoded;
    if (decoded) {
      const error = shifted(decoded.error, valueAt);
      if ('malformsLsa' in error) return fail(error);
      report({ path: [type], error });
    }
    return ok({ kind: 'unknown', type, value });
  }

  return {
    decode(bytes, start, report) {
      const tlvs: (T | UnknownTlv)[] = [];
      for (let at = start; at < bytes.length;) {
        const valueAt = at + TLV_HEADER;
        const end = valueAt > bytes.length ? valueAt : tlvValueEnd(bytes, at);
        const next = nextTlv(at, end);
        if (next > bytes.length) return malformedLsa('tlv-overrun', at, 'a TLV exceeds its container');
        const tlv = decodeOne(bytes, at, end, report);
        if (!tlv.ok) return tlv;
        tlvs.push(tlv.value);
        at = next;
      }
      return ok(tlvs);
    },
    encode: (tlvs) =>
      concat(
        ...tlvs.map((tlv) => {
          const codec = byName.get(tlv.kind);
          if (codec) return tlvBytes(codec.type, codec.encode(tlv as T));
          const { type, value } = tlv as UnknownTlv;
          return tlvBytes(type, value);
        }),
      ),
  };
}

/** An error unless the value has exactly this length. */
export const checkLength = (
  value: Uint8Array,
  length: number,
  what: string,
): ReturnType<typeof malformed> | undefined =>
  value.length === length ? undefined : malformed('bad-length', 0, `${what} of ${value.length} bytes, not ${length}`);
