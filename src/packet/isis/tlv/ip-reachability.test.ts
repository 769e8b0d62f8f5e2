import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { CODE_POINTS } from '../../../model/code-points.ts';
import { prefix } from '../../../model/prefix.ts';
import { hasFlag } from '../../bit-string.ts';
import { flagsOf } from '../attribute-flags.ts';
import { fromHex } from '../../hex.ts';
import { decodeTlvs, encodeTlv } from '../tlvs.ts';
import type { IpReachability, PrefixReachability } from './types.ts';
import { packPrefixes, prefixEntryLength } from './ip-reachability.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const P_FLAG = CODE_POINTS.find((c) => c.name === 'isis-pnc-flag-bit')!.default;
const entry = (text: string, rest: Partial<PrefixReachability> = {}): PrefixReachability => ({
  prefix: prefix(text),
  metric: 0xfe000001,
  down: false,
  external: false,
  subTlvs: [],
  ...rest,
});

test('TLV 135 keeps the prefix length in the control byte', () => {
  expectVector(135, 'fe000001 18 0a0100  0000000a a0 c0000201  00000000 00', {
    kind: 'ipv4-reachability',
    prefixes: [
      entry('10.1.0.0/24'),
      entry('192.0.2.1/32', { metric: 10, down: true }),
      entry('0.0.0.0/0', { metric: 0 }),
    ],
  });
});

test('TLV 236 has an external bit and a byte for the prefix length', () => {
  expectVector(236, 'fe000001 00 40 20010db8000a0000  0000000a c0 00', {
    kind: 'ipv6-reachability',
    prefixes: [entry('2001:db8:a::/64'), entry('::/0', { metric: 10, down: true, external: true })],
  });
});

test('TLVs 235 and 237 are 135 and 236 in a topology', () => {
  expectVector(235, '0003 fe000001 08 0a', { kind: 'mt-ipv4-reachability', mtId: 3, prefixes: [entry('10.0.0.0/8')] });
  expectVector(237, '0002 fe000001 00 11 200180', {
    kind: 'mt-ipv6-reachability',
    mtId: 2,
    prefixes: [entry('2001:8000::/17')],
  });
});

test('PNC-5.1-a: the P-flag is bit 7 of the Prefix Attribute Flags', () => {
  const [tlv] = decodeTlvs(fromHex('870c fe000001 58 0a0100 03 04 01 01'), 0).tlvs;
  const [subTlv] = (tlv as IpReachability).prefixes[0]!.subTlvs;
  expect(subTlv).toEqual({ kind: 'prefix-attribute-flags', flags: Uint8Array.of(0x01) });
  expect(hasFlag((subTlv as { flags: Uint8Array }).flags, P_FLAG)).toBe(true);
  expect(flagsOf(P_FLAG)).toEqual(Uint8Array.of(0x01));
});

test('PNC-5.1-b: a sender prefix carries the P-flag and the address of its proxy', () => {
  expectVector(135, '0000000a 58 0a0100 09 040101 0b04c0000201', {
    kind: 'ipv4-reachability',
    prefixes: [
      entry('10.1.0.0/24', {
        metric: 10,
        subTlvs: [
          { kind: 'prefix-attribute-flags', flags: flagsOf(P_FLAG) },
          { kind: 'ipv4-source-router-id', address: address('192.0.2.1') },
        ],
      }),
    ],
  });
  expectVector(236, '0000000a 20 40 20010db8000a0000 15 040101 0c1020010db8000000000000000000000001', {
    kind: 'ipv6-reachability',
    prefixes: [
      entry('2001:db8:a::/64', {
        metric: 10,
        subTlvs: [
          { kind: 'prefix-attribute-flags', flags: flagsOf(P_FLAG) },
          { kind: 'ipv6-source-router-id', address: address('2001:db8::1') },
        ],
      }),
    ],
  });
});

test('unknown sub-TLVs, and attribute flags of any length, survive', () => {
  expectVector(236, '00000000 20 00 0c 0400 0405 0100000001 0301ff', {
    kind: 'ipv6-reachability',
    prefixes: [
      entry('::/0', {
        metric: 0,
        subTlvs: [
          { kind: 'prefix-attribute-flags', flags: new Uint8Array() },
          { kind: 'prefix-attribute-flags', flags: fromHex('0100000001') },
          { kind: 'unknown', type: 3, value: Uint8Array.of(0xff) },
        ],
      }),
    ],
  });
});

