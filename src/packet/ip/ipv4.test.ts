import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { decodeIpv4, encodeIpv4, ipv4ChecksumValid } from './ipv4.ts';

const FIELDS = {
  source: address('10.0.17.1'),
  destination: address('10.0.18.1'),
  protocol: 17,
  payloadLength: 40,
  trafficClass: 0xc2,
  hopLimit: 64,
};
/** The IP header of a CNP that a ConnectX-4 Lx sent. */
const CAPTURED = fromHex('45c2003c 718c4000 40119161 0a001101 0a001201');

test('a header captured from a network card is encoded to the byte, checksum included', () => {
  expect(toHex(encodeIpv4({ ...FIELDS, identification: 0x718c, dontFragment: true }))).toBe(toHex(CAPTURED));
  expect(ipv4ChecksumValid(CAPTURED, 0, 20)).toBe(true);
});

test('a header is decoded', () => {
  expect(decodeIpv4(CAPTURED)).toEqual({
    ok: true,
    value: {
      headerLength: 20,
      trafficClass: 0xc2,
      totalLength: 60,
      identification: 0x718c,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      hopLimit: 64,
      protocol: 17,
      source: FIELDS.source,
      destination: FIELDS.destination,
    },
  });
});

test('options are part of the header, fragment offsets count bytes', () => {
  const withOptions = concat(fromHex('46000018 00002003 40110000 0a001101 0a001201'), fromHex('01010100'));
  expect(decodeIpv4(withOptions)).toMatchObject({
    ok: true,
    value: { headerLength: 24, moreFragments: true, fragmentOffset: 24 },
  });
});

test('a broken header has its own code', () => {
  const code = (at: number, value: number): string => {
    const bytes = new Uint8Array(CAPTURED);
    bytes[at] = value;
    const decoded = decodeIpv4(bytes);
    return decoded.ok ? 'ok' : decoded.error.code;
  };
  expect(code(0, 0x65)).toBe('bad-version');
  expect(code(0, 0x44)).toBe('bad-header-length');
  expect(code(0, 0x46)).toBe('truncated');
  expect(code(3, 19)).toBe('bad-length');
  refusesTruncation(decodeIpv4, CAPTURED);
  for (let length = 0; length < 20; length++)
    expect(decodeIpv4(CAPTURED.subarray(0, length))).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(decodeIpv4(CAPTURED, 0, 19)).toMatchObject({ ok: false, error: { code: 'truncated' } });
  expect(decodeIpv4(concat(new Uint8Array(14), CAPTURED), 14, 33)).toMatchObject({
    ok: false,
    error: { code: 'truncated' },
  });
  expect(decodeIpv4(concat(new Uint8Array(14), CAPTURED.with(3, 19)), 14)).toMatchObject({
    ok: false,
    error: { code: 'bad-length', offset: 16 },
  });
});

test('an over-long packet or an IPv6 address is refused when encoding', () => {
  expect(() => encodeIpv4({ ...FIELDS, payloadLength: 65516 })).toThrow(/65536 bytes/);
  expect(decodeIpv4(encodeIpv4({ ...FIELDS, payloadLength: 65515 }))).toMatchObject({
    ok: true,
    value: { totalLength: 65535, dontFragment: false },
  });
  for (const end of ['source', 'destination'])
    expect(() => encodeIpv4({ ...FIELDS, [end]: address('::1') })).toThrow(/IPv4 addresses/);
});

test('no header harms the decoder', () => fuzzDecoder(decodeIpv4, [CAPTURED]));
