import { describe, expect, test } from 'vitest';
import { address, formatAddress } from '../model/address.ts';
import { receiver } from '../model/group.fixture.ts';
import type { GroupMember } from '../model/group.ts';
import { type GroupMembers, membersInForce } from './membership.ts';
import { endMtTlvs, overhead, roceMtuWithin, rocePacket, tlvOctets, tlvsThatFit } from './sizes.ts';

const EDGES = ['2001:db8:e::1', '2001:db8:e::2'].map(address);
const members = (...claims: readonly GroupMember[]): GroupMembers => [...membersInForce(claims).groups.values()][0]!;
/** So many receivers at each of these edges. */
const at = (...counts: readonly number[]): GroupMembers =>
  members(
    ...counts.flatMap((count, edge) =>
      Array.from({ length: count }, (_, n) => receiver(0x100 * (edge + 1) + n, { node: EDGES[edge]! })),
    ),
  );
const shape = (all: GroupMembers): string[] =>
  endMtTlvs(all).map(({ edge, receivers }) => `${formatAddress(edge)} ${receivers.length}`);

describe('End.MT TLVs', () => {
  test.each([
    [1, [1]],
    [11, [11]],
    [12, [11, 1]],
    [34, [11, 11, 11, 1]],
  ])('RMC-7.2-b: one has at most 11 receivers: %i at one edge', (count, sizes) => {
    expect(shape(at(count))).toEqual(sizes.map((size) => `2001:db8:e::1 ${size}`));
    expect(endMtTlvs(at(count)).flatMap(({ receivers }) => receivers)).toEqual(at(count).receivers);
  });

  test('RMC-7.2-f: each edge has its own', () => {
    expect(shape(at(2, 12))).toEqual(['2001:db8:e::1 2', '2001:db8:e::2 11', '2001:db8:e::2 1']);
  });

  test.each([
    [1, 48],
    [2, 64],
    [10, 224],
    [11, 248],
    [12, 248 + 48],
  ])('%i receivers take units of eight octets: %i', (count, octets) => {
    expect(tlvOctets(endMtTlvs(at(count)))).toBe(octets);
  });
});

test('a tree adds 104 octets, 144 with an HMAC, and the TLVs', () => {
  expect([overhead([], false), overhead([], true)]).toEqual([104, 144]);
  expect(overhead(endMtTlvs(at(2)), false)).toBe(168);
});

test('the MTU of a connection is the largest whose longest packet fits', () => {
  expect([rocePacket(256), rocePacket(4096)]).toEqual([340, 4180]);
  expect([339, 340, 1107, 1108, 4179, 4180, 9000].map(roceMtuWithin)).toEqual([0, 256, 512, 1024, 2048, 4096, 4096]);
});

describe('RMC-8-f: receivers are in the packets only if all of them fit', () => {
  const LARGE = { tlvLimit: 4096, hasHmac: false, mtu: 9000 };
  const fit = (all: GroupMembers, limits: Partial<typeof LARGE>): number =>
    tlvsThatFit(all, { ...LARGE, ...limits }).reduce((sum, { receivers }) => sum + receivers.length, 0);

  test('within the limit of the file, to the octet', () => {
    expect(fit(at(22), { tlvLimit: 512 })).toBe(22);
    expect(fit(at(23), { tlvLimit: 512 })).toBe(0);
    expect([496, 495].map((tlvLimit) => fit(at(22), { tlvLimit }))).toEqual([22, 0]);
  });

  test('within an SRH of 2048 octets, whose length field counts no more', () => {
    expect([88, 89].map((count) => fit(at(count), {}))).toEqual([88, 0]);
    expect([86, 87].map((count) => fit(at(count), { hasHmac: true }))).toEqual([86, 0]);
    // 2056 octets: the next size.
    expect(fit(at(82, 5), {})).toBe(0);
  });

  test('only if connections need no smaller MTU for them', () => {
    // 1108 octets of a connection with an MTU of 1024, 104 of the tree, 288 of the TLVs.
    expect([1500, 1499].map((mtu) => fit(at(6, 6), { mtu }))).toEqual([12, 0]);
    expect(fit(at(6, 6), { mtu: 1500, hasHmac: true })).toBe(0);
  });
});
