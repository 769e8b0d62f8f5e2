import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOpaque, lsaScope, opaqueIdOf, opaqueLsId, opaqueTypeOf, surelyFlooded } from './lsa-type.ts';
import { formatId, formatLsaKey, lsaKeyText, parseId } from './router-id.ts';

test('OSPFv2 scopes: opaque types say theirs, types that OSPFv2 does not know have none', () => {
  const scopes = Object.fromEntries(Array.from({ length: 13 }, (_, type) => [type, lsaScope(2, type)]));
  expect(scopes).toEqual({
    0: 'unknown',
    1: 'area',
    2: 'area',
    3: 'area',
    4: 'area',
    5: 'as',
    6: 'unknown',
    7: 'area',
    8: 'unknown',
    9: 'link',
    10: 'area',
    11: 'as',
    12: 'unknown',
  });
  expect([8, 9, 10, 11, 12].map(isOpaque)).toEqual([false, true, true, true, false]);
});

test('OSPFv3 scopes: an unknown function without U-bit stays on the link (RFC 5340 §4.5.2)', () => {
  expect([0x2001, 0x0008, 0x4005, 0x2009, 0x000b].map((type) => lsaScope(3, type))).toEqual([
    'area',
    'link',
    'as',
    'area',
    'link',
  ]);
  expect([0x8028, 0xa029, 0xc025, 0xe001, 0xbff8].map((type) => lsaScope(3, type))).toEqual([
    'link',
    'area',
    'as',
    'unknown',
    'area',
  ]);
  expect([0x3ff8, 0x402a, 0x2029].map((type) => lsaScope(3, type))).toEqual(['link', 'link', 'link']);
  expect([0x3ff8, 0xbff8, 0x2001].map(surelyFlooded)).toEqual([false, true, true]);
});

test('an opaque link-state ID is the opaque type and 24 bits', () => {
  expect(formatId(opaqueLsId(240, 1))).toBe('240.0.0.1');
  fc.assert(
    fc.property(fc.nat(255), fc.nat(0xffffff), (type, id) => {
      const key = { type: 10, lsId: opaqueLsId(type, id), advertisingRouter: 0 };
      expect({ opaqueTypeOf: opaqueTypeOf(key), opaqueIdOf: opaqueIdOf(key) }).toEqual({
        opaqueTypeOf: type,
        opaqueIdOf: id,
      });
      expect(parseId(formatId(key.lsId))).toBe(key.lsId);
    }),
  );
});

test('IDs and keys as text', () => {
  expect(parseId('255.255.255.255')).toBe(0xffffffff);
  expect([parseId('::1'), parseId('1.1.1'), parseId('')]).toEqual([undefined, undefined, undefined]);
  const key = { type: 0xa029, lsId: 1, advertisingRouter: 0xc0000201 };
  expect(formatLsaKey(key)).toBe('0xa029 0.0.0.1 192.0.2.1');
  expect(lsaKeyText(key)).not.toBe(lsaKeyText({ ...key, lsId: 11 }));
});
