// The prefix LSAs of RFC 8362, in which prefixes have sub-TLVs: E-Inter-Area-Prefix (function 35), E-AS-External (37),
// E-Intra-Area-Prefix (41). Routers without support for extended LSAs, or in sparse mode, do not compute routes from
// them: the LSAs only describe prefixes.
import { ok } from '../../../model/result.ts';
import { concat, put24, readPrefix, u24 } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { PREFIX_SUB_TLVS } from '../prefix-sub-tlvs.ts';
import { paddedPrefix, paddedPrefixBytes } from '../prefix.ts';
import { type TlvCodec, tlvBytes, tlvSpace } from '../tlv.ts';
import { type BodyCodec, tlvBody } from './codec.ts';
import { REFERENCED_LENGTH, encodeReferenced, readReferenced } from './intra-area-prefix.ts';
import type { EAsExternalLsa, EInterAreaPrefixLsa, EIntraAreaPrefixLsa, ExtendedLsaPrefix } from './types.ts';

const FIXED = 8;

/** The fixed part of a prefix TLV. */
export interface PrefixTlvPlace {
  flags: number;
  metric: number;
  prefixOptions: number;
  prefixLength: number;
  prefixOffset: number;
}

const TRUNCATED = -1;
const BAD_LENGTH = -2;
const PREFIX_OVERRUN = -3;

/**
 * Reads the fixed part of the TLV whose value is `at` … `end`: flags, metric, prefix length, prefix options, two
 * reserved bytes, the words of the prefix.
 * @returns where the sub-TLVs begin; below 0 if the TLV is malformed
 */
export function readPrefixTlv(bytes: Uint8Array, at: number, end: number, place: PrefixTlvPlace): number {
  if (at + FIXED > end) return TRUNCATED;
  const prefixLength = bytes[at + 4]!;
  if (prefixLength > 128) return BAD_LENGTH;
  place.flags = bytes[at]!;
  place.metric = u24(bytes, at + 1);
  place.prefixOptions = bytes[at + 5]!;
  place.prefixLength = prefixLength;
  place.prefixOffset = at + FIXED;
  const subTlvsAt = at + FIXED + paddedPrefixBytes(prefixLength);
  return subTlvsAt > end ? PREFIX_OVERRUN : subTlvsAt;
}

function placeError(flaw: number, type: number, value: Uint8Array): Decoded<never> {
  if (flaw === TRUNCATED) return malformed('truncated', value.length, `shorter than the fixed part of TLV ${type}`);
  const code = flaw === BAD_LENGTH ? 'bad-prefix-length' : 'prefix-overrun';
  return malformed(code, 4, `a prefix of ${value[4]} bits in ${value.length} bytes`);
}

const prefixTlv = (type: number, name: ExtendedLsaPrefix['kind']): TlvCodec<ExtendedLsaPrefix> => ({
  type,
  name,
  decode(value, report) {
    const place: PrefixTlvPlace = { flags: 0, metric: 0, prefixOptions: 0, prefixLength: 0, prefixOffset: 0 };
    const subTlvsAt = readPrefixTlv(value, 0, value.length, place);
    if (subTlvsAt < 0) return placeError(subTlvsAt, type, value);
    const subTlvs = PREFIX_SUB_TLVS[3].decode(value, subTlvsAt, report);
    if (!subTlvs.ok) return subTlvs;
    const { flags, metric, prefixOptions, prefixLength, prefixOffset } = place;
    const prefix = readPrefix(value, prefixOffset, 6, prefixLength);
    return ok({ kind: name, flags, metric, prefixOptions, prefix, subTlvs: subTlvs.value });
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
/** All extended LSAs share one registry. */
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

/** Bytes of an entry in its LSA. @throws EncodeError */
export function extendedLsaPrefixLength(entry: ExtendedLsaPrefix): number {
  const codec = PREFIX_TLVS.find(({ name }) => name === entry.kind);
  if (!codec) throw new EncodeError('bad-field', `${entry.kind} is no prefix TLV`);
  return tlvBytes(codec.type, codec.encode(entry)).length;
}
