// The digests that packets of a group carry: of its members, and of its tree. Every router computes them by itself from
// what it knows. A router replicates only by a list whose digest the packet has, so a packet follows one tree whatever
// routers know at the moment.
import { createHash } from 'node:crypto';
import type { IpAddress } from '../model/address.ts';
import type { GroupMember } from '../model/group.ts';
import type { GroupMembers } from './membership.ts';

export const DIGEST_OCTETS = 8;

const digest = (lines: readonly string[]): Uint8Array =>
  new Uint8Array(createHash('sha256').update(lines.join('\n')).digest().subarray(0, DIGEST_OCTETS));

const hex = (value: bigint | number): string => value.toString(16);

const memberLine = ({ role, address, qpn, node, psnDelta, write }: GroupMember): string =>
  `${role} ${hex(address.value)} ${hex(qpn)} ${hex(node.value)} ${hex(psnDelta)}` +
  (write ? ` ${hex(write.vaDelta)} ${hex(write.rKey)}` : '');

const known = new WeakMap<GroupMembers, Uint8Array>();

/** 8 octets. Covers all that an edge does with a packet of the group. */
export function membersDigest(members: GroupMembers): Uint8Array {
  let found = known.get(members);
  if (!found) {
    const { group, source, receivers } = members;
    const lines = [...(source ? [source] : []), ...receivers].map(memberLine).sort();
    known.set(members, (found = digest([`members ${hex(group.value)}`, ...lines])));
  }
  return found;
}

/**
 * 8 octets. A router's edge role below its own replication SID is a pair as well.
 * @param members digest of the members
 * @param pairs parent and child SID of each copy
 */
export const treeDigest = (members: Uint8Array, pairs: readonly (readonly [IpAddress, IpAddress])[]): Uint8Array =>
  digest([
    `tree ${digestText(members)}`,
    ...pairs.map(([parent, child]) => `${hex(parent.value)} ${hex(child.value)}`).sort(),
  ]);

/** 16 hexadecimal digits. */
export const digestText = (octets: Uint8Array): string => Buffer.from(octets).toString('hex');
