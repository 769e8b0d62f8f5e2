import fc from 'fast-check';
import { expect, test } from 'vitest';
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
