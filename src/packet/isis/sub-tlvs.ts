// Sub-TLVs of prefixes and locators (RFC 7794; shared by TLVs 27, 135, 235, 236, 237). One row a sub-TLV; unknown ones
// keep their bytes.
import { type Family, addressBytes } from '../../model/address.ts';
import { ok } from '../../model/result.ts';
import { concat, readAddress } from '../bytes.ts';
import { type Decoded, malformed, shifted } from '../decode.ts';
import { EncodeError } from '../encode-error.ts';
import { SRV6_END_SID } from './tlv/srv6-end-sid.ts';
import { type SubTlvCodec, type SubTlvReport, tlvBytes } from './tlv/codec.ts';
import type { PrefixAttributeFlags, PrefixSubTlv, SourceRouterId } from './tlv/types.ts';

export const PREFIX_ATTRIBUTE_FLAGS = 4;
export const IPV4_SOURCE_ROUTER_ID = 11;
export const IPV6_SOURCE_ROUTER_ID = 12;

const ATTRIBUTE_FLAGS: SubTlvCodec<PrefixAttributeFlags> = {
  type: PREFIX_ATTRIBUTE_FLAGS,
  name: 'prefix-attribute-flags',
  decode: (value) => ok({ kind: 'prefix-attribute-flags', flags: value }),
  encode: ({ flags }) => flags,
};

function sourceRouterId(type: number, name: SourceRouterId['kind'], family: Family): SubTlvCodec<SourceRouterId> {
  return {
    type,
    name,
    decode(value) {
      if (value.length !== (family === 4 ? 4 : 16))
        return malformed('bad-length', 0, `source router ID of ${value.length} bytes`);
      return ok({ kind: name, address: readAddress(value, 0, family) });
    },
    encode({ address }) {
      if (address.family !== family)
        throw new EncodeError('bad-field', `an IPv${address.family} address in sub-TLV ${type}`);
      return addressBytes(address);
    },
  };
}

const SUB_TLVS: readonly SubTlvCodec[] = [
  ATTRIBUTE_FLAGS,
  sourceRouterId(IPV4_SOURCE_ROUTER_ID, 'ipv4-source-router-id', 4),
  sourceRouterId(IPV6_SOURCE_ROUTER_ID, 'ipv6-source-router-id', 6),
  SRV6_END_SID,
];
const BY_TYPE = new Map(SUB_TLVS.map((codec) => [codec.type, codec]));
const BY_NAME = new Map(SUB_TLVS.map((codec) => [codec.name, codec]));

/** Type and length. */
export const SUB_TLV_HEADER = 2;

/** Where the sub-TLV at `at` ends; its header is there. */
export const subTlvEnd = (bytes: Uint8Array, at: number): number => at + SUB_TLV_HEADER + bytes[at + 1]!;

/** Whether sub-TLVs fill bytes `start` … `end` − 1 exactly. */
export function subTlvsFill(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at + SUB_TLV_HEADER <= end) at = subTlvEnd(bytes, at);
  return at === end;
}

/**
 * Decodes the sub-TLVs in bytes `start` … `end` − 1. Fails only when one exceeds `end`; a bad value is reported and
 * kept as unknown.
 */
export function decodeSubTlvs(
  bytes: Uint8Array,
  start: number,
  end: number,
  report: SubTlvReport,
): Decoded<PrefixSubTlv[]> {
  const out: PrefixSubTlv[] = [];
  for (let at = start; at < end;) {
    const valueAt = at + SUB_TLV_HEADER;
    const next = valueAt > end ? valueAt : subTlvEnd(bytes, at);
    if (next > end) return malformed('sub-tlv-overrun', at, 'a sub-TLV exceeds its list');
    const type = bytes[at]!;
    const value = bytes.subarray(valueAt, next);
    const decoded = BY_TYPE.get(type)?.decode(value);
    if (decoded?.ok) out.push(decoded.value);
    else out.push({ kind: 'unknown', type, value });
    if (decoded && !decoded.ok) report(type, shifted(decoded.error, valueAt));
    at = next;
  }
  return ok(out);
}

/** @throws EncodeError when the list exceeds the 255 bytes its length octet can say */
export function encodeSubTlvs(subTlvs: readonly PrefixSubTlv[]): Uint8Array {
  const out = concat(
    ...subTlvs.map((subTlv) => {
      if (subTlv.kind === 'unknown') return tlvBytes(subTlv.type, subTlv.value);
      const codec = BY_NAME.get(subTlv.kind)!;
      return tlvBytes(codec.type, codec.encode(subTlv));
    }),
  );
  if (out.length > 255) throw new EncodeError('sub-tlvs-too-long', `${out.length} bytes of sub-TLVs; 255 fit`);
  return out;
}
