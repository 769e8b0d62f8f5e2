// The value of a group membership TLV in the private container (sid-container.ts). All integers in network byte order:
//
//   role 1 (1 receiver, 2 source), flags 1 (0x80: VA delta and R_Key follow), 2 octets of 0,
//   group 16, address 16, node 16, Queue Pair 4, PSN delta 4 (24 bits each, in the low octets), [VA delta 8, R_Key 4]
//
// `node` is the End.MT SID of a receiver's edge, or the replication SID of the source's router (model/group.ts).
import type { IpAddress } from '../model/address.ts';
import { addressBytes } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import { ok } from '../model/result.ts';
import { put24, put32, put64, readAddress, u24, u32, u64 } from './bytes.ts';
import { type Decoded, malformed } from './decode.ts';
import { EncodeError } from './encode-error.ts';
import { field } from './field.ts';

const ROLES = { receiver: 1, source: 2 } as const;
const WRITE = 0x80;
const AT = { flags: 1, group: 4, address: 20, node: 36, qpn: 53, psnDelta: 57, vaDelta: 60, rKey: 68 } as const;
const SIZE = 60;
const SIZE_WITH_WRITE = 72;

function ipv6(name: string, address: IpAddress): Uint8Array {
  if (address.family !== 6) throw new EncodeError('bad-field', `${name} is not an IPv6 address`);
  return addressBytes(address);
}

/** @throws EncodeError */
export function encodeGroupMember(member: GroupMember): Uint8Array {
  const { write } = member;
  const value = new Uint8Array(write ? SIZE_WITH_WRITE : SIZE);
  value[0] = ROLES[member.role];
  for (const part of ['group', 'address', 'node'] as const) value.set(ipv6(part, member[part]), AT[part]);
  put24(value, AT.qpn, field('Queue Pair', member.qpn, 24));
  put24(value, AT.psnDelta, field('PSN delta', member.psnDelta, 24));
  if (write) {
    value[AT.flags] = WRITE;
    put64(value, AT.vaDelta, BigInt.asUintN(64, write.vaDelta));
    put32(value, AT.rKey, field('R_Key', write.rKey, 32));
  }
  return value;
}

/**
 * Octets behind the known ones and reserved bits are ignored. Undefined: a role that this version does not know.
 * Codes: `bad-tlv-length`. @param offset of the value, for errors
 */
export function decodeGroupMember(value: Uint8Array, offset: number): Decoded<GroupMember | undefined> {
  const hasWrite = ((value[AT.flags] ?? 0) & WRITE) !== 0;
  if (value.length < (hasWrite ? SIZE_WITH_WRITE : SIZE))
    return malformed('bad-tlv-length', offset, `a group membership of ${value.length} bytes`);
  const role = value[0] === ROLES.receiver ? 'receiver' : value[0] === ROLES.source ? 'source' : undefined;
  return ok(
    role && {
      group: readAddress(value, AT.group, 6),
      role,
      address: readAddress(value, AT.address, 6),
      qpn: u24(value, AT.qpn),
      node: readAddress(value, AT.node, 6),
      psnDelta: u24(value, AT.psnDelta),
      ...(hasWrite && { write: { vaDelta: u64(value, AT.vaDelta), rKey: u32(value, AT.rKey) } }),
    },
  );
}
