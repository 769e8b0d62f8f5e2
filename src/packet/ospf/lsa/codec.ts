// The codec of an LSA's body: one row of the tables in ../lsa.ts. To add an LSA type, add a file beside this one and a
// row there.
import type { Decoded } from '../../decode.ts';
import { ok } from '../../../model/result.ts';
import type { TlvReport, TlvSpace } from '../tlv.ts';
import type { LsaBody, UnknownTlv } from './types.ts';

export interface BodyCodec<B extends LsaBody = LsaBody> {
  readonly name: B['kind'];
  /**
   * Decodes everything after the LSA's header. Error offsets count from the start of `content`. An error means that the
   * LSA is malformed and ignored.
   */
  decode(content: Uint8Array, report: TlvReport): Decoded<B>;
  /** @throws EncodeError */
  encode(body: B): Uint8Array;
}

type TlvBody<T> = Extract<LsaBody, { readonly tlvs: readonly (T | UnknownTlv)[] }>;

/** The codec of a body that consists of TLVs alone. */
export function tlvBody<T, B extends TlvBody<T>>(name: B['kind'], space: TlvSpace<T>): BodyCodec<B> {
  return {
    name,
    decode(content, report) {
      const tlvs = space.decode(content, 0, report);
      return tlvs.ok ? ok({ kind: name, tlvs: tlvs.value } as unknown as B) : tlvs;
    },
    encode: ({ tlvs }) => space.encode(tlvs),
  };
}
