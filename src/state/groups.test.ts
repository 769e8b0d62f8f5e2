import { expect, test } from 'vitest';
import { membersInForce } from '../groups/membership.ts';
import type { GroupIntent } from '../intent/intent.ts';
import type { GroupClaim } from '../learned/routers.ts';
import { address, formatAddress } from '../model/address.ts';
import { receiver, source } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import { groupStates } from './groups.ts';

const group = (...members: readonly GroupMember[]): GroupIntent => ({
  name: 'weights',
  proxyAddress: members[0]!.group,
  designatedQpn: 0x900,
  members,
  ...{ cnpWindowMs: 0.05, copiesPerSecond: 1000, rewriteSource: true },
});
const claim = (member: GroupMember, originator = 'L2 r2', more: Partial<GroupClaim> = {}): GroupClaim => ({
  member,
  carrier: 'isis',
  originator,
  ...more,
});
const conflictsOf = (groups: readonly GroupIntent[], claims: readonly GroupClaim[]) =>
  membersInForce([...groups.flatMap(({ members }) => members), ...claims.map(({ member }) => member)]).conflicts;
const shown = (groups: readonly GroupIntent[], ...claims: readonly GroupClaim[]): string[] =>
  groupStates({ groups }, { groupMembers: () => [...claims] }, conflictsOf(groups, claims)).map(
    ({ role, address: host, node, originator, status, name, carrier }) =>
      `${role} ${host} at ${node}: ${status}, by ${originator} (${carrier}), ${name ?? '-'}`,
  );
const [HIGHER, LOWER] = [address('2001:db8:e::9'), address('2001:db8:e::5')];

test('nothing without groups; every part of a member is shown', () => {
  expect(groupStates({}, { groupMembers: () => [] }, [])).toEqual([]);
  const member = receiver(1, { psnDelta: 7, write: { vaDelta: 2n ** 64n - 4096n, rKey: 9 } });
  expect(groupStates({ groups: [group(member)] }, { groupMembers: () => [] }, [])).toEqual([
    {
      group: formatAddress(member.group),
      role: 'receiver',
      address: '2001:db8:b::1',
      carrier: 'local',
      originator: 'local',
      name: 'weights',
      qpn: 1001,
      node: '2001:db8:e::1',
      psnDelta: 7,
      vaDelta: '-4096',
      rKey: 9,
      status: 'in force',
    },
  ]);
});

test('the source comes before the receivers, whoever declares them; a name is of this router’s file', () => {
  const other = { group: address('2001:db8:aa::2') };
  expect(shown([group(receiver(1))], claim(source()), claim(receiver(2, other)))).toEqual([
    'source 2001:db8:b::5000 at 2001:db8:f::1: in force, by L2 r2 (isis), weights',
    'receiver 2001:db8:b::1 at 2001:db8:e::1: in force, by local (local), weights',
    'receiver 2001:db8:b::2 at 2001:db8:e::1: in force, by L2 r2 (isis), -',
  ]);
});

test('of two edges that claim one receiver the lower SID counts, and the other row shows whose claim does', () => {
  const [higher, lower] = [receiver(1, { node: HIGHER }), receiver(1, { node: LOWER })];
  const row = (node: string, rest: string): string => `receiver 2001:db8:b::1 at 2001:db8:e::${node}: ${rest}`;
  expect(shown([], claim(higher, 'L2 r3'), claim(lower, 'L2 r2'))).toEqual([
    row('5', 'in force, by L2 r2 (isis), -'),
    row('9', 'not in force: claimed by L2 r2 (isis), by L2 r3 (isis), -'),
  ]);
  expect(shown([group(higher)], claim(lower))).toEqual([
    row('5', 'in force, by L2 r2 (isis), weights'),
    row('9', 'not in force: claimed by L2 r2 (isis), by local (local), weights'),
  ]);
  expect(shown([group(lower)], claim(lower))).toEqual([
    row('5', 'in force, by local (local), weights'),
    row('5', 'not in force: claimed by this router, by L2 r2 (isis), weights'),
  ]);
});

test('a group has one source: that of the lower SID', () => {
  const other = source({ address: address('2001:db8:b::1'), node: address('2001:db8:f::2') });
  expect(shown([group(other)], claim(source()))).toEqual([
    'source 2001:db8:b::5000 at 2001:db8:f::1: in force, by L2 r2 (isis), weights',
    'source 2001:db8:b::1 at 2001:db8:f::2: not in force: the source is 2001:db8:b::5000, of L2 r2 (isis), by local (local), weights',
  ]);
});

test('a receiver that is the source of its group does not count, and its row shows that', () => {
  const both = receiver(0x5000);
  expect(shown([group(both)], claim(source()), claim(receiver(1)))).toEqual([
    'source 2001:db8:b::5000 at 2001:db8:f::1: in force, by L2 r2 (isis), weights',
    'receiver 2001:db8:b::1 at 2001:db8:e::1: in force, by L2 r2 (isis), weights',
    'receiver 2001:db8:b::5000 at 2001:db8:e::1: not in force: it is the source of the group, by local (local), weights',
  ]);
});

test('no member of a group counts whose Proxy Address is a member of another group', () => {
  const other = { group: address('2001:db8:b::1') };
  expect(shown([], claim(receiver(1)), claim(source(other)), claim(receiver(2, other)))).toEqual([
    ...['source 2001:db8:b::5000 at 2001:db8:f::1', 'receiver 2001:db8:b::2 at 2001:db8:e::1'].map(
      (member) =>
        `${member}: not in force: the Proxy Address belongs to the member 2001:db8:b::1 at 2001:db8:e::1 of the group ` +
        '2001:db8:aa::1, by L2 r2 (isis), -',
    ),
    'receiver 2001:db8:b::1 at 2001:db8:e::1: in force, by L2 r2 (isis), -',
  ]);
});

test('a claim of a router that is lost is held, and its row shows until when', () => {
  const until = '2026-11-24T12:00:00.000Z';
  expect(shown([], claim(receiver(1), 'L2 r2', { heldUntil: until }))).toEqual([
    `receiver 2001:db8:b::1 at 2001:db8:e::1: held until ${until}, by L2 r2 (isis), -`,
  ]);
});
