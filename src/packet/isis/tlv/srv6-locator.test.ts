import { expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import { fromHex, toHex } from '../../hex.ts';
import { decodeTlvs, encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

const END_SID = '008001 fc000001000100000000000000000001 06 010420101000';

test('FCN-4.2.2-a: TLV 27 lists locators, and the SIDs of each with their behavior', () => {
  expectVector(27, `0000 00000000 00 00 30 fc0000010001 1c 051a ${END_SID}`, {
    kind: 'srv6-locator',
    mtId: 0,
    locators: [
      {
        prefix: prefix('fc00:1:1::/48'),
        metric: 0,
        flags: 0,
        algorithm: 0,
        subTlvs: [
          {
            kind: 'srv6-end-sid',
            flags: 0,
            behavior: 32769,
            sid: address('fc00:1:1::1'),
            subSubTlvs: fromHex('010420101000'),
          },
        ],
      },
    ],
  });
});

test('the SID Structure is optional, and a locator may have several SIDs beside other sub-TLVs', () => {
  const sid = (last: string): string => `0514 008002 20010db8000c000000000000000000${last} 00`;
  expectVector(27, `0002 fe000001 80 00 30 20010db8000c 2f 0401 40 ${sid('01')} ${sid('02')}`, {
    kind: 'srv6-locator',
    mtId: 2,
    locators: [
      {
        prefix: prefix('2001:db8:c::/48'),
        metric: 0xfe000001,
        flags: 0x80,
        algorithm: 0,
        subTlvs: [
          { kind: 'prefix-attribute-flags', flags: Uint8Array.of(0x40) },
          {
            kind: 'srv6-end-sid',
            flags: 0,
            behavior: 32770,
            sid: address('2001:db8:c::1'),
            subSubTlvs: new Uint8Array(),
          },
          {
            kind: 'srv6-end-sid',
            flags: 0,
            behavior: 32770,
            sid: address('2001:db8:c::2'),
            subSubTlvs: new Uint8Array(),
          },
        ],
      },
    ],
  });
});

test.each([
  ['shorter than its fixed part', '008001 fc0000010001000000000000000000', 'bad-length'],
  ['whose sub-sub-TLVs exceed it', '008001 fc000001000100000000000000000001 07 010420101000', 'sub-sub-tlv-overrun'],
  ['with bytes behind its sub-sub-TLVs', '008001 fc000001000100000000000000000001 00 01', 'sub-sub-tlv-overrun'],
  ['with half a sub-sub-TLV', '008001 fc000001000100000000000000000001 01 01', 'sub-sub-tlv-overrun'],
  ['with a sub-sub-TLV beyond the end', '008001 fc000001000100000000000000000001 03 c8 05 00', 'sub-sub-tlv-overrun'],
  [
    'with a SID Structure of more than 128 bits',
    '008001 fc000001000100000000000000000001 06 010440403010',
    'bad-sid-structure',
  ],
  [
    'with a SID Structure that is not 4 bytes',
    '008001 fc000001000100000000000000000001 05 0103201010',
    'bad-sid-structure',
  ],
  [
    'with two SID Structures',
    '008001 fc000001000100000000000000000001 0c 010420101000 010420101000',
    'bad-sid-structure',
  ],
])('an End SID %s is reported and kept as it is, and its locator is used', (_claim, hex, code) => {
  const value = fromHex(hex);
  const tlv = Uint8Array.from([
    27,
    16 + 2 + value.length,
    ...fromHex('0000 00000000 00 00 30 fc0000010001'),
    2 + value.length,
    5,
    value.length,
    ...value,
  ]);
  const { tlvs, badTlvs } = decodeTlvs(tlv, 0);
  expect(badTlvs).toMatchObject([{ type: 27, subType: 5, error: { code } }]);
  expect(badTlvs[0]!.error.offset).toBeGreaterThanOrEqual(2 + 16 + 2);
  expect(badTlvs[0]!.error.offset).toBeLessThan(tlv.length);
  expect(tlvs).toMatchObject([
    {
      kind: 'srv6-locator',
      locators: [{ prefix: prefix('fc00:1:1::/48'), subTlvs: [{ kind: 'unknown', type: 5, value }] }],
    },
  ]);
  expect(toHex(encodeTlv(tlvs[0]!))).toBe(toHex(tlv));
});

test('a locator of 0 or more than 128 bits, or beyond the TLV, makes TLV 27 bad', () => {
  expectBad(27, '00', 'bad-length');
  expectBad(27, '0000 00000000 00 00 00 00', 'bad-prefix-length');
  expectBad(27, '0000 00000000 00 00 81' + '00'.repeat(18), 'bad-prefix-length');
  expectBad(27, '0000 00000000 00 00 30 fc00', 'locator-overrun');
  expectBad(27, '0000 00000000 00 00 30 fc0000010001', 'locator-overrun');
  expectBad(27, '0000 00000000 00 00 30 fc0000010001 01', 'sub-tlv-overrun');
  expectBad(27, '0000 000000', 'locator-overrun');
});

test('cnpd never emits a locator of length 0, which makes FRR drop the LSP', () => {
  const locator = { prefix: prefix('::/0'), metric: 0, flags: 0, algorithm: 0, subTlvs: [] };
  expect(() => encodeTlv({ kind: 'srv6-locator', mtId: 0, locators: [locator] })).toThrow(/1 to 128 bits/);
});
