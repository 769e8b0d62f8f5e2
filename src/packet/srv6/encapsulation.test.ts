import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { ipv4, ipv6, srh as handMadeSrh, udp } from '../ip/packets.fixture.ts';
import { CNP6, FAST_CNP6, LONG_HAUL_CNP4 } from '../roce/vectors.fixture.ts';
import { decapsulate, encapsulate } from './encapsulation.ts';
import { wrapForEndCon } from './end-con.ts';
import { decodeSrh, encodeSrh } from './srh.ts';

const LOOPBACK = address('2001:db8:ffff::2');
const END_CON = address('2001:db8:c::1');
const PATH = [address('fc00:2::'), address('fc00:3::')];
const SRH = { nextHeader: 41, segmentsLeft: 2, flags: 0, tag: 0, segments: [PATH[1]!, PATH[0]!, END_CON], tlvs: [] };

const inner = (packet: Uint8Array): Uint8Array => {
  const result = decapsulate(packet);
  if (!result.ok) throw new Error(result.error.code);
  return result.value.inner;
};
const code = (packet: Uint8Array): string => {
  const result = decapsulate(packet);
  return result.ok ? 'ok' : result.error.code;
};
const srhCode = (bytes: Uint8Array): string => {
  const result = decodeSrh(bytes);
  return result.ok ? 'ok' : result.error.code;
};

test('FCN-4.2.2-d, A17: a notification goes to END.CON behind one outer header, and comes out of it identical', () => {
  for (const notification of [CNP6, FAST_CNP6, LONG_HAUL_CNP4]) {
    const packet = wrapForEndCon({ source: LOOPBACK, endCon: END_CON, notification });
    const next = notification === LONG_HAUL_CNP4 ? '04' : '29';
    expect(toHex(packet.subarray(0, 40))).toBe(
      '6c000000' +
        notification.length.toString(16).padStart(4, '0') +
        next +
        '40' +
        '20010db8ffff00000000000000000002' +
        '20010db8000c00000000000000000001',
    );
    expect(inner(packet)).toEqual(notification);
  }
});

test('a path gets a segment routing header, its last segment first', () => {
  const packet = encapsulate({ source: LOOPBACK, destination: END_CON, path: PATH, inner: CNP6 });
  expect({ nextHeader: packet[6] }).toEqual({ nextHeader: 43 });
  expect(decodeSrh(packet, 40)).toEqual({ ok: true, value: { ...SRH, length: 56 } });
  expect(toHex(packet.subarray(40, 96))).toBe(toHex(handMadeSrh(41, 2, SRH.segments, new Uint8Array())));
  expect(code(packet)).toBe('segments-left');
  expect(inner(packet.with(43, 0))).toEqual(CNP6);
});

test('an SRH keeps its TLVs and is padded to eight', () => {
  for (const [length, tail] of [
    [2, '040200' + '00'],
    [3, '0401' + '00'],
    [4, '0400'],
    [5, '00'],
    [6, ''],
  ] as const) {
    const value = new Uint8Array(length).fill(0xaa);
    const bytes = encodeSrh({ ...SRH, tlvs: [{ type: 124, value }] });
    expect(bytes.length % 8).toBe(0);
    expect(toHex(bytes.subarray(56 + 2 + length))).toBe(tail);
    expect(decodeSrh(bytes)).toMatchObject({ ok: true, value: { tlvs: [{ type: 124, value }] } });
  }
});

test('an SRH that contradicts itself is refused', () => {
  const bytes = encodeSrh(SRH);
  expect(srhCode(bytes.with(4, 3))).toBe('bad-last-entry');
  expect(srhCode(bytes.with(3, 4))).toBe('bad-segments-left');
  expect(srhCode(bytes.with(3, 3))).toBe('ok');
  expect(srhCode(bytes.with(2, 0))).toBe('not-srh');
  expect(srhCode(bytes.with(1, 200))).toBe('truncated');
  expect(srhCode(concat(bytes.with(1, 7), fromHex('7c07000000000000')))).toBe('srh-tlv-overrun');
  expect(srhCode(concat(bytes.with(1, 7), fromHex('000000000000007c')))).toBe('srh-tlv-overrun');
  expect(() => encodeSrh({ ...SRH, segments: [] })).toThrow(/segment list/);
  expect(() => encodeSrh({ ...SRH, segmentsLeft: 4 })).toThrow(/segments left/);
  expect(() =>
    encodeSrh({ ...SRH, tlvs: Array.from({ length: 9 }, () => ({ type: 124, value: new Uint8Array(250) })) }),
  ).toThrow(/SRH of/);
  refusesTruncation(decodeSrh, bytes);
});

test('what is not IPv6 around IP is not encapsulated', () => {
  const ends = [LOOPBACK, END_CON] as const;
  expect(code(CNP6)).toBe('not-encapsulated');
  expect(code(ipv4([address('10.0.0.1'), address('10.0.0.2')], 41, CNP6))).toBe('not-encapsulated');
  expect(code(ipv6(ends, 41, CNP6.subarray(0, 20)))).toBe('truncated');
  expect(code(ipv6(ends, 4, CNP6))).toBe('malformed');
  expect(() => encapsulate({ source: LOOPBACK, destination: END_CON, inner: new Uint8Array() })).toThrow(
    /not an IP packet/,
  );
  expect(() =>
    encapsulate({ source: LOOPBACK, destination: END_CON, inner: new Uint8Array(65536).fill(0x60) }),
  ).toThrow(/65536/);
});

test('padding behind the inner packet does not belong to it', () => {
  const short = ipv6([LOOPBACK, END_CON], 17, udp(1, 2));
  expect(inner(ipv6([LOOPBACK, END_CON], 41, concat(short, new Uint8Array(6))))).toEqual(short);
});

test('no packet harms the decoders', () => {
  const seeds = [
    wrapForEndCon({ source: LOOPBACK, endCon: END_CON, notification: CNP6 }),
    encapsulate({ source: LOOPBACK, destination: END_CON, path: PATH, inner: CNP6 }).with(43, 0),
  ];
  fuzzDecoder(decapsulate, seeds);
  fuzzDecoder(decodeSrh, [encodeSrh(SRH), encodeSrh({ ...SRH, tlvs: [{ type: 5, value: new Uint8Array(38) }] })]);
});
