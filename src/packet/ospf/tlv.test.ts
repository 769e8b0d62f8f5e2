import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { hasFlag } from '../bit-string.ts';
import { fromHex, toHex } from '../hex.ts';
import { extendedPrefixLength } from './lsa/extended-prefix.ts';
import { extendedLsaPrefixLength } from './lsa/extended-lsa.ts';
import type { ExtendedLsaPrefix, ExtendedPrefix } from './lsa/types.ts';
import { lsaOf } from './arbitrary.fixture.ts';
import { opaqueLsId } from './lsa-type.ts';
import { firstSubTlv } from './first-sub-tlv.fixture.ts';
import { PREFIX_SUB_TLVS, extendedFlags } from './prefix-sub-tlvs.ts';
import { type BadTlv, tlvBytes } from './tlv.ts';

const decode = (version: 2 | 3, hex: string): { tlvs: unknown; bad: BadTlv[] } => {
  const bad: BadTlv[] = [];
  const tlvs = PREFIX_SUB_TLVS[version].decode(fromHex(hex), 0, (b) => bad.push(b));
  return { tlvs: tlvs.ok ? tlvs.value : tlvs.error.code, bad };
};

test('padding is not counted by the length, and lies within the list', () => {
  expect(toHex(tlvBytes(99, fromHex('0102030405')))).toBe('00630005' + '0102030405000000');
  expect(decode(2, '00630005 0102030405000000 00620000').tlvs).toEqual([
    { kind: 'unknown', type: 99, value: fromHex('0102030405') },
    { kind: 'unknown', type: 98, value: new Uint8Array() },
  ]);
  for (const hex of ['00630005 01020304050000', '00630005 0102030405', '006300', '0063ffff 00', '00630004 010203'])
    expect(decode(2, hex).tlvs, hex).toBe('tlv-overrun');
});

test('PNC-5.2-a PNC-5.3-a: the P-flag is bit 2 of the first word of the Prefix Extended Flags, sub-TLV 11 and 37', () => {
  expect(toHex(extendedFlags(2))).toBe('20000000');
  expect(toHex(PREFIX_SUB_TLVS[2].encode([{ kind: 'prefix-extended-flags', flags: extendedFlags(2) }]))).toBe(
    '000b000420000000',
  );
  expect(toHex(PREFIX_SUB_TLVS[3].encode([{ kind: 'prefix-extended-flags', flags: extendedFlags(2) }]))).toBe(
    '0025000420000000',
  );
});

test('only as many words as the flags need are sent; absent bits are clear (RFC 9792 §2)', () => {
  expect(toHex(extendedFlags())).toBe('00000000');
  expect(toHex(extendedFlags(0, 31))).toBe('80000001');
  expect(toHex(extendedFlags(32))).toBe('0000000080000000');
  expect([2, 31, 32].map((bit) => hasFlag(extendedFlags(2), bit))).toEqual([true, false, false]);
  expect(() => PREFIX_SUB_TLVS[2].encode([{ kind: 'prefix-extended-flags', flags: new Uint8Array(5) }])).toThrow(
    /not whole words/,
  );
});

test('of repeated sub-TLVs the first counts', () => {
  const subTlvs = [1, 2].map((routerId) => ({ kind: 'source-router-id' as const, routerId }));
  expect(firstSubTlv(subTlvs, 'source-router-id')).toEqual(subTlvs[0]);
  expect(firstSubTlv(subTlvs, 'prefix-extended-flags')).toBeUndefined();
});

test('an address of the other family is no router address', () => {
  expect(decode(3, '001c0004 c0000201').bad).toMatchObject([{ path: [28], error: { code: 'bad-length', offset: 4 } }]);
  expect(() => PREFIX_SUB_TLVS[3].encode([{ kind: 'source-router-address', address: address('192.0.2.1') }])).toThrow(
    /IPv4 address in sub-TLV 28/,
  );
});

test('a value beyond 65535 bytes does not fit', () => {
  expect(tlvBytes(1, new Uint8Array(65535))).toHaveLength(65540);
  expect(() => tlvBytes(1, new Uint8Array(65536))).toThrow(/65536 bytes/);
});

test('the size of an entry is what it adds to its LSA', () => {
  const subTlvs = [{ kind: 'prefix-extended-flags' as const, flags: extendedFlags(2) }];
  const v2: ExtendedPrefix = {
    kind: 'extended-prefix',
    routeType: 1,
    flags: 0,
    prefix: prefix('10.1.0.0/24'),
    subTlvs,
  };
  const v3: ExtendedLsaPrefix = {
    kind: 'intra-area-prefix-tlv',
    flags: 0,
    metric: 1,
    prefixOptions: 0,
    prefix: prefix('2001:db8::/33'),
    subTlvs,
  };
  const size = (tlvs: number): readonly number[] => [
    lsaOf(
      2,
      { type: 10, lsId: opaqueLsId(7, 0), advertisingRouter: 1 },
      { kind: 'extended-prefix-lsa', tlvs: new Array<ExtendedPrefix>(tlvs).fill(v2) },
    ).length,
    lsaOf(
      3,
      { type: 0xa023, lsId: 0, advertisingRouter: 1 },
      { kind: 'e-inter-area-prefix', tlvs: new Array<ExtendedLsaPrefix>(tlvs).fill(v3) },
    ).length,
  ];
  expect(extendedPrefixLength(v2)).toBe(size(1)[0]! - size(0)[0]!);
  expect(extendedLsaPrefixLength(v3)).toBe(size(1)[1]! - size(0)[1]!);
  // With nothing but flags, 71 entries fill 1440 bytes: they fit any Ethernet link.
  expect(size(71)[0]).toBe(1440);
});
