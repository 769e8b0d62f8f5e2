// For tests: members of an End.MT group, as they are advertised and as they are learned.
import { address, formatAddress } from './address.ts';
import type { Advertisement, AdvertisementOf, LearnedAdvertisement, LearnedReport } from './advertisement.ts';
import type { GroupMember } from './group.ts';

const GROUP = address('2001:db8:aa::1');

/** Receiver number n of a group, with a Queue Pair that shows it. */
export const receiver = (n: number, change: Partial<GroupMember> = {}): AdvertisementOf<'group-membership'> => ({
  kind: 'group-membership',
  group: GROUP,
  role: 'receiver',
  address: address(`2001:db8:b::${n.toString(16)}`),
  qpn: 1000 + n,
  node: address('2001:db8:e::1'),
  psnDelta: 0,
  ...change,
});

export const source = (change: Partial<GroupMember> = {}): AdvertisementOf<'group-membership'> =>
  receiver(0x5000, { role: 'source', qpn: 0x900, node: address('2001:db8:f::1'), ...change });

const memberText = ({ role, group, address: host, qpn, node, psnDelta, write }: GroupMember): string =>
  `${role} ${[group, host, node].map(formatAddress).join(' ')} ${qpn} ${psnDelta}` +
  (write ? ` ${write.vaDelta} ${write.rKey}` : '');

/** The members among the advertisements, one line each, sorted. */
export const membersIn = (advertisements: readonly (Advertisement | LearnedAdvertisement)[]): string[] =>
  advertisements.flatMap((one) => (one.kind === 'group-membership' ? [memberText(one)] : [])).sort();

/** As `originator: member`. */
export const membersOf = (reports: Iterable<LearnedReport>): string[] =>
  [...reports]
    .flatMap(({ originator, advertisements }) => membersIn(advertisements).map((text) => `${originator}: ${text}`))
    .sort();
