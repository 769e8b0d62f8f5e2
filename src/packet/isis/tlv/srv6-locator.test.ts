import { expect, test } from 'vitest';
import { prefix } from '../../../model/prefix.ts';
import { fromHex } from '../../hex.ts';
import { encodeTlv } from '../tlvs.ts';
import { expectBad, expectVector } from './vector.fixture.ts';

test('TLV 27 lists locators; their SIDs are kept as unknown sub-TLVs', () => {
  expectVector(27, '0000 00000000 00 00 30 fc0000010001 1c 051a 008001fc000001000100000000000000000001 06 010420101000', {
    kind: 'srv6-locator',
    mtId: 0,
    locators: [
      {
        prefix: prefix('fc00:1:1::/48'),
        metric: 0,
        flags: 0,
        algorithm: 0,
        subTlvs: [{ kind: 'unknown', type: 5, value: fromHex('008001fc000001000100000000000000000001 06 010420101000') }],
      },
    ],
  });
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
