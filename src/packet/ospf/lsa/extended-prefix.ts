// OSPFv2 Extended Prefix Opaque LSA, opaque type 7 (RFC 7684 §2): attributes of prefixes. Other LSAs advertise the
// reachability of these prefixes, if any does.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, readPrefix } from '../../bytes.ts';
import { type Decoded, malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { PREFIX_SUB_TLVS } from '../prefix-sub-tlvs.ts';
import { type TlvCodec, tlvBytes, tlvSpace } from '../tlv.ts';
import { type BodyCodec, tlvBody } from './codec.ts';
import type { ExtendedPrefix, ExtendedPrefixLsa } from './types.ts';

const FIXED = 8;
/** The only address family of the TLV. */
const IPV4_UNICAST = 0;

/**
 * The number of TLVs, each with a flags sub-TLV, that fits a packet of any Ethernet link. FRR floods longer LSAs in IP
 * fragments.
 */
export const MAX_EXTENDED_PREFIXES = 71;

/** The fixed part of an Extended Prefix TLV. */
export interface ExtendedPrefixPlace {
  routeType: number;
  flags: number;
  prefixLength: number;
  prefixOffset: number;
}

const TRUNCATED = -1;
const BAD_FAMILY = -2;
const BAD_LENGTH = -3;

/**
 * Reads the fixed part of the TLV whose value is `at` … `end`: route type, prefix length, address family, flags,
 * address.
 * @returns where the sub-TLVs begin; below 0 if the TLV is malformed
 */
export function readExtendedPrefix(bytes: Uint8Array, at: number, end: number, place: ExtendedPrefixPlace): number {
  if (at + FIXED > end) return TRUNCATED;
  if (bytes[at + 2] !== IPV4_UNICAST) return BAD_FAMILY;
  const prefixLength = bytes[at + 1]!;
  if (prefixLength > 32) return BAD_LENGTH;
  place.routeType = bytes[at]!;
  place.flags = bytes[at + 3]!;
  place.prefixLength = prefixLength;
  place.prefixOffset = at + 4;
  return at + FIXED;
}

function placeError(flaw: number, value: Uint8Array): Decoded<never> {
  if (flaw === TRUNCATED)
    return malformed('truncated', value.length, 'shorter than the fixed part of an Extended Prefix TLV');
  return flaw === BAD_FAMILY
    ? malformed('bad-address-family', 2, `address family ${value[2]}; only 0, IPv4 unicast, exists`)
    : malformed('bad-prefix-length', 1, `IPv4 prefix of ${value[1]} bits`);
}

const EXTENDED_PREFIX_TLV: TlvCodec<ExtendedPrefix> = {
  type: 1,
  name: 'extended-prefix',
  decode(value, report) {
    const place: ExtendedPrefixPlace = { routeType: 0, flags: 0, prefixLength: 0, prefixOffset: 0 };
    const subTlvsAt = readExtendedPrefix(value, 0, value.length, place);
    if (subTlvsAt < 0) return placeError(subTlvsAt, value);
    const subTlvs = PREFIX_SUB_TLVS[2].decode(value, subTlvsAt, report);
    if (!subTlvs.ok) return subTlvs;
    const { routeType, flags, prefixLength, prefixOffset } = place;
    const prefix = readPrefix(value, prefixOffset, 4, prefixLength);
    return ok({ kind: 'extended-prefix', routeType, flags, prefix, subTlvs: subTlvs.value });
  },
  encode({ routeType, flags, prefix, subTlvs }) {
    if (prefix.address.family !== 4) throw new EncodeError('bad-field', 'an IPv6 prefix in an Extended Prefix TLV');
    const head = Uint8Array.of(
      field('route type', routeType, 8),
      prefix.length,
      IPV4_UNICAST,
      field('flags', flags, 8),
    );
    return concat(head, addressBytes(prefix.address), PREFIX_SUB_TLVS[2].encode(subTlvs));
  },
};

const plain = tlvBody<ExtendedPrefix, ExtendedPrefixLsa>('extended-prefix-lsa', tlvSpace([EXTENDED_PREFIX_TLV]));

export const EXTENDED_PREFIX: BodyCodec<ExtendedPrefixLsa> = {
  ...plain,
  encode(body) {
    const { length } = body.tlvs;
    if (length > MAX_EXTENDED_PREFIXES)
      throw new EncodeError(
        'too-many-tlvs',
        `${length} TLVs in an Extended Prefix LSA; ${MAX_EXTENDED_PREFIXES} are allowed`,
      );
    return plain.encode(body);
  },
};

/** Bytes of an entry in its LSA. @throws EncodeError */
export const extendedPrefixLength = (entry: ExtendedPrefix): number =>
  tlvBytes(EXTENDED_PREFIX_TLV.type, EXTENDED_PREFIX_TLV.encode(entry)).length;
