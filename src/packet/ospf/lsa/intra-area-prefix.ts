// OSPFv3 Intra-Area-Prefix-LSA, function 9 (RFC 5340 §A.4.10). cnpd only reads it. cnpd's own prefixes must attract no
// traffic, so they are advertised in the extended form alone (extended-lsa.ts).
import { ok } from '../../../model/result.ts';
import { concat, put16, u16, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { field } from '../../field.ts';
import { putLsaId } from '../lsa-header.ts';
import type { BodyCodec } from './codec.ts';
import { decodePrefixList, encodePrefixList } from './link.ts';
import type { IntraAreaPrefixLsa, Referenced } from './types.ts';

/** The same in the extended form, where the count of prefixes is reserved (RFC 8362 §4.8). */
export const REFERENCED_LENGTH = 12;

export const readReferenced = (content: Uint8Array): Referenced => ({
  type: u16(content, 2),
  lsId: u32(content, 4),
  advertisingRouter: u32(content, 8),
});

/** 12 bytes, the count or reserved field first. @throws EncodeError */
export function encodeReferenced(count: number, referenced: Referenced): Uint8Array {
  const out = new Uint8Array(REFERENCED_LENGTH);
  put16(out, 0, field('number of prefixes', count, 16));
  put16(out, 2, field('referenced LS type', referenced.type, 16));
  putLsaId(out, 4, referenced);
  return out;
}

export const INTRA_AREA_PREFIX: BodyCodec<IntraAreaPrefixLsa> = {
  name: 'intra-area-prefix',
  decode(content) {
    if (content.length < REFERENCED_LENGTH)
      return malformed('truncated', content.length, 'shorter than the fixed part of an Intra-Area-Prefix-LSA');
    const prefixes = decodePrefixList(content, REFERENCED_LENGTH, u16(content, 0));
    return prefixes.ok
      ? ok({ kind: 'intra-area-prefix', referenced: readReferenced(content), prefixes: prefixes.value })
      : prefixes;
  },
  encode: ({ referenced, prefixes }) =>
    concat(encodeReferenced(prefixes.length, referenced), encodePrefixList(prefixes)),
};
