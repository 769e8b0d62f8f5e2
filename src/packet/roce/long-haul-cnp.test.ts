import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import type { LongHaulCnp } from '../long-haul/body.ts';
import { OBJECT_CLASS, REDUCE, REDUCE_BODY } from '../long-haul/vectors.fixture.ts';
import type { BthFields } from './bth.ts';
import { isCnp } from './cnp.ts';
import { buildLongHaulRoce, isLongHaulRoce, readLongHaulRoce } from './long-haul-cnp.ts';
import { type RocePacket, buildRocePacket, parseRocePacket } from './packet.ts';
import { CNP6, LONG_HAUL_CNP4, LONG_HAUL_CNP6, SEND6 } from './vectors.fixture.ts';

const V6 = {
  source: address('2001:db8:ffff::2'),
  destination: address('2001:db8:a::1'),
  sourcePort: 0xc000,
  objectClass: OBJECT_CLASS,
};
const V4 = { ...V6, source: address('10.0.0.254'), destination: address('10.0.0.1') };
const OBJECTS: LongHaulCnp['objects'] = [
  { kind: 'device-id', name: 'p1' },
  { kind: 'timestamp', ntp: 1n << 40n },
];

function parsed(packet: Uint8Array): RocePacket {
  const result = parseRocePacket(packet);
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}
const read = (packet: Uint8Array): ReturnType<typeof readLongHaulRoce> =>
  readLongHaulRoce(parsed(packet), OBJECT_CLASS);
const code = (packet: Uint8Array): string => {
  const result = read(packet);
  return result.ok ? 'ok' : result.error.code;
};
/** The packet of REDUCE with another BTH, its ICRC right. */
const withBth = (bth: Partial<BthFields>, payload = REDUCE_BODY): Uint8Array =>
  buildRocePacket({ ...V6, bth: { opcode: 0x81, destQpn: 100, psn: 0, becn: true, reserved: 0x20, ...bth }, payload });

test('A4: the BTH is 8100ffff 60000064 00000000, and the whole packets are those of the vectors', () => {
  expect(toHex(buildLongHaulRoce({ ...V6, cnp: REDUCE }).subarray(48, 60))).toBe('8100ffff6000006400000000');
  const vector6 = { ...V6, source: parsed(LONG_HAUL_CNP6).source, trafficClass: 0 };
  expect(toHex(buildLongHaulRoce({ ...vector6, cnp: REDUCE }))).toBe(toHex(LONG_HAUL_CNP6));
  expect(toHex(buildLongHaulRoce({ ...V4, trafficClass: 0, cnp: REDUCE }))).toBe(toHex(LONG_HAUL_CNP4));
  expect(read(LONG_HAUL_CNP6)).toEqual({ ok: true, value: REDUCE });
  expect(read(LONG_HAUL_CNP4)).toEqual({ ok: true, value: REDUCE });
});

test('LHCNP-6.2.3-a, LHCNP-6.2.3-b, LHCNP-6.2.3-c, LHCNP-6.2.3-d, LHCNP-6.2.3-e, LHCNP-6.2.3-f: opcode 0x81; SE, MigReq, PadCnt and TVer are zero, whatever the objects', () => {
  for (const objects of [[], OBJECTS]) {
    const bth = buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects } }).subarray(48);
    expect({ opcode: bth[0], flags: bth[1] }).toEqual({ opcode: 0x81, flags: 0 });
  }
});

test('LHCNP-6.2.3-g: P_KEY is 0xFFFF, or that of the flow', () => {
  expect(toHex(buildLongHaulRoce({ ...V6, cnp: REDUCE }).subarray(50, 52))).toBe('ffff');
  expect(toHex(buildLongHaulRoce({ ...V6, cnp: REDUCE, pkey: 0x8001 }).subarray(50, 52))).toBe('8001');
});

test('LHCNP-6.2.1-b, LHCNP-6.2.3-h, LHCNP-6.2.3-i, LHCNP-6.2.3-j, LHCNP-6.2.3-k: FECN 0, BECN 1, E 1, five zero bits', () => {
  expect(buildLongHaulRoce({ ...V6, cnp: REDUCE })[52]).toBe(0b0110_0000);
});

test('LHCNP-6.2.3-l, LHCNP-6.2.3-m, LHCNP-6.2.3-n, LHCNP-6.2.3-o: DestQP is the Queue Pair at the sender; AckReq, seven bits and PSN are zero', () => {
  const packet = buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, sourceQpn: 0xabcdef } });
  expect(toHex(packet.subarray(53, 60))).toBe('abcdef' + '00' + '000000');
});

