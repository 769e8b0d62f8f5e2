// TLV 27, SRv6 Locator (RFC 9352 §7.1): prefixes from which a router takes its SIDs, each with the End SIDs that it has
// taken.
import { addressBytes } from '../../../model/address.ts';
import { ok } from '../../../model/result.ts';
import { concat, prefixBytes, put16, put32, readPrefix, u16, u32 } from '../../bytes.ts';
import { malformed } from '../../decode.ts';
import { EncodeError } from '../../encode-error.ts';
import { field } from '../../field.ts';
import { decodeSubTlvs, encodeSubTlvs } from '../sub-tlvs.ts';
import type { Locator, Srv6Locator } from './types.ts';
import { type TlvCodec } from './codec.ts';

/** Metric 4, flags 1, algorithm 1, locator size 1. */
export const LOCATOR_FIXED = 7;
/** The D bit: leaked from level 2 down into level 1, and never to go up again. */
export const LOCATOR_DOWN = 0x80;

function encodeLocator(locator: Locator): Uint8Array {
  const { prefix } = locator;
  // A size of 0 makes FRR drop the whole LSP.
  if (prefix.address.family !== 6 || prefix.length === 0)
    throw new EncodeError('bad-field', 'a locator is an IPv6 prefix of 1 to 128 bits');
  const head = new Uint8Array(LOCATOR_FIXED);
  put32(head, 0, field('metric', locator.metric, 32));
  head[4] = field('flags', locator.flags, 8);
  head[5] = field('algorithm', locator.algorithm, 8);
  head[6] = prefix.length;
  const subTlvs = encodeSubTlvs(locator.subTlvs);
  return concat(
    head,
    addressBytes(prefix.address).subarray(0, prefixBytes(prefix.length)),
    Uint8Array.of(subTlvs.length),
    subTlvs,
  );
}

export const SRV6_LOCATOR: TlvCodec<Srv6Locator> = {
  type: 27,
  name: 'srv6-locator',
  decode(value, report) {
    if (value.length < 2) return malformed('bad-length', 0, 'no topology ID');
    const locators: Locator[] = [];
    for (let at = 2; at < value.length;) {
      if (at + LOCATOR_FIXED > value.length) return malformed('locator-overrun', at, 'a locator exceeds the TLV');
      const length = value[at + 6]!;
      if (length === 0 || length > 128) return malformed('bad-prefix-length', at + 6, `locator of ${length} bits`);
      const lengthAt = at + LOCATOR_FIXED + prefixBytes(length);
      if (lengthAt >= value.length) return malformed('locator-overrun', at, 'a locator exceeds the TLV');
      const end = lengthAt + 1 + value[lengthAt]!;
      if (end > value.length) return malformed('sub-tlv-overrun', lengthAt, "a locator's sub-TLVs exceed the TLV");
      const subTlvs = decodeSubTlvs(value, lengthAt + 1, end, report);
      if (!subTlvs.ok) return subTlvs;
      locators.push({
        prefix: readPrefix(value, at + LOCATOR_FIXED, 6, length),
        metric: u32(value, at),
        flags: value[at + 4]!,
        algorithm: value[at + 5]!,
        subTlvs: subTlvs.value,
      });
      at = end;
    }
    return ok({ kind: 'srv6-locator', mtId: u16(value, 0) & 0xfff, locators });
  },
  encode({ mtId, locators }) {
    const topology = new Uint8Array(2);
    put16(topology, 0, field('topology ID', mtId, 12));
    return concat(topology, ...locators.map(encodeLocator));
  },
};
