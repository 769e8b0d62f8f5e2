import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import {
  type StampReply,
  type StampTest,
  UNSYNCHRONIZED,
  decodeStampReply,
  decodeStampTest,
  encodeStampReply,
  encodeStampTest,
} from './stamp.ts';

const KEY = fromHex('000102030405060708090a0b0c0d0e0f');
const TEST: StampTest = {
  sequence: 0x01020304,
  timestamp: 0xe93d480080000000n,
  error: { synchronized: true, ptp: false, scale: 15, multiplier: 8 },
  ssid: 0xbeef,
};
const REPLY: StampReply = {
  sequence: 9,
  timestamp: 0xe93d480090000000n,
  error: UNSYNCHRONIZED,
  ssid: 0xbeef,
  received: 0xe93d48008fffffffn,
  senderSequence: TEST.sequence,
  senderTimestamp: TEST.timestamp,
  senderError: TEST.error,
  senderTtl: 61,
};

test('RFC 8762 §4.2.1: the unauthenticated test packet, field by field', () => {
  expect(toHex(encodeStampTest(TEST))).toBe('01020304' + 'e93d480080000000' + '8f08' + 'beef' + '00'.repeat(28));
});

test('RFC 8762 §4.3.1: the unauthenticated reply, field by field', () => {
  const fields = [
    '00000009',
    'e93d480090000000',
    '0f08',
    'beef',
    'e93d48008fffffff',
    '01020304',
    'e93d480080000000',
    '8f08',
    '0000',
    '3d',
    '000000',
  ];
  expect(toHex(encodeStampReply(REPLY))).toBe(fields.join(''));
});

const mac = (hex: string): string => createHmac('sha256', KEY).update(fromHex(hex)).digest('hex').slice(0, 32);

test('RFC 8762 §4.2.2: the authenticated test packet: 112 bytes, HMAC-SHA-256 of 16 over the 96 before it', () => {
  const covered = '01020304' + '00'.repeat(12) + 'e93d480080000000' + '8f08' + 'beef' + '00'.repeat(68);
  expect(toHex(encodeStampTest(TEST, KEY))).toBe(covered + mac(covered));
});

test('RFC 8762 §4.3.2: the authenticated reply', () => {
  const zero = (n: number): string => '00'.repeat(n);
  const covered = [
    '00000009',
    zero(12),
    'e93d480090000000',
    '0f08',
    'beef',
    zero(4),
    'e93d48008fffffff',
    zero(8),
    '01020304',
    zero(12),
    'e93d480080000000',
    '8f08',
    zero(6),
    '3d',
    zero(15),
  ].join('');
  expect(toHex(encodeStampReply(REPLY, KEY))).toBe(covered + mac(covered));
});

test('every packet survives both ways, with and without a key', () => {
  const estimate = fc.record({
    synchronized: fc.boolean(),
    ptp: fc.boolean(),
    scale: fc.nat(63),
    multiplier: fc.nat(255),
  });
  const time = fc.bigInt(0n, (1n << 64n) - 1n);
  const sequence = fc.nat(0xffffffff);
  const testPacket = fc.record({ sequence, timestamp: time, error: estimate, ssid: fc.nat(0xffff) });
  const more = fc.record({
    received: time,
    senderSequence: sequence,
    senderTimestamp: time,
    senderError: estimate,
    senderTtl: fc.nat(255),
  });
  fc.assert(
    fc.property(testPacket, more, fc.constantFrom(undefined, KEY), (t, m, key) => {
      expect(decodeStampTest(encodeStampTest(t, key), key)).toEqual({ ok: true, value: t });
      expect(decodeStampReply(encodeStampReply({ ...t, ...m }, key), key)).toEqual({ ok: true, value: { ...t, ...m } });
    }),
  );
});

test('one changed bit, another key or none at all: the authenticated packet is refused', () => {
  const packet = encodeStampReply(REPLY, KEY);
  for (let at = 0; at < packet.length; at++) {
    expect(decodeStampReply(packet.with(at, packet[at]! ^ 0x40), KEY), `byte ${at}`).toMatchObject({
      ok: false,
      error: { code: 'bad-hmac' },
    });
  }
  expect(decodeStampReply(packet, fromHex('ff'))).toMatchObject({ ok: false, error: { code: 'bad-hmac' } });
  expect(decodeStampReply(encodeStampReply(REPLY), KEY)).toMatchObject({ ok: false, error: { code: 'truncated' } });
});

test('what follows the base packet is ignored, as is what must be zero', () => {
  const longer = new Uint8Array([...encodeStampTest(TEST), 0x80, 1, 0, 0]).fill(0xff, 16, 44);
  expect(decodeStampTest(longer)).toEqual({ ok: true, value: TEST });
});

test('no packet harms the decoders', () => {
  for (const key of [undefined, KEY]) {
    refusesTruncation((b) => decodeStampTest(b, key), encodeStampTest(TEST, key));
    refusesTruncation((b) => decodeStampReply(b, key), encodeStampReply(REPLY, key));
    fuzzDecoder(
      (b) => [decodeStampTest(b, key), decodeStampReply(b, key)],
      [encodeStampTest(TEST, key), encodeStampReply(REPLY, key)],
    );
  }
});