test('LHCNP-6.2.4-a: the twelve octets follow the BTH as they are in the ICMPv6 form', () => {
  expect(toHex(buildLongHaulRoce({ ...V6, cnp: REDUCE }).subarray(60, -4))).toBe(toHex(REDUCE_BODY));
});

test('LHCNP-6.2.4-b: objects come behind an Extension Header', () => {
  const packet = buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects: OBJECTS } });
  expect(toHex(packet.subarray(72, 74))).toBe('2000');
  expect(read(packet)).toEqual({ ok: true, value: { ...REDUCE, objects: OBJECTS } });
});

test('LHCNP-6.2.4-c: the ICRC covers the extension fields and every object', () => {
  const packet = buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects: OBJECTS } });
  for (let at = 60; at < packet.length - 4; at++)
    expect(code(packet.with(at, packet[at]! ^ 0x10)), `byte ${at}`).toBe('bad-icrc');
});

test('LHCNP-6.2.5-a: a card that knows the CNP only finds a CNP with a valid ICRC for the right Queue Pair', () => {
  expect(parsed(buildLongHaulRoce({ ...V6, cnp: REDUCE }))).toMatchObject({
    icrcValid: true,
    bth: { opcode: 0x81, becn: true, destQpn: 100 },
  });
  const padded = buildLongHaulRoce({ ...V6, cnp: REDUCE, padToCnp: true });
  expect(padded).toHaveLength(CNP6.length);
  expect(isCnp(parsed(padded))).toBe(true);
  expect(read(padded)).toEqual({ ok: true, value: REDUCE });
  expect(buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects: OBJECTS }, padToCnp: true })).toEqual(
    buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects: OBJECTS } }),
  );
});

test('LHCNP-6.2.1-a, LHCNP-6.2.1-b: without the E bit it is a standard CNP, whatever follows; the ICRC alone would not tell', () => {
  const flipped = LONG_HAUL_CNP6.with(52, 0x40);
  expect(parsed(flipped).icrcValid).toBe(true);
  expect({
    longHaulCnp6: isLongHaulRoce(parsed(LONG_HAUL_CNP6)),
    flipped: isLongHaulRoce(parsed(flipped)),
    cnp6: isLongHaulRoce(parsed(CNP6)),
    send6: isLongHaulRoce(parsed(SEND6)),
  }).toEqual({ longHaulCnp6: true, flipped: false, cnp6: false, send6: false });
  expect({ flipped: code(flipped), cnp6: code(CNP6), send6: code(SEND6) }).toEqual({
    flipped: 'not-long-haul',
    cnp6: 'not-long-haul',
    send6: 'not-long-haul',
  });
});

test('LHCNP-6.2.3-a: a receiver refuses a packet with E in which another BTH field is not as it must be', () => {
  expect(code(withBth({}))).toBe('ok');
  for (const bth of [
    { becn: false },
    { fecn: true },
    { solicited: true },
    { migration: true },
    { ackRequest: true },
    { psn: 1 },
    { reserved: 0x21 },
    { reserved: 0x3f },
  ]) {
    expect(code(withBth(bth)), JSON.stringify(bth)).toBe('bad-bth');
  }
  expect(code(withBth({}, REDUCE_BODY.subarray(0, 11)))).toBe('bad-bth');
  // Another opcode is another packet.
  expect(code(withBth({ opcode: 0x04 }))).toBe('not-long-haul');
});

test('LHCNP-9-h: a packet whose two Queue Pair fields differ is refused, and so is an E bit set on a standard CNP', () => {
  expect(code(withBth({ destQpn: 101 }))).toBe('queue-pair-mismatch');
  // The sixteen zero octets of a CNP read as Notify for Queue Pair 0.
  expect(code(CNP6.with(52, 0x60))).toBe('queue-pair-mismatch');
  expect(code(withBth({}, REDUCE_BODY.subarray(0, 8)))).toBe('truncated');
  expect(code(withBth({}, concat(REDUCE_BODY, fromHex('00000001'))))).toBe('bad-extension-version');
});

test('no packet harms the reader', () => {
  fuzzDecoder(
    (bytes) => {
      const packet = parseRocePacket(bytes);
      return packet.ok ? readLongHaulRoce({ ...packet.value, icrcValid: true }, OBJECT_CLASS) : packet;
    },
    [LONG_HAUL_CNP6, LONG_HAUL_CNP4, buildLongHaulRoce({ ...V6, cnp: { ...REDUCE, objects: OBJECTS } }), CNP6],
  );
});
