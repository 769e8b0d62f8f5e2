import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { decodeIpv6, encodeIpv6 } from './ipv6.ts';

const HEX = '6c212345 0028 11 40 20010db8000b00000000000000000001 20010db8000a00000000000000000001';
const HEADER = {
  trafficClass: 0xc2,
  flowLabel: 0x12345,
  payloadLength: 40,
  nextHeader: 17,
  hopLimit: 64,
  source: address('2001:db8:b::1'),
  destination: address('2001:db8:a::1'),
};

test('a header, both ways', () => {
  expect(decodeIpv6(fromHex(HEX))).toEqual({ ok: true, value: { ...HEADER, flowLabel: 0x12345 } });
  expect(toHex(encodeIpv6(HEADER))).toBe(toHex(fromHex(HEX)));
});

test('another version, or less than a header, is refused', () => {
  expect(decodeIpv6(fromHex(HEX.replace('6c', '4c')))).toMatchObject({ ok: false, error: { code: 'bad-version' } });
  refusesTruncation(decodeIpv6, fromHex(HEX));
  expect(() => encodeIpv6({ ...HEADER, payloadLength: 65536 })).toThrow(/65536 bytes/);
  expect(decodeIpv6(encodeIpv6({ ...HEADER, payloadLength: 65535 }))).toMatchObject({
    ok: true,
    value: { payloadLength: 65535 },
  });
  for (const end of ['source', 'destination'])
    expect(() => encodeIpv6({ ...HEADER, [end]: address('10.0.0.1') })).toThrow(/IPv6 addresses/);
});

test('no header harms the decoder', () => fuzzDecoder(decodeIpv6, [fromHex(HEX)]));
