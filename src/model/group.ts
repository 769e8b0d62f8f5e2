// End.MT groups (draft "SRv6 Extensions for RDMA Multicast Delivery"): who belongs to one, and where.
import { type IpAddress, compareAddresses, isUnicastHost, sameAddress } from './address.ts';

/** Changes to the RETH of a WRITE for one receiver. */
export interface WriteDelta {
  /** Added to the virtual address, modulo 2^64. */
  readonly vaDelta: bigint;
  /** Replaces the R_Key; 32 bits. */
  readonly rKey: number;
}

/** One member of a group. A group is identified by its Proxy Address, a unicast /128 (decision C5). */
export interface GroupMember {
  readonly group: IpAddress;
  readonly role: 'source' | 'receiver';
  /** The host. IPv6. */
  readonly address: IpAddress;
  /**
   * 24 bits. Of a receiver: its own Queue Pair. Of the source: the Designated Queue Pair, to which all answers go (RMC
   * §5.1).
   */
  readonly qpn: number;
  /** Of a receiver: its edge's End.MT SID. Of the source: the replication SID of its router, the root of the tree. */
  readonly node: IpAddress;
  /** Added to the PSN for this receiver, modulo 2^24; 0 for a source. */
  readonly psnDelta: number;
  /** Absent: a WRITE reaches this receiver unchanged. */
  readonly write?: WriteDelta | undefined;
}

/** Queue Pairs 0 and 1 are for management (IBTA volume 1, §3.9.1), 0xFFFFFF is multicast's. */
export const LOWEST_QPN = 2;
export const HIGHEST_QPN = 0xff_fffe;

/** Whether packets could be sent to it: unicast IPv6 addresses, and the Queue Pair of a connection. */
export const isUsableMember = ({ group, address, node, qpn }: GroupMember): boolean =>
  [group, address, node].every((one) => one.family === 6 && isUnicastHost(one)) &&
  !sameAddress(group, address) &&
  !sameAddress(group, node) &&
  qpn >= LOWEST_QPN &&
  qpn <= HIGHEST_QPN;

/** Whether only one of two claims can count: a group has one source, and a receiver one edge. */
export const excludes = (a: GroupMember, b: GroupMember): boolean =>
  sameAddress(a.group, b.group) && a.role === b.role && (a.role === 'source' || sameAddress(a.address, b.address));

const compareWrites = (a: WriteDelta | undefined, b: WriteDelta | undefined): number =>
  a && b ? Number(a.vaDelta - b.vaDelta) || a.rKey - b.rKey : Number(a !== undefined) - Number(b !== undefined);

/**
 * By group, then the source before the receivers. Of claims that exclude each other the one that counts comes first:
 * the one with the lowest SID, then by all else. It is 0 for equal claims only, so that all routers decide alike in
 * whatever order they learn of claims: a packet passes only where the digests of the members are equal.
 */
export const compareClaims = (a: GroupMember, b: GroupMember): number =>
  compareAddresses(a.group, b.group) ||
  Number(a.role === 'receiver') - Number(b.role === 'receiver') ||
  (a.role === 'receiver' ? compareAddresses(a.address, b.address) : 0) ||
  compareAddresses(a.node, b.node) ||
  compareAddresses(a.address, b.address) ||
  a.qpn - b.qpn ||
  a.psnDelta - b.psnDelta ||
  compareWrites(a.write, b.write);

/** Unique among the members of all groups; a source is no receiver. */
export const memberKey = ({ group, role, address }: GroupMember): string =>
  `${group.value.toString(32)} ${role} ${address.value.toString(32)}`;

const sameWrite = (a: WriteDelta | undefined, b: WriteDelta | undefined): boolean =>
  a?.vaDelta === b?.vaDelta && a?.rKey === b?.rKey;

/** Whether two members with the same key are the same in all else. */
export const sameMember = (a: GroupMember, b: GroupMember): boolean =>
  a.qpn === b.qpn && sameAddress(a.node, b.node) && a.psnDelta === b.psnDelta && sameWrite(a.write, b.write);
