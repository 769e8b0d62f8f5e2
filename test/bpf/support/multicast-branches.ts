// Receivers and children of a group in the tests.
import type { MulticastBranch } from '../../../src/kernel/dataplane/multicast-lists.ts';
import { type IpAddress, address } from '../../../src/model/address.ts';

/** Most receivers of a test. */
export const RECEIVERS = 64;
/** The n-th receiver, from 0 on. Odd ones are behind the second port. */
export const receiverAddress = (n: number): IpAddress =>
  address(`2001:db8:${n % 2 === 0 ? 1 : 2}::1:${n.toString(16)}`);
export const receiver = (n: number, over: Partial<MulticastBranch> = {}): MulticastBranch => ({
  address: receiverAddress(n),
  qpn: 0x00a100 + n * 0x10203,
  psnDelta: (n * 0x3fffff) & 0xffffff,
  write: null,
  excluded: false,
  ...over,
});
/** The first so many. */
export const receivers = (count: number): MulticastBranch[] => Array.from({ length: count }, (_, n) => receiver(n));
export const childSid = (n: number): IpAddress => address(`2001:db8:c${n.toString(16).padStart(2, '0')}::1`);
export const child = (n: number): MulticastBranch => ({
  address: childSid(n),
  qpn: 0,
  psnDelta: 0,
  write: null,
  excluded: false,
});
export const children = (count: number): MulticastBranch[] => Array.from({ length: count }, (_, n) => child(n));
/** The router's own edge role. */
export const LOCAL: MulticastBranch = { address: null, qpn: 0, psnDelta: 0, write: null, excluded: false };
