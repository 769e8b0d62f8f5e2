import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHex } from '../hex.ts';
import { BODIES, arbitraryLsa, lsaOf } from './arbitrary.fixture.ts';
import { decodeBody } from './lsa.ts';
import { lengthFlaw, shapeFlaw } from './lsa-shape.ts';
import type { Version } from './numbers.ts';

/**
 * Lengths without the header that a type may have at least, and some that it may not: FRR's tables (ospf_lsa_minlen,
 * ospf6_lsa_minlen) and the RFCs'.
 */
const LENGTHS: readonly (readonly [
  name: string,
  version: Version,
  type: number,
  good: readonly number[],
  bad: readonly number[],
])[] = [
  ['Router', 2, 1, [4, 16, 28], [0, 3, 5, 6, 17]],
  ['Network', 2, 2, [8, 12], [0, 4, 7, 9, 10]],
  ['Summary', 2, 3, [8, 12], [0, 4, 7, 9]],
  ['ASBR-Summary', 2, 4, [8, 12], [0, 4, 7, 9]],
  ['AS-External', 2, 5, [16, 28], [0, 12, 15, 20, 24]],
  ['NSSA', 2, 7, [16, 28], [0, 12, 15, 20, 24]],
  ['Opaque, link', 2, 9, [0, 4, 8], [1, 2, 3, 7]],
  ['Opaque, area', 2, 10, [0, 4, 8], [1, 2, 3, 7]],
  ['Opaque, AS', 2, 11, [0, 4, 8], [1, 2, 3, 7]],
  ['Router', 3, 0x2001, [4, 20, 36], [0, 3, 5, 12, 19]],
  ['Network', 3, 0x2002, [4, 8, 12], [0, 3, 5]],
  ['Inter-Area-Prefix', 3, 0x2003, [8, 24], [0, 4, 7]],
  ['Inter-Area-Router', 3, 0x2004, [12], [0, 11, 13, 16]],
  ['AS-External', 3, 0x4005, [8, 48], [0, 4, 7]],
  ['NSSA', 3, 0x2007, [8, 48], [0, 4, 7]],
  ['Link', 3, 0x0008, [24, 44], [0, 20, 23]],
  ['Intra-Area-Prefix', 3, 0x2009, [12, 24], [0, 8, 11]],
  ['Grace', 3, 0x000b, [16, 24], [0, 15]],
  ['a function whose lower eight bits are the Router-LSA’s', 3, 0xa101, [4, 5], [0, 3]],
  ['E-Router', 3, 0xa021, [4], [0, 3]],
  ['E-Network', 3, 0xa022, [4], [0, 3]],
  ['E-Inter-Area-Prefix', 3, 0xa023, [0, 20], []],
  ['E-AS-External', 3, 0xc025, [0, 20], []],
  ['E-Link', 3, 0x8028, [4, 40], [0, 3]],
  ['E-Intra-Area-Prefix', 3, 0xa029, [12, 40], [0, 11]],
  ['Router Information', 3, 0xa00c, [0, 8], []],
  ['SRv6 Locator', 3, 0xa02a, [0, 40], []],
  ['unknown', 3, 0xa07b, [0, 1, 2, 3], []],
  ['unknown', 2, 8, [0, 1, 2, 3], []],
];

describe.each(LENGTHS)('%s, OSPFv%i, type %i', (_name, version, type, good, bad) => {
  const flaw = (body: number): string | undefined => lengthFlaw(version, { type, length: 20 + body });

  test('may have these lengths, and not those', () => {
    expect(good.filter((body) => flaw(body) !== undefined)).toEqual([]);
    expect(bad.filter((body) => flaw(body) === undefined)).toEqual([]);
  });
});

