// The private container (docs/explanation/architecture.md, "What each protocol carries"): SRv6 SIDs and group
// memberships where a protocol has no standard place for them, namely the body of an OSPFv2 opaque LSA (type 10, opaque
// type 240) and a private characteristic of BGP's NHC. One encoding for both:
//
//   version 1 octet, 3 octets of 0, then TLVs: type 2, length 2 (of the value), value, zero padding to a multiple of 4
//
//   type 1, SID: endpoint behavior 2, locator length 1, 0 1, SID 16
//   type 2, group membership: group-member.ts
//
// A container of another version is refused as a whole: its TLVs may mean anything. TLVs of unknown types are handed on
// as they are, so that a newer cnpd can add some, and so are members of unknown roles. What follows the known value of
// a TLV is ignored.
import { type IpAddress, addressBytes } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { type Prefix, prefixOf } from '../model/prefix.ts';
import { ok } from '../model/result.ts';
import { concat, put16, readAddress, u16 } from './bytes.ts';
import { type Decoded, malformed } from './decode.ts';
import { EncodeError } from './encode-error.ts';
import { field } from './field.ts';
import { decodeGroupMember, encodeGroupMember } from './group-member.ts';

const SID_CONTAINER_VERSION = 1;
const HEADER = 4;
const TLV_HEADER = 4;
const TLV = { sid: 1, group: 2 } as const;
const SID_VALUE = 20;

/** An SRv6 SID, the locator that it belongs to and its SRv6 Endpoint Behavior. */
interface ContainedSid {
  readonly tlv: 'sid';
  readonly sid: IpAddress;
  readonly locator: Prefix;
  readonly behavior: number;
}

/** A member of an End.MT group. */
interface ContainedGroup {
  readonly tlv: 'group';
  readonly member: GroupMember;
}

/** Of a type that this file does not know. */
interface ContainedUnknown {
  readonly tlv: 'unknown';
  readonly type: number;
  readonly value: Uint8Array;
}

export type ContainerTlv = ContainedSid | ContainedGroup | ContainedUnknown;

const padded = (length: number): number => (length + 3) & ~3;

function tlv(type: number, value: Uint8Array): Uint8Array {
  const out = new Uint8Array(TLV_HEADER + padded(value.length));
  put16(out, 0, field('TLV type', type, 16));
  put16(out, 2, field('TLV length', value.length, 16));
  out.set(value, TLV_HEADER);
  return out;
}

function encodeSid({ sid, locator, behavior }: ContainedSid): Uint8Array {
  if (
    sid.family !== 6 ||
    locator.address.family !== 6 ||
    prefixOf(sid, locator.length).address.value !== locator.address.value
  ) {
    throw new EncodeError('bad-field', 'a SID is an IPv6 address within its locator');
  }
  if (!Number.isInteger(behavior) || behavior < 0 || behavior > 0xffff)
    throw new EncodeError('bad-field', `endpoint behavior ${behavior}`);
  const value = new Uint8Array(SID_VALUE);
  put16(value, 0, behavior);
  value[2] = locator.length;
  value.set(addressBytes(sid), 4);
  return tlv(TLV.sid, value);
}

function encodeTlv(one: ContainerTlv): Uint8Array {
  switch (one.tlv) {
    case 'sid':
      return encodeSid(one);
    case 'group':
      return tlv(TLV.group, encodeGroupMember(one.member));
    case 'unknown':
      return tlv(one.type, one.value);
  }
}

/** The TLV of a member, which may have other fields beside it. */
export const containedMember = ({ group, role, address, qpn, node, psnDelta, write }: GroupMember): ContainerTlv => ({
  tlv: 'group',
  member: { group, role, address, qpn, node, psnDelta, ...(write && { write }) },
});

/** Bytes that it takes in a container. @throws EncodeError */
export const containerTlvSize = (one: ContainerTlv): number => encodeTlv(one).length;

/** A multiple of 4 bytes. @throws EncodeError */
export const encodeSidContainer = (tlvs: readonly ContainerTlv[]): Uint8Array =>
  concat(Uint8Array.of(SID_CONTAINER_VERSION, 0, 0, 0), ...tlvs.map(encodeTlv));

/**
 * In their order; values of unknown ones are views of `bytes`. Codes: `truncated`, `unknown-version`, `bad-tlv-length`,
 * `bad-locator-length`.
 */
export function decodeSidContainer(bytes: Uint8Array): Decoded<ContainerTlv[]> {
  if (bytes.length < HEADER) return malformed('truncated', bytes.length, 'shorter than a container header');
  if (bytes[0] !== SID_CONTAINER_VERSION) return malformed('unknown-version', 0, `container version ${bytes[0]}`);
  const tlvs: ContainerTlv[] = [];
  for (let at = HEADER; at < bytes.length;) {
    if (at + TLV_HEADER > bytes.length) return malformed('truncated', at, 'shorter than a TLV header');
    const [type, length, start] = [u16(bytes, at), u16(bytes, at + 2), at + TLV_HEADER];
    const next = start + padded(length);
    if (next > bytes.length)
      return malformed('truncated', at, `TLV ${type} of ${length} bytes in ${bytes.length - start}`);
    const one = decodeTlv(type, bytes.subarray(start, start + length), start);
    if (!one.ok) return one;
    tlvs.push(one.value);
    at = next;
  }
  return ok(tlvs);
}

/** @param offset of the value in the container */
function decodeTlv(type: number, value: Uint8Array, offset: number): Decoded<ContainerTlv> {
  if (type === TLV.sid) {
    if (value.length < SID_VALUE)
      return malformed('bad-tlv-length', offset - TLV_HEADER, `a SID of ${value.length} bytes`);
    const bits = value[2]!;
    if (bits === 0 || bits > 128) return malformed('bad-locator-length', offset + 2, `locator of ${bits} bits`);
    const sid = readAddress(value, 4, 6);
    return ok({ tlv: 'sid', sid, locator: prefixOf(sid, bits), behavior: u16(value, 0) });
  }
  if (type === TLV.group) {
    const member = decodeGroupMember(value, offset - TLV_HEADER);
    if (!member.ok) return member;
    if (member.value) return ok({ tlv: 'group', member: member.value });
  }
  return ok({ tlv: 'unknown', type, value });
}
