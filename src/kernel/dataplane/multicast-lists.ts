// Lists of branches of End.MT (bpf/lib/multicast/layout.h): the bytes of their keys and values. A list never changes:
// another composition is another list with other slots.
import type { IpAddress } from '../../model/address.ts';
import { LITTLE_ENDIAN, putMapped, structure, unmappedAddress, viewOf } from './layout.ts';

export type MulticastRole = 'edge' | 'branching';
const ROLE = { edge: 0, branching: 1 } as const;
const ROLES = ['edge', 'branching'] as const;

/** MULTICAST_STATE. */
export const multicastStateIndex = (group: number, role: MulticastRole): number => group * 2 + ROLE[role];

/** Of a state's index. */
export const multicastRoleOf = (index: number): MulticastRole => ROLES[index & 1]!;

export interface MulticastListKey {
  /** 8 bytes as in the tree TLV: the members digest for an edge, the tree digest for a branching node. */
  readonly digest: Uint8Array;
  readonly group: number;
  readonly role: MulticastRole;
}

/** struct multicast_list_key. @throws RangeError for a digest of another length */
export function multicastListKey(key: MulticastListKey): Uint8Array {
  if (key.digest.length !== 8) throw new RangeError(`a digest of ${key.digest.length} bytes instead of 8`);
  return structure(16, (view, bytes) => {
    bytes.set(key.digest);
    view.setUint32(8, key.group, LITTLE_ENDIAN);
    view.setUint32(12, ROLE[key.role], LITTLE_ENDIAN);
  });
}

export function decodeMulticastListKey(key: Uint8Array): MulticastListKey {
  const view = viewOf(key);
  return {
    digest: key.slice(0, 8),
    group: view.getUint32(8, LITTLE_ENDIAN),
    role: ROLES[view.getUint32(12, LITTLE_ENDIAN)] ?? 'edge',
  };
}

export interface MulticastList {
  readonly group: number;
  /** Slot of its first branch. */
  readonly first: number;
  /** Branches, 1 to MULTICAST_BRANCHES. */
  readonly count: number;
  readonly role: MulticastRole;
  /** The first branch is this router's own edge role. */
  readonly hasLocal: boolean;
  /** Number of the router from which packets may come; 0: this router is the root, or an edge. */
  readonly parent: number;
}

/** struct multicast_list. */
export const encodeMulticastList = (list: MulticastList): Uint8Array =>
  structure(16, (view, bytes) => {
    view.setUint32(0, list.group, LITTLE_ENDIAN);
    view.setUint32(4, list.first, LITTLE_ENDIAN);
    view.setUint16(8, list.count, LITTLE_ENDIAN);
    bytes[10] = ROLE[list.role];
    bytes[11] = list.hasLocal ? 1 : 0;
    view.setUint32(12, list.parent, LITTLE_ENDIAN);
  });

export function decodeMulticastList(value: Uint8Array): MulticastList {
  const view = viewOf(value);
  return {
    group: view.getUint32(0, LITTLE_ENDIAN),
    first: view.getUint32(4, LITTLE_ENDIAN),
    count: view.getUint16(8, LITTLE_ENDIAN),
    role: ROLES[value[10]!] ?? 'edge',
    hasLocal: value[11] === 1,
    parent: view.getUint32(12, LITTLE_ENDIAN),
  };
}

/** A receiver, a child, or this router's own edge role. */
export interface MulticastBranch {
  /** Of the receiver, or the SID of the child; null: the local branch. */
  readonly address: IpAddress | null;
  /** Of a receiver, else 0. */
  readonly qpn: number;
  /** Added to the PSN modulo 2^24. */
  readonly psnDelta: number;
  /** Null: the RETH is not changed. `vaDelta` is added modulo 2^64. */
  readonly write: { readonly vaDelta: bigint; readonly rKey: number } | null;
  /** Stalled, and taken out of the minimum. It still gets packets. */
  readonly excluded: boolean;
}

export const MULTICAST_BRANCH_SIZE = 40;
const BRANCH = { address: 0, qpn: 16, psnDelta: 20, vaDelta: 24, rKey: 32, hasWrite: 36, excluded: 37 } as const;

/** struct multicast_branch. */
export const encodeMulticastBranch = (branch: MulticastBranch): Uint8Array =>
  structure(MULTICAST_BRANCH_SIZE, (view, bytes) => {
    if (branch.address) putMapped(bytes, BRANCH.address, branch.address);
    view.setUint32(BRANCH.qpn, branch.qpn, LITTLE_ENDIAN);
    view.setUint32(BRANCH.psnDelta, branch.psnDelta, LITTLE_ENDIAN);
    if (branch.write) {
      view.setBigUint64(BRANCH.vaDelta, branch.write.vaDelta, LITTLE_ENDIAN);
      view.setUint32(BRANCH.rKey, branch.write.rKey, LITTLE_ENDIAN);
      bytes[BRANCH.hasWrite] = 1;
    }
    bytes[BRANCH.excluded] = branch.excluded ? 1 : 0;
  });

export function decodeMulticastBranch(value: Uint8Array): MulticastBranch {
  const view = viewOf(value);
  const address = unmappedAddress(value);
  return {
    address: address.value === 0n ? null : address,
    qpn: view.getUint32(BRANCH.qpn, LITTLE_ENDIAN),
    psnDelta: view.getUint32(BRANCH.psnDelta, LITTLE_ENDIAN),
    write: value[BRANCH.hasWrite]
      ? {
          vaDelta: view.getBigUint64(BRANCH.vaDelta, LITTLE_ENDIAN),
          rKey: view.getUint32(BRANCH.rKey, LITTLE_ENDIAN),
        }
      : null,
    excluded: value[BRANCH.excluded] === 1,
  };
}

/** Who may answer in a list: a receiver by its address, a child by its SID. */
export interface MulticastMemberKey {
  readonly address: IpAddress;
  /** Index of the list. */
  readonly list: number;
}

/** struct multicast_member_key. */
export const multicastMemberKey = (key: MulticastMemberKey): Uint8Array =>
  structure(24, (view, bytes) => {
    putMapped(bytes, 0, key.address);
    view.setUint32(16, key.list, LITTLE_ENDIAN);
  });

export const decodeMulticastMemberKey = (key: Uint8Array): MulticastMemberKey => ({
  address: unmappedAddress(key),
  list: viewOf(key).getUint32(16, LITTLE_ENDIAN),
});
