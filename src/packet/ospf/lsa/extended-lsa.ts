// The prefix LSAs of RFC 8362, in which prefixes have sub-TLVs: E-Inter-Area-Prefix (function 35), E-AS-External (37),
// E-Intra-Area-Prefix (41). Routers that run without extended LSAs, or in sparse mode, do not route by them: they carry
// what is said about a prefix.
import { ok } from '../../../model/result.ts';
import { concat, put24, u24 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { PREFIX_SUB_TLVS } from '../prefix-sub-tlvs.ts';
import { paddedPrefix, paddedPrefixBytes, readPaddedPrefix } from '../prefix.ts';
import { type TlvCodec, tlvBytes, tlvSpace } from '../tlv.ts';
import { type BodyCodec, tlvBody } from './codec.ts';
import { REFERENCED_LENGTH, encodeReferenced, readReferenced } from './intra-area-prefix.ts';
import type { EAsExternalLsa, EInterAreaPrefixLsa, EIntraAreaPrefixLsa, ExtendedLsaPrefix } from './types.ts';

const FIXED = 8;

const prefixTlv = (type: number, name: ExtendedLsaPrefix['kind']): TlvCodec<ExtendedLsaPrefix> => ({
  type,
  name,
  decode(value, report) {
    if (value.length < FIXED) return malformed('truncated', value.length, `shorter than the fixed part of TLV ${type}`);
    const length = value[4]!;
    const prefix = readPaddedPrefix(value, FIXED, length);
    if (!prefix)
      return malformed(
        length > 128 ? 'bad-prefix-length' : 'prefix-overrun',
        4,
        `a prefix of ${length} bits in ${value.length} bytes`,
      );
    const subTlvs = PREFIX_SUB_TLVS[3].decode(value, FIXED + paddedPrefixBytes(length), report);
    if (!subTlvs.ok) return subTlvs;
    return ok({
      kind: name,
      flags: value[0]!,
      metric: u24(value, 1),
      prefixOptions: value[5]!,
      prefix,
      subTlvs: subTlvs.value,
    });
  },
  encode({ flags, metric, prefixOptions, prefix, subTlvs }) {
    const head = new Uint8Array(FIXED);
    head[0] = field('flags', flags, 8);
    put24(head, 1, field('metric', metric, 24));
    head[4] = prefix.length;
    head[5] = field('prefix options', prefixOptions, 8);
    return concat(head, paddedPrefix(prefix), PREFIX_SUB_TLVS[3].encode(subTlvs));
  },
});

const PREFIX_TLVS = [
  prefixTlv(3, 'inter-area-prefix-tlv'),
  prefixTlv(5, 'external-prefix-tlv'),
  prefixTlv(6, 'intra-area-prefix-tlv'),
] as const;
/** One registry for all extended LSAs. */
const EXTENDED_LSA_TLVS = tlvSpace(PREFIX_TLVS);

export const E_INTER_AREA_PREFIX = tlvBody<ExtendedLsaPrefix, EInterAreaPrefixLsa>(
  'e-inter-area-prefix',
  EXTENDED_LSA_TLVS,
);
export const E_AS_EXTERNAL = tlvBody<ExtendedLsaPrefix, EAsExternalLsa>('e-as-external', EXTENDED_LSA_TLVS);

export const E_INTRA_AREA_PREFIX: BodyCodec<EIntraAreaPrefixLsa> = {
  name: 'e-intra-area-prefix',
  decode(content, report) {
    if (content.length < REFERENCED_LENGTH)
      return malformed('truncated', content.length, 'shorter than the fixed part of an E-Intra-Area-Prefix-LSA');
    const tlvs = EXTENDED_LSA_TLVS.decode(content, REFERENCED_LENGTH, report);
    return tlvs.ok ? ok({ kind: 'e-intra-area-prefix', referenced: readReferenced(content), tlvs: tlvs.value }) : tlvs;
  },
  encode: ({ referenced, tlvs }) => concat(encodeReferenced(0, referenced), EXTENDED_LSA_TLVS.encode(tlvs)),
};

/** Bytes that an entry takes in its LSA. @throws EncodeError */
export function extendedLsaPrefixLength(entry: ExtendedLsaPrefix): number {
  const codec = PREFIX_TLVS.find(({ name }) => name === entry.kind);
  if (!codec) throw new EncodeError('bad-field', `${entry.kind} is no prefix TLV`);
  return tlvBytes(codec.type, codec.encode(entry)).length;
}
