// All routers compute these digests by themselves, also those of other versions: the values are fixed. They were
// computed by hand from the canonical text (digests.ts).
import { expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { receiver, source } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import { digestText, membersDigest, treeDigest } from './digests.ts';
import { membersInForce } from './membership.ts';

const CHANGED = receiver(2, { psnDelta: 7, write: { vaDelta: 2n ** 64n - 4096n, rKey: 9 } });
const ALL = [source(), receiver(1), CHANGED];
const ofMembers = (...claims: readonly GroupMember[]): string =>
  digestText(membersDigest([...membersInForce(claims).groups.values()][0]!));

test('of the members of a group', () => {
  expect(ofMembers(...ALL)).toBe('978e73869ff231ff');
  expect(ofMembers(source())).toBe('76aaead21dc30dba');
  expect(ofMembers(receiver(1))).toBe('958e8b7698b7dd02');
});

test('of a tree: pairs of parent and child in any order', () => {
  const members = Buffer.from('978e73869ff231ff', 'hex');
  const pairs = [
    ['2001:db8:f::1', '2001:db8:f::2'],
    ['2001:db8:f::1', '2001:db8:e::1'],
  ].map(([parent, child]): [IpAddress, IpAddress] => [address(parent!), address(child!)]);
  expect(digestText(treeDigest(members, pairs))).toBe('26dddc3961eb41de');
  expect(digestText(treeDigest(members, [...pairs].reverse()))).toBe('26dddc3961eb41de');
  expect(digestText(treeDigest(members, []))).toBe('21bda45a0e499951');
});

const OTHER = address('2001:db8:99::1');
test.each<[string, GroupMember[]]>([
  ['the source', [source({ address: OTHER }), receiver(1), CHANGED]],
  ['the Designated Queue Pair', [source({ qpn: 0x901 }), receiver(1), CHANGED]],
  ['the router of the source', [source({ node: OTHER }), receiver(1), CHANGED]],
  ['a receiver', [source(), receiver(3), CHANGED]],
  ['its Queue Pair', [source(), receiver(1, { qpn: 7 }), CHANGED]],
  ['its edge', [source(), receiver(1, { node: OTHER }), CHANGED]],
  ['its PSN', [source(), receiver(1, { psnDelta: 1 }), CHANGED]],
  ['its changes to WRITEs', [source(), receiver(1, { write: { vaDelta: 0n, rKey: 0 } }), CHANGED]],
  ['the Proxy Address', ALL.map((member) => ({ ...member, group: OTHER }))],
])('whatever an edge does differently has another digest: %s', (_, members) => {
  expect(ofMembers(...members)).not.toBe(ofMembers(...ALL));
});
