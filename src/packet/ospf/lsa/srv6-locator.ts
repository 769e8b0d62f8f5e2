// OSPFv3 SRv6 Locator LSA, function 42 (RFC 9513 §7): locators of the router, and the SIDs that they hold.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, put16, put32, readAddress, u16, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { paddedPrefix, paddedPrefixBytes, readPaddedPrefix } from '../prefix.ts';
import { type TlvCodec, checkLength, tlvSpace } from '../tlv.ts';
import { tlvBody } from './codec.ts';
import type { EndSid, SidStructure, Srv6Locator, Srv6LocatorLsa } from './types.ts';

const LOCATOR_FIXED = 8;
const END_SID_FIXED = 20;

/** RFC 9513 §10. */
const SID_STRUCTURE: TlvCodec<SidStructure> = {
  type: 10,
  name: 'sid-structure',
  decode: (value) =>
    checkLength(value, 4, 'SID structure') ??
    ok({
      kind: 'sid-structure',
      locatorBlock: value[0]!,
      locatorNode: value[1]!,
      function: value[2]!,
      argument: value[3]!,
    }),
  encode: ({ locatorBlock, locatorNode, function: functionLength, argument }) =>
    Uint8Array.from(
      [locatorBlock, locatorNode, functionLength, argument].map((bits) => field('length of a part of a SID', bits, 8)),
    ),
};
const END_SID_SUB_TLVS = tlvSpace([SID_STRUCTURE]);

/** RFC 9513 §8. */
const END_SID: TlvCodec<EndSid> = {
  type: 1,
  name: 'end-sid',
  decode(value, report) {
    if (value.length < END_SID_FIXED)
      return malformed('truncated', value.length, 'shorter than the fixed part of an End SID sub-TLV');
    const subTlvs = END_SID_SUB_TLVS.decode(value, END_SID_FIXED, report);
    if (!subTlvs.ok) return subTlvs;
    return ok({
      kind: 'end-sid',
      flags: value[0]!,
      behavior: u16(value, 2),
      sid: readAddress(value, 4, 6),
      subTlvs: subTlvs.value,
    });
  },
  encode({ flags, behavior, sid, subTlvs }) {
    if (sid.family !== 6) throw new EncodeError('bad-field', 'a SID is an IPv6 address');
    const head = new Uint8Array(END_SID_FIXED);
    head[0] = field('flags', flags, 8);
    put16(head, 2, field('endpoint behavior', behavior, 16));
    head.set(addressBytes(sid), 4);
    return concat(head, END_SID_SUB_TLVS.encode(subTlvs));
  },
};
const LOCATOR_SUB_TLVS = tlvSpace([END_SID]);

/** RFC 9513 §7.1. */
const LOCATOR: TlvCodec<Srv6Locator> = {
  type: 1,
  name: 'srv6-locator',
  decode(value, report) {
    if (value.length < LOCATOR_FIXED)
      return malformed('truncated', value.length, 'shorter than the fixed part of an SRv6 Locator TLV');
    const length = value[2]!;
    const locator = length === 0 ? undefined : readPaddedPrefix(value, LOCATOR_FIXED, length);
    if (!locator) return malformed('bad-prefix-length', 2, `a locator of ${length} bits in ${value.length} bytes`);
    const subTlvs = LOCATOR_SUB_TLVS.decode(value, LOCATOR_FIXED + paddedPrefixBytes(length), report);
    if (!subTlvs.ok) return subTlvs;
    return ok({
      kind: 'srv6-locator',
      routeType: value[0]!,
      algorithm: value[1]!,
      prefixOptions: value[3]!,
      metric: u32(value, 4),
      locator,
      subTlvs: subTlvs.value,
    });
  },
  encode({ routeType, algorithm, prefixOptions, metric, locator, subTlvs }) {
    if (locator.length === 0) throw new EncodeError('bad-field', 'a locator is an IPv6 prefix of 1 to 128 bits');
    const head = new Uint8Array(LOCATOR_FIXED);
    head[0] = field('route type', routeType, 8);
    head[1] = field('algorithm', algorithm, 8);
    head[2] = locator.length;
    head[3] = field('prefix options', prefixOptions, 8);
    put32(head, 4, field('metric', metric, 32));
    return concat(head, paddedPrefix(locator), LOCATOR_SUB_TLVS.encode(subTlvs));
  },
};

export const SRV6_LOCATOR = tlvBody<Srv6Locator, Srv6LocatorLsa>('srv6-locator-lsa', tlvSpace([LOCATOR]));
