import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../model/address.ts';
import { receiver, source } from '../model/group.fixture.ts';
import { type GroupMember, compareClaims } from '../model/group.ts';
import { digestText, membersDigest } from './digests.ts';
import { membersInForce } from './membership.ts';

const digests = (claims: readonly GroupMember[]): string[] =>
  [...membersInForce(claims).groups].map(([id, members]) => `${id} ${digestText(membersDigest(members))}`);

/** Claims for two hosts through one edge that differ in a single part each. */
const RIVALS: readonly GroupMember[] = [
  source({ qpn: 7 }),
  source({ qpn: 8 }),
  ...[1, 2].flatMap((n) => [
    receiver(n),
    receiver(n, { qpn: 2 }),
    receiver(n, { psnDelta: 5 }),
    receiver(n, { write: { vaDelta: 0n, rKey: 1 } }),
    receiver(n, { write: { vaDelta: 2n ** 63n, rKey: 1 } }),
    receiver(n, { write: { vaDelta: 0n, rKey: 2 } }),
  ]),
];

test('RMC-5.1-d: routers that learn of claims in different orders have the same members, and the same digest', () => {
  fc.assert(
    fc.property(
      fc
        .shuffledSubarray([...RIVALS])
        .chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }))),
      ([some, shuffled]) => {
        expect(digests(shuffled)).toEqual(digests(some));
      },
    ),
    { numRuns: 500, seed: 3 },
  );
});

test('only equal claims are equal in the order of claims, which does not depend on who asks', () => {
  for (const a of RIVALS)
    for (const b of RIVALS) {
      expect(compareClaims(a, b) === 0).toBe(a === b);
      expect(Math.sign(compareClaims(a, b))).toBe(-Math.sign(compareClaims(b, a)) + 0);
    }
  expect(compareClaims(receiver(1), receiver(1))).toBe(0);
});

describe('a group whose Proxy Address is a member of another group', () => {
  const OTHER = { group: receiver(1).address };
  const kinds = (claims: readonly GroupMember[]): string[] =>
    membersInForce(claims).conflicts.map(({ kind, claim }) => `${kind} ${formatAddress(claim.group)}`);

  test.each<[string, GroupMember]>([
    ['a receiver', receiver(1)],
    ['an edge', receiver(2, { node: OTHER.group })],
    ['a source', source({ address: OTHER.group })],
  ])('does not count, and the member does: %s', (_, member) => {
    const claims = [member, receiver(7, OTHER), source({ ...OTHER, address: receiver(8).address })];
    expect([...membersInForce(claims).groups.keys()]).toEqual([formatAddress(member.group)]);
    expect(digests(claims)).toEqual(digests([member]));
    expect(kinds(claims)).toEqual(['proxy-is-member 2001:db8:b::1']);
  });

  test('two that name each other both do not count: their copies would go around', () => {
    const back = receiver(9, { ...OTHER, address: receiver(1).group });
    expect([...membersInForce([receiver(1), back]).groups]).toEqual([]);
  });
});

test('of two sources, and of two edges of a receiver, that with the lower SID counts; a source is no receiver', () => {
  const [low, high] = [address('2001:db8:e::1'), address('2001:db8:e::2')];
  const claims = [
    ...[source({ node: high }), source({ node: low, qpn: 7 })],
    ...[receiver(1, { node: high }), receiver(1, { node: low }), receiver(1, { node: low })],
    receiver(0x5000),
  ];
  const { groups, conflicts } = membersInForce(claims);
  expect([...groups.values()]).toEqual([{ group: claims[0]!.group, source: claims[1], receivers: [claims[3]] }]);
  expect(conflicts).toEqual([
    { kind: 'second-source', claim: claims[0], winner: claims[1] },
    { kind: 'second-edge', claim: claims[2], winner: claims[3] },
    { kind: 'source-too', claim: claims[5], winner: claims[1] },
  ]);
});

test('claims to which no packet could be sent are none', () => {
  const claims = [
    receiver(1, { qpn: 1 }),
    receiver(2, { qpn: 0xff_ffff }),
    receiver(3, { address: address('ff05::1') }),
  ];
  expect([...membersInForce(claims).groups]).toEqual([]);
});

test('a group whose claims are reported again stays the same object; one with another claim does not', () => {
  const other = address('2001:db8:ab::1');
  const claims = (qpn: number): GroupMember[] => [
    ...[source(), receiver(1), receiver(2, { qpn })],
    ...[source({ group: other }), receiver(1, { group: other })],
  ];
  const former = membersInForce(claims(5));
  const next = membersInForce(claims(6), former);
  const [changed, same] = [...next.groups.keys()] as [string, string];
  expect(next.groups.get(same)).toBe(former.groups.get(same));
  expect(next.groups.get(changed)).not.toBe(former.groups.get(changed));
  expect(digests(claims(6))).toEqual([...next.groups].map(([id, all]) => `${id} ${digestText(membersDigest(all))}`));
  expect([...membersInForce(claims(6).slice(0, 3), next).groups.keys()]).toEqual([changed]);
});

test('a group that is the same but has become a host of another does not count any more, and does again', () => {
  const former = membersInForce([receiver(1)]);
  const rival = receiver(2, { group: address('2001:db8:ab::1'), address: receiver(1).group });
  const between = membersInForce([receiver(1), rival], former);
  expect([...between.groups.keys()]).toEqual(['2001:db8:ab::1']);
  expect([...membersInForce([receiver(1)], between).groups]).toEqual([...former.groups]);
});
