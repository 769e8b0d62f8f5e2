import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { fragment, ipv4, ipv6, options } from '../ip/packets.fixture.ts';
import type { LongHaulCnp } from '../long-haul/body.ts';
import { OBJECT_CLASS, REDUCE, REDUCE_BODY } from '../long-haul/vectors.fixture.ts';
import { buildLongHaulIcmpv6, decodeLongHaulIcmpv6 } from './long-haul-cnp.ts';
import { buildIcmpv6, parseIcmpv6 } from './message.ts';

const CODES = { type: 200, objectClass: OBJECT_CLASS };
const ENDS = { source: address('2001:db8:ffff::2'), destination: address('2001:db8:a::1') };
const FIELDS = { ...ENDS, cnp: REDUCE, codes: CODES };
const PACKET = buildLongHaulIcmpv6(FIELDS);

const message = (packet: Uint8Array): Uint8Array => {
  const parsed = parseIcmpv6(packet);
  if (!parsed.ok) throw new Error(parsed.error.code);
  return parsed.value.message;
};
const code = (bytes: Uint8Array): string => {
  const decoded = decodeLongHaulIcmpv6(bytes, CODES);
  return decoded.ok ? 'ok' : decoded.error.code;
};
const parseCode = (packet: Uint8Array): string => {
  const parsed = parseIcmpv6(packet);
  return parsed.ok ? 'ok' : parsed.error.code;
};

test('LHCNP-6.1-a: 12 octets behind the four of ICMPv6 (A2)', () => {
  expect(PACKET).toHaveLength(40 + 4 + 12);
  expect(toHex(message(PACKET).subarray(4))).toBe(toHex(REDUCE_BODY));
  expect(decodeLongHaulIcmpv6(message(PACKET), CODES)).toEqual({ ok: true, value: REDUCE });
});

test('LHCNP-6.1-b, LHCNP-10.1-a: the type is an informational one, configurable', () => {
  expect(message(PACKET)[0]).toBe(200);
  expect(message(buildLongHaulIcmpv6({ ...FIELDS, codes: { ...CODES, type: 201 } }))[0]).toBe(201);
  for (const type of [128, 255])
    expect(message(buildLongHaulIcmpv6({ ...FIELDS, codes: { ...CODES, type } }))[0]).toBe(type);
  for (const type of [0, 1, 127, 256])
    expect(() => buildLongHaulIcmpv6({ ...FIELDS, codes: { ...CODES, type } })).toThrow(/informational/);
});

test('LHCNP-6.1-c, LHCNP-10.2-a: code 0 is sent; other codes are refused', () => {
  expect(message(PACKET)[1]).toBe(0);
  for (const unknown of [1, 253, 254, 255]) expect(code(message(PACKET).with(1, unknown))).toBe('unknown-code');
});

test('LHCNP-6.1-d: the checksum is that of ICMPv6, over the pseudo header', () => {
  // Addresses 20010db8 ffff 0002 + 20010db8 000a 0001, length 0010, protocol 003a, message c800 b480 001e 0064 0101
  // fbd0, summed by hand.
  const words = [
    0x2001, 0xdb8, 0xffff, 2, 0x2001, 0xdb8, 0xa, 1, 0x10, 0x3a, 0xc800, 0xb480, 0x1e, 0, 0x64, 0x101, 0xfbd0,
  ];
  let sum = words.reduce((a, b) => a + b, 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  expect(toHex(message(PACKET).subarray(2, 4))).toBe((0xffff - sum).toString(16).padStart(4, '0'));
  for (const at of [8, 30, 44, 50])
    expect(parseCode(PACKET.with(at, PACKET[at]! ^ 1)), `byte ${at}`).toBe('bad-icmpv6-checksum');
});

test('the packet is network control traffic that no router marks', () => {
  expect({ trafficClassHigh: PACKET[0]! & 15, trafficClassLow: PACKET[1]! >>> 4, hopLimit: PACKET[7] }).toEqual({
    trafficClassHigh: 0xc,
    trafficClassLow: 0,
    hopLimit: 64,
  });
});

test('LHCNP-6.1.1-i, LHCNP-6.1.1-j: without objects the message ends with its body; longer, it has them', () => {
  const objects: LongHaulCnp['objects'] = [{ kind: 'timestamp', ntp: 0xe8d4a51012345678n }];
  const longer = message(buildLongHaulIcmpv6({ ...FIELDS, cnp: { ...REDUCE, objects } }));
  expect(longer).toHaveLength(16 + 4 + 12);
  expect(decodeLongHaulIcmpv6(longer, CODES)).toEqual({ ok: true, value: { ...REDUCE, objects } });
  // Zeros are padding in the RoCEv2 form only.
  expect(code(new Uint8Array([...message(PACKET), 0, 0, 0, 0]))).toBe('bad-extension-version');
});

test('LHCNP-4-a: there is no ICMPv6 form for an IPv4 flow', () => {
  expect(() =>
    buildLongHaulIcmpv6({ ...FIELDS, source: address('10.0.0.1'), destination: address('10.0.0.2') }),
  ).toThrow(/IPv6 addresses/);
});

test('messages of another type are not ours, packets that are not ICMPv6 neither', () => {
  expect(code(fromHex('80000000 00010001'))).toBe('not-long-haul');
  expect(parseCode(ipv6([ENDS.source, ENDS.destination], 17, new Uint8Array(8)))).toBe('not-icmpv6');
  expect(parseCode(PACKET.subarray(0, 42))).toBe('truncated');
  expect(parseCode(ipv4([address('192.0.2.1'), address('192.0.2.2')], 58, message(PACKET)))).toBe('not-icmpv6');
  for (let length = 0; length < 4; length++) expect(code(message(PACKET).subarray(0, length))).toBe('truncated');
});

test('a message of nothing but its header is one; a fragment is none, for its checksum covers what is not there', () => {
  expect(parseIcmpv6(buildIcmpv6({ ...ENDS, type: 128, code: 0, body: new Uint8Array() }))).toMatchObject({
    ok: true,
    value: { type: 128, message: { length: 4 } },
  });
  expect(parseCode(ipv6([ENDS.source, ENDS.destination], 44, fragment(58, 0, true, message(PACKET))))).toBe('fragment');
  expect(parseIcmpv6(PACKET.with(50, PACKET[50]! ^ 1))).toMatchObject({
    ok: false,
    error: { code: 'bad-icmpv6-checksum', offset: 42 },
  });
});

test('the message is found behind extension headers', () => {
  const inside = options(58, 0, message(PACKET));
  expect(parseIcmpv6(ipv6([ENDS.source, ENDS.destination], 60, inside))).toMatchObject({
    ok: true,
    value: { type: 200, code: 0 },
  });
});

test('no message harms the decoders', () => {
  refusesTruncation((bytes) => decodeLongHaulIcmpv6(bytes, CODES), message(PACKET));
  fuzzDecoder((bytes) => decodeLongHaulIcmpv6(bytes, CODES), [message(PACKET)]);
  fuzzDecoder(parseIcmpv6, [PACKET, buildIcmpv6({ ...ENDS, type: 128, code: 0, body: new Uint8Array(5) })]);
});