test('a malformed sub-TLV is reported and kept, and its prefix is used', () => {
  const { tlvs, badTlvs } = decodeTlvs(fromHex('8710 fe000001 58 0a0100 07 0b03c00002 0300'), 0);
  expect(badTlvs).toEqual([
    { type: 135, subType: 11, error: { code: 'bad-length', offset: 13, detail: 'source router ID of 3 bytes' } },
  ]);
  const subTlvs = [
    { kind: 'unknown', type: 11, value: fromHex('c00002') },
    { kind: 'unknown', type: 3, value: new Uint8Array() },
  ];
  expect(tlvs).toEqual([{ kind: 'ipv4-reachability', prefixes: [{ ...entry('10.1.0.0/24'), subTlvs }] }]);
});

test('host bits that are set on the wire are not part of the prefix', () => {
  expect(decodeTlvs(fromHex('8707 00000000 0c 0aff'), 0).tlvs).toEqual([
    { kind: 'ipv4-reachability', prefixes: [entry('10.240.0.0/12', { metric: 0 })] },
  ]);
});

test('prefixes that are too long, or exceed their TLV, make it bad', () => {
  expectBad(135, '00000000', 'prefix-overrun');
  expectBad(135, '00000000 21 0000000000', 'bad-prefix-length');
  expectBad(135, '00000000 18 0a01', 'prefix-overrun');
  expectBad(135, '00000000 58 0a0100', 'prefix-overrun');
  expectBad(135, '00000000 58 0a0100 01', 'prefix-overrun');
  expectBad(135, '00000000 58 0a0100 01 04', 'sub-tlv-overrun');
  expectBad(135, '00000000 58 0a0100 02 0401', 'sub-tlv-overrun');
  // Beyond its list, though not beyond the TLV.
  expectBad(135, '00000000 58 0a0100 02 0401  00000000 00', 'sub-tlv-overrun');
  expectBad(135, '00000000 58 0a0100 01 04  00000000 00', 'sub-tlv-overrun');
  expectBad(236, '00000000 00', 'prefix-overrun');
  expectBad(236, '00000000 00 81' + '00'.repeat(17), 'bad-prefix-length');
  expectBad(237, '02', 'bad-length');
  expectBad(235, '0002 00', 'prefix-overrun');
});

test('values that have no place in an entry are refused when encoding', () => {
  const tlv = (e: PrefixReachability) => () => encodeTlv({ kind: 'ipv4-reachability', prefixes: [e] });
  expect(tlv(entry('::/0'))).toThrow(/IPv6 prefix in a TLV of IPv4/);
  expect(tlv(entry('10.0.0.0/8', { metric: 2 ** 32 }))).toThrow(/32 bits/);
  expect(tlv(entry('10.0.0.0/8', { subTlvs: [{ kind: 'ipv4-source-router-id', address: address('::1') }] }))).toThrow(
    /sub-TLV 11/,
  );
  const long = { kind: 'unknown' as const, type: 99, value: new Uint8Array(200) };
  expect(tlv(entry('10.0.0.0/8', { subTlvs: [long, long] }))).toThrow(/404 bytes of sub-TLVs/);
});

test('51 entries of 5 bytes fill one TLV to the last byte', () => {
  const tlvs = packPrefixes(Array.from({ length: 51 }, () => entry('0.0.0.0/0')));
  expect(tlvs.map(encodeTlv).map((bytes) => bytes.length)).toEqual([257]);
});

test('many prefixes are spread over TLVs that each fit, families apart, order kept', () => {
  const v4 = Array.from({ length: 100 }, (_, i) => entry(`10.0.${i}.0/24`));
  const v6 = Array.from({ length: 40 }, (_, i) => entry(`2001:db8:${i}::/48`));
  const mixed = v4.flatMap((e, i) => (v6[i] ? [e, v6[i]] : [e]));
  const tlvs = packPrefixes(mixed);
  expect(tlvs.filter((t) => t.kind === 'ipv4-reachability').flatMap((t) => t.prefixes)).toEqual(v4);
  expect(tlvs.filter((t) => t.kind === 'ipv6-reachability').flatMap((t) => t.prefixes)).toEqual(v6);
  expect(tlvs).toHaveLength(Math.ceil((100 * 8) / 248) + Math.ceil((40 * 12) / 252));
  for (const tlv of tlvs) {
    expect(encodeTlv(tlv)).toHaveLength(2 + tlv.prefixes.reduce((sum, e) => sum + prefixEntryLength(e), 0));
  }
});