/** Bodies whose length is right and whose list does not fill them, and right ones. */
const LISTS: readonly (readonly [name: string, version: Version, type: number, body: string, right: boolean])[] = [
  ['one link', 2, 1, '00000001' + '0a000001'.repeat(2) + '01000001', true],
  ['no link', 2, 1, '00000000', true],
  ['a link and less than one behind it', 2, 1, '00000001' + '0a000001'.repeat(2) + '01000001' + '00000000', true],
  ['a link with six TOS metrics', 2, 1, '00000001' + '0a000001'.repeat(2) + '01060001' + '00000000'.repeat(6), true],
  ['two links declared, one there', 2, 1, '00000002' + '0a000001'.repeat(2) + '01000001', false],
  ['none declared, one there', 2, 1, '00000000' + '0a000001'.repeat(2) + '01000001', false],
  ['TOS metrics beyond the LSA', 2, 1, '00000001' + '0a000001'.repeat(2) + '01030001', false],
  ['::/0', 3, 0x2003, '00000001' + '00000000', true],
  ['a /64', 3, 0x2003, '00000001' + '40000000' + '20010db800000001', true],
  ['a /128', 3, 0x2003, '00000001' + '80000000' + '20010db8'.repeat(4), true],
  ['a prefix beyond the LSA', 3, 0x2003, '00000001' + '40000000' + '20010db8', false],
  ['a prefix of 129 bits', 3, 0x2003, '00000001' + '81000000' + '00'.repeat(20), false],
  ['two prefixes', 3, 0x2003, '00000001' + '00000000' + '00000000', false],
  ['half a prefix behind it', 3, 0x2003, '00000001' + '00000000' + '0000', false],
  ['a /32 outside', 3, 0x4005, '04000001' + '20000000' + '20010db8', true],
  ['with address, tag and reference', 3, 0x4005, '03000001' + '20002009' + '20010db8' + '00'.repeat(24), true],
  ['an address announced, and none there', 3, 0x4005, '02000001' + '20000000' + '20010db8', false],
  ['a tag announced, and the prefix in its place', 3, 0x4005, '01000001' + '20000000' + '20010db8', false],
  ['a reference announced, and the prefix in its place', 3, 0x2007, '00000001' + '20002009' + '20010db8', false],
  ['a tag that was not announced', 3, 0x2007, '00000001' + '20000000' + '20010db8' + '00000007', false],
  ['a link without prefixes', 3, 8, '01000013' + 'fe80'.padEnd(32, '0') + '00000000', true],
  ['a prefix declared, none there', 3, 8, '01000013' + 'fe80'.padEnd(32, '0') + '00000001', false],
  ['a prefix there, none declared', 3, 8, '01000013' + 'fe80'.padEnd(32, '0') + '00000000' + '00000000', false],
  ['one prefix', 3, 0x2009, '00012001' + '00'.repeat(8) + '20000000' + '20010db8', true],
  ['two declared, one there', 3, 0x2009, '00022001' + '00'.repeat(8) + '20000000' + '20010db8', false],
];

test.each(LISTS)('%s, OSPFv%i, type %i: %s', (_name, version, type, body, right) => {
  const lsa = lsaOf(version, { type, lsId: 1, advertisingRouter: 1 }, { kind: 'unknown', content: fromHex(body) });
  expect(shapeFlaw(version, lsa) === undefined).toBe(right);
});

test('the flaw is described in words, with the lengths of whole LSAs', () => {
  const flaw = (type: number, body: string): string | undefined =>
    shapeFlaw(3, lsaOf(3, { type, lsId: 1, advertisingRouter: 1 }, { kind: 'unknown', content: fromHex(body) }));
  expect(flaw(0x2001, '0000')).toBe('22 bytes, shorter than the fixed part of its type (24)');
  expect(flaw(0x2004, '00'.repeat(16))).toBe('36 bytes, longer than its type (32)');
  expect(flaw(0x2001, '00'.repeat(12))).toBe('32 bytes are not whole units of its type (16 bytes after 24)');
  expect(flaw(0x4005, '02000001' + '20000000' + '20010db8')).toBe('shorter than the fields that it announces');
  expect(flaw(0x4005, '02000001' + '20000000' + '00'.repeat(12))).toBe('1 prefixes declared, 0 present');
  expect(flaw(0x2003, '00000001' + '40000000' + '20010db8')).toBe('a prefix exceeds the LSA');
  expect(flaw(0x2003, '00000001' + '00000000' + '0000')).toBe('a malformed prefix');
});

describe.each([2, 3] as const)('OSPFv%i', (version) => {
  test('whatever can be encoded and read has the shape of its type', () => {
    expect(BODIES[version].length).toBeGreaterThan(5);
    fc.assert(
      fc.property(arbitraryLsa(version), (lsa) => {
        const body = decodeBody(version, lsa);
        // Bodies that are not read are of any length; a Network-LSA without routers can be encoded, and ospfd refuses
        // it.
        if (
          !body.ok ||
          body.value.body.kind === 'unknown' ||
          (body.value.body.kind === 'network-v2' && body.value.body.attachedRouters.length === 0)
        )
          return;
        expect(shapeFlaw(version, lsa)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test('any bytes of any type: an answer, and no exception', () => {
    fc.assert(
      fc.property(fc.nat(version === 2 ? 11 : 0xffff), fc.uint8Array({ maxLength: 60 }), (type, content) => {
        const lsa = {
          type,
          lsId: 1,
          advertisingRouter: 1,
          age: 1,
          options: 0,
          sequence: 1,
          checksum: 0,
          length: 20 + content.length,
          raw: Uint8Array.of(...new Uint8Array(20), ...content),
        };
        expect(['string', 'undefined']).toContain(typeof shapeFlaw(version, lsa));
      }),
    );
  });
});
