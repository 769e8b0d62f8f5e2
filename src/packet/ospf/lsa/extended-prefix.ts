// OSPFv2 Extended Prefix Opaque LSA, opaque type 7 (RFC 7684 §2): attributes of prefixes whose reachability is
// advertised elsewhere, or nowhere.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, readPrefix } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { PREFIX_SUB_TLVS } from '../prefix-sub-tlvs.ts';
import { type TlvCodec, tlvBytes, tlvSpace } from '../tlv.ts';
import { type BodyCodec, tlvBody } from './codec.ts';
import type { ExtendedPrefix, ExtendedPrefixLsa } from './types.ts';

const FIXED = 8;
/** Address family of the TLV; there is no other. */
const IPV4_UNICAST = 0;

/**
 * As many TLVs as surely fit a packet of an Ethernet link with a flags sub-TLV each; FRR floods what is longer in IP
 * fragments.
 */
export const MAX_EXTENDED_PREFIXES = 71;

const EXTENDED_PREFIX_TLV: TlvCodec<ExtendedPrefix> = {
  type: 1,
  name: 'extended-prefix',
  decode(value, report) {
    if (value.length < FIXED)
      return malformed('truncated', value.length, 'shorter than the fixed part of an Extended Prefix TLV');
    if (value[2] !== IPV4_UNICAST)
      return malformed('bad-address-family', 2, `address family ${value[2]}; only 0, IPv4 unicast, exists`);
    if (value[1]! > 32) return malformed('bad-prefix-length', 1, `IPv4 prefix of ${value[1]} bits`);
    const subTlvs = PREFIX_SUB_TLVS[2].decode(value, FIXED, report);
    if (!subTlvs.ok) return subTlvs;
    return ok({
      kind: 'extended-prefix',
      routeType: value[0]!,
      flags: value[3]!,
      prefix: readPrefix(value, 4, 4, value[1]!),
      subTlvs: subTlvs.value,
    });
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

/** Bytes that an entry takes in its LSA. @throws EncodeError */
export const extendedPrefixLength = (entry: ExtendedPrefix): number =>
  tlvBytes(EXTENDED_PREFIX_TLV.type, EXTENDED_PREFIX_TLV.encode(entry)).length;
