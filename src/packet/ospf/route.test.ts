// The routes of Summary and AS-External-LSAs, as cnpd reads them: RFC 2328 §A.4.4 and §A.4.5, RFC 5340 §A.4.5 to
// §A.4.8.
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { prefix } from '../../model/prefix.ts';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { LSA_HEADER_LENGTH } from './lsa-header.ts';
import type { Version } from './numbers.ts';
import { maskLength, readPrefixRoute, readRouterRoute } from './route.ts';

const NET = 0x0a010000;
const EXTERNAL = '00000000' + '00000007';
const V6 = '20010db800010000';

/** An LSA is a route to a prefix or to a router; of what it is not, nothing is read. */
function read(version: Version, type: number, hex: string, lsId = NET): unknown {
  const raw = concat(new Uint8Array(LSA_HEADER_LENGTH), fromHex(hex));
  const both = [readPrefixRoute, readRouterRoute].map((one) => one(version, { type, lsId, advertisingRouter: 1, raw }));
  const nothing = { ok: true, value: undefined };
  const isNothing = (one: unknown): boolean => isDeepStrictEqual(one, nothing);
  expect(both.some(isNothing)).toBe(true);
  return both.find((one) => !isNothing(one)) ?? nothing;
}

test('a mask is contiguous, and its length is returned', () => {
  expect([0, 0x80000000, 0xffff0000, 0xfffffffe, 0xffffffff].map(maskLength)).toEqual([0, 1, 16, 31, 32]);
  expect([1, 0x7fffffff, 0xff00ff00, 0xfffffffd].map(maskLength)).toEqual([undefined, undefined, undefined, undefined]);
});

describe('a prefix', () => {
  test.each<
    [what: string, version: Version, type: number, hex: string, text: string, metric: number, external: boolean]
  >([
    ['of another area', 2, 3, 'ffff0000' + '00000014', '10.1.0.0/16', 20, false],
    ['of another area, the default route', 2, 3, '00000000' + '00000001', '0.0.0.0/0', 1, false],
    ['outside, type 2', 2, 5, `ffff0000${'80000014'}${EXTERNAL}`, '10.1.0.0/16', 20, true],
    ['outside, in an NSSA', 2, 7, `ffff0000${'00fffffe'}${EXTERNAL}`, '10.1.0.0/16', 0xfffffe, true],
    ['of another area', 3, 0x2003, `00000014${'30000000'}${V6}`, '2001:db8:1::/48', 20, false],
    ['of another area, the default route', 3, 0x2003, '00000001' + '00000000', '::/0', 1, false],
    ['outside', 3, 0x4005, `04000014${'30100000'}${V6}`, '2001:db8:1::/48', 20, true],
    ['outside, in an NSSA', 3, 0x2007, `04000014${'30080000'}${V6}`, '2001:db8:1::/48', 20, true],
  ])('%s, OSPFv%i, type %i', (_what, version, type, hex, text, metric, external) => {
    const lsId = text === '0.0.0.0/0' ? 0 : NET;
    expect(read(version, type, hex, lsId)).toEqual({
      ok: true,
      value: { prefix: prefix(text), metric, external },
    });
  });
});

describe('a router of another area', () => {
  test('is named by the link-state ID in OSPFv2, by a field of its own in OSPFv3', () => {
    expect(read(2, 4, '00000000' + '00000014', 0x09090909)).toEqual({
      ok: true,
      value: 0x09090909,
    });
    expect(read(3, 0x2004, '00000013' + '00000014' + '08080808', 1)).toEqual({
      ok: true,
      value: 0x08080808,
    });
  });
});

describe('nothing to route by', () => {
  test.each<[what: string, version: Version, type: number, hex: string]>([
    ['LSInfinity', 2, 3, 'ffff0000' + '00ffffff'],
    ['LSInfinity', 2, 4, '00000000' + '00ffffff'],
    ['LSInfinity', 2, 5, `ffff0000${'80ffffff'}${EXTERNAL}`],
    ['LSInfinity', 3, 0x2003, `00ffffff${'30000000'}${V6}`],
    ['LSInfinity', 3, 0x2004, '00000013' + '00ffffff' + '08080808'],
    ['the NU-bit', 3, 0x2003, `00000014${'30010000'}${V6}`],
    ['the NU-bit', 3, 0x4005, `04000014${'30030000'}${V6}`],
    ['a type that holds no route', 2, 1, '00000000' + '00000014'],
    ['a type that holds no route', 3, 0x2009, `00000014${'30000000'}${V6}`],
    ['an AS-External-LSA of area scope', 3, 0x2005, `04000014${'30000000'}${V6}`],
    ['the type of the other version', 3, 3, `00000014${'30000000'}${V6}`],
    ['the type of the other version', 2, 0x2003, 'ffff0000' + '00000014'],
  ])('%s, OSPFv%i, type %i', (_what, version, type, hex) => {
    expect(read(version, type, hex)).toEqual({ ok: true, value: undefined });
  });
});

describe('malformed', () => {
  test.each<[what: string, version: Version, type: number, hex: string, code: string, offset: number, detail: RegExp]>([
    ['too short', 2, 3, 'ffff0000' + '000000', 'truncated', 27, /fixed part/],
    ['too short', 2, 4, '00000000' + '000000', 'truncated', 27, /fixed part/],
    ['without tag', 2, 5, 'ffff0000' + '00000014' + '00000000' + '000000', 'truncated', 35, /fixed part/],
    ['without tag', 2, 7, 'ffff0000' + '00000014' + '00000000' + '000000', 'truncated', 35, /fixed part/],
    ['too short', 3, 0x2003, '00000014' + '000000', 'truncated', 27, /fixed part/],
    ['too short', 3, 0x2004, '00000013' + '00000014' + '080808', 'truncated', 31, /fixed part/],
    ['a mask with holes', 2, 3, 'ff00ff00' + '00000014', 'bad-mask', 20, /holes/],
    ['a prefix beyond the LSA', 3, 0x2003, `00000014${'41000000'}${V6}`, 'bad-prefix-length', 24, /65 bits in 8 bytes/],
    ['129 bits', 3, 0x4005, `00000014${'81000000'}${V6.repeat(3)}`, 'bad-prefix-length', 24, /129 bits in 24 bytes/],
  ])('%s, OSPFv%i, type %i', (_what, version, type, hex, code, offset, detail) => {
    expect(read(version, type, hex)).toMatchObject({
      ok: false,
      error: { code, offset, detail: expect.stringMatching(detail) as string },
    });
  });
});
