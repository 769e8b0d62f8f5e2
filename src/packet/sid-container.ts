// The private container (docs/architecture.md, "What each protocol carries"): SRv6 SIDs and group memberships where a
// protocol has no standard place for them, namely the body of an OSPFv2 opaque LSA (type 10, opaque type 240) and a
// private characteristic of BGP's NHC. One encoding for both:
//
//   version 1 octet, 3 octets of 0, then TLVs: type 2, length 2 (of the value), value, zero padding to a multiple of 4
//
//   type 1, SID: endpoint behaviour 2, locator length 1, 0 1, SID 16
//   type 2, group membership: group 16, edge 16
//
// A container of another version is refused as a whole: its TLVs may mean anything. Unknown types are passed over and
// counted, so that a newer cnpd can add some; what follows the known value of a TLV is ignored.
import { type IpAddress, addressBytes } from '../model/address.ts';
import { type Prefix, prefixOf } from '../model/prefix.ts';
import { ok } from '../model/result.ts';
import { concat, put16, readAddress, u16 } from './bytes.ts';
import { type Decoded, malformed } from './decode.ts';
import { EncodeError } from './encode-error.ts';

const SID_CONTAINER_VERSION = 1;
const HEADER = 4;
const TLV_HEADER = 4;
const TLV = { sid: 1, group: 2 } as const;
const SID_VALUE = 20;
const GROUP_VALUE = 32;

/** An SRv6 SID, the locator that it belongs to and its SRv6 Endpoint Behavior. */
interface ContainedSid {
  readonly sid: IpAddress;
  readonly locator: Prefix;
  readonly behavior: number;
}

/** Membership of an edge in an End.MT group. Nobody originates one yet. */
export interface ContainedGroup {
  readonly group: IpAddress;
  readonly edge: IpAddress;
}

export interface SidContainer {
  readonly sids: readonly ContainedSid[];
  readonly groups: readonly ContainedGroup[];
}

export interface DecodedSidContainer extends SidContainer {
  /** TLVs of a type that this version does not know. */
  readonly unknown: number;
}

function tlv(type: number, value: Uint8Array): Uint8Array {
  const out = new Uint8Array(TLV_HEADER + value.length);
  put16(out, 0, type);
  put16(out, 2, value.length);
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
    throw new EncodeError('bad-field', `endpoint behaviour ${behavior}`);
  const value = new Uint8Array(SID_VALUE);
  put16(value, 0, behavior);
  value[2] = locator.length;
  value.set(addressBytes(sid), 4);
  return tlv(TLV.sid, value);
}

function encodeGroup({ group, edge }: ContainedGroup): Uint8Array {
  if (group.family !== 6 || edge.family !== 6) throw new EncodeError('bad-field', 'group and edge are IPv6 addresses');
  return tlv(TLV.group, concat(addressBytes(group), addressBytes(edge)));
}

/** A multiple of 4 bytes. @throws EncodeError */
export const encodeSidContainer = ({ sids, groups }: SidContainer): Uint8Array =>
  concat(Uint8Array.of(SID_CONTAINER_VERSION, 0, 0, 0), ...sids.map(encodeSid), ...groups.map(encodeGroup));

/** Codes: `truncated`, `unknown-version`, `bad-tlv-length`, `bad-locator-length`. */
export function decodeSidContainer(bytes: Uint8Array): Decoded<DecodedSidContainer> {
  if (bytes.length < HEADER) return malformed('truncated', bytes.length, 'shorter than a container header');
  if (bytes[0] !== SID_CONTAINER_VERSION) return malformed('unknown-version', 0, `container version ${bytes[0]}`);
  const sids: ContainedSid[] = [];
  const groups: ContainedGroup[] = [];
  let unknown = 0;
  for (let at = HEADER; at < bytes.length;) {
    if (at + TLV_HEADER > bytes.length) return malformed('truncated', at, 'shorter than a TLV header');
    const [type, length, value] = [u16(bytes, at), u16(bytes, at + 2), at + TLV_HEADER];
    const next = value + ((length + 3) & ~3);
    if (next > bytes.length)
      return malformed('truncated', at, `TLV ${type} of ${length} bytes in ${bytes.length - value}`);
    if (type === TLV.sid) {
      if (length < SID_VALUE) return malformed('bad-tlv-length', at, `a SID of ${length} bytes`);
      const bits = bytes[value + 2]!;
      if (bits === 0 || bits > 128) return malformed('bad-locator-length', value + 2, `locator of ${bits} bits`);
      const sid = readAddress(bytes, value + 4, 6);
      sids.push({ sid, locator: prefixOf(sid, bits), behavior: u16(bytes, value) });
    } else if (type === TLV.group) {
      if (length < GROUP_VALUE) return malformed('bad-tlv-length', at, `a group membership of ${length} bytes`);
      groups.push({ group: readAddress(bytes, value, 6), edge: readAddress(bytes, value + 16, 6) });
    } else {
      unknown++;
    }
    at = next;
  }
  return ok({ sids, groups, unknown });
}
