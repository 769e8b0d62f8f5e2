import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat, copyOf, put16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import {
  FRR_MD5_HELLO,
  FRR_MD5_KEY,
  FRR_MD5_UPDATE,
  FRR_TRAILER_ADDRESSES,
  FRR_TRAILER_HELLO,
  FRR_TRAILER_KEY,
  FRR_TRAILER_UPDATE,
} from './auth.fixture.ts';
import { digestLength, signPacketV2, verifyPacketV2 } from './auth-v2.ts';
import { announcesTrailer, signPacketV3, trailerLength, verifyPacketV3 } from './auth-v3.ts';
import { type AuthenticationKey, type DigestAlgorithm, hmac } from './digest.ts';
import { OPTION_V3 } from './numbers.ts';
import { decodePacket, encodePacket } from './packet.ts';
import type { Hello } from './types.ts';

const { source } = FRR_TRAILER_ADDRESSES;
const SOURCE_V2 = address('10.0.0.1');
const ADDRESSES_V2 = { source: SOURCE_V2, destination: address('224.0.0.5') };
const SHA: readonly DigestAlgorithm[] = ['hmac-sha-1', 'hmac-sha-256', 'hmac-sha-384', 'hmac-sha-512'];
const key = (algorithm: DigestAlgorithm, secret = 's3cret', id = 7): AuthenticationKey => ({
  id,
  algorithm,
  secret: new TextEncoder().encode(secret),
});
const APAD = fromHex('878fe1f3'.repeat(16));

const hello = (options: number): Hello => ({
  kind: 'hello',
  routerId: 0xc0000201,
  areaId: 0,
  instanceId: 0,
  networkMask: 0,
  interfaceId: 0,
  options,
  helloInterval: 2,
  priority: 1,
  deadInterval: 8,
  designatedRouter: 0,
  backupDesignatedRouter: 0,
  neighbors: [0xc0000202],
});
const HELLO_V2 = encodePacket(2, hello(2), ADDRESSES_V2);
const HELLO_V3 = encodePacket(3, hello(0x13 | OPTION_V3.authenticationTrailer), FRR_TRAILER_ADDRESSES);

/** Every byte of what was signed is covered. */
function expectCovered(signed: Uint8Array, verify: (bytes: Uint8Array) => { readonly ok: boolean }): void {
  expect(verify(signed).ok).toBe(true);
  for (let i = 0; i < signed.length; i++) {
    const changed = new Uint8Array(signed);
    changed[i] = changed[i]! ^ 1;
    expect(verify(changed).ok, `byte ${i}`).toBe(false);
  }
  for (let length = 0; length < signed.length; length++)
    expect(verify(signed.subarray(0, length)).ok, `cut at ${length}`).toBe(false);
}

test('FRR and we agree on keyed MD5', () => {
  for (const [packet, sequence] of [
    [FRR_MD5_HELLO, 0x6b0211df],
    [FRR_MD5_UPDATE, 0x6b0211e5],
  ] as const) {
    expect(verifyPacketV2(packet, [key('hmac-sha-1', 'x', 1), FRR_MD5_KEY])).toEqual({
      ok: true,
      keyId: 7,
      sequence: BigInt(sequence),
    });
    const decoded = decodePacket(2, packet, ADDRESSES_V2);
    if (!decoded.ok) throw new Error(decoded.error.code);
    expect(toHex(signPacketV2(encodePacket(2, decoded.value, ADDRESSES_V2), FRR_MD5_KEY, sequence))).toBe(
      toHex(packet),
    );
  }
});

test('FRR and we agree on the trailer of RFC 7166, its protocol ID in the byte order of FRR 8.4', () => {
  for (const [packet, sequence] of [
    [FRR_TRAILER_HELLO, 1n],
    [FRR_TRAILER_UPDATE, 4n],
  ] as const) {
    expect(verifyPacketV3(packet, [FRR_TRAILER_KEY], source)).toEqual({
      ok: true,
      keyId: 9,
      sequence,
      order: 'reversed',
    });
    const decoded = decodePacket(3, packet, FRR_TRAILER_ADDRESSES, { authenticated: true });
    if (!decoded.ok) throw new Error(decoded.error.code);
    const encoded = encodePacket(3, decoded.value, FRR_TRAILER_ADDRESSES);
    expect(toHex(signPacketV3(encoded, FRR_TRAILER_KEY, sequence, source, 'reversed'))).toBe(toHex(packet));
  }
});

test('keyed MD5 covers the packet and the secret in 16 bytes; a longer secret is cut', () => {
  const signed = signPacketV2(HELLO_V2, key('md5'), 5);
  const secret = Buffer.alloc(16);
  secret.write('s3cret');
  expect(toHex(signed.subarray(-16))).toBe(
    createHash('md5').update(signed.subarray(0, -16)).update(secret).digest('hex'),
  );
  const long = (text: string): string => toHex(signPacketV2(HELLO_V2, key('md5', text), 5));
  expect(long('0123456789abcdefXYZ')).toBe(long('0123456789abcdef'));
});

test.each(SHA)('RFC 5709: %s covers packet and Apad', (algorithm) => {
  const signed = signPacketV2(HELLO_V2, key(algorithm), 0xfffffffe);
  const length = digestLength(key(algorithm));
  expect(toHex(signed.subarray(10, 24))).toBe(`00000000${'0002'}0000${'07'}${length.toString(16)}fffffffe`);
  const expected = createHmac(algorithm.replace('hmac-', '').replace('sha-', 'sha'), 's3cret');
  expected.update(concat(signed.subarray(0, -length), APAD.subarray(0, length)));
  expect(toHex(signed.subarray(-length))).toBe(expected.digest('hex'));
  expectCovered(signed, (bytes) => verifyPacketV2(bytes, [key(algorithm)]));
});

test.each(SHA)('RFC 7166: the trailer with %s covers packet, trailer and source address', (algorithm) => {
  const signed = signPacketV3(HELLO_V3, key(algorithm), 0x100000002n, source);
  const length = trailerLength(key(algorithm)) - 16;
  expect(toHex(signed.subarray(HELLO_V3.length, -length))).toBe(
    `0001${(16 + length).toString(16).padStart(4, '0')}000000070000000100000002`,
  );
  expect(toHex(signed.subarray(12, 14))).toBe('0000');
  const expected = createHmac(algorithm.replace('hmac-', '').replace('sha-', 'sha'), Buffer.from('s3cret\0\x01'));
  expected.update(
    concat(signed.subarray(0, -length), fromHex('fe800000000000000075bdfffe1d3a05'), APAD).subarray(0, signed.length),
  );
  expect(toHex(signed.subarray(-length))).toBe(expected.digest('hex'));
  expectCovered(signed, (bytes) => verifyPacketV3(bytes, [key(algorithm)], source));
  expect(verifyPacketV3(signed, [key(algorithm)], address('fe80::1'))).toEqual({ ok: false, reason: 'wrong' });
});

test('the trailer follows an LLS block', () => {
  const packet = encodePacket(3, hello(OPTION_V3.authenticationTrailer | OPTION_V3.lls), FRR_TRAILER_ADDRESSES);
  const plain = signPacketV3(packet, key('hmac-sha-256'), 1n, source);
  const trailer = plain.subarray(packet.length, packet.length + 16);
  const text = concat(plain.subarray(0, packet.length), fromHex('0000 0003 0001 0004 00000001'), trailer);
  const digest = createHmac('sha256', Buffer.from('s3cret\0\x01'))
    .update(text)
    .update(fromHex('fe800000000000000075bdfffe1d3a05'))
    .update(APAD.subarray(0, 16));
  const bytes = concat(text, digest.digest());
  expect(verifyPacketV3(bytes, [key('hmac-sha-256')], source)).toMatchObject({ ok: true, sequence: 1n });
  put16(bytes, packet.length + 2, 200);
  expect(verifyPacketV3(bytes, [key('hmac-sha-256')], source)).toEqual({ ok: false, reason: 'missing' });
});

test('a key longer than the digest is hashed first, as RFC 5709 §3.3 says: plain HMAC would take it as it is', () => {
  const secret = new Uint8Array(33).fill(0x61);
  const hashed = createHash('sha256').update(secret).digest();
  expect(toHex(hmac('hmac-sha-256', secret, HELLO_V2))).toBe(
    createHmac('sha256', hashed).update(HELLO_V2).digest('hex'),
  );
  expect(toHex(hmac('hmac-sha-256', secret.subarray(1), HELLO_V2))).toBe(
    createHmac('sha256', secret.subarray(1)).update(HELLO_V2).digest('hex'),
  );
});

test('missing authentication, an unknown key and a wrong digest are distinguished', () => {
  expect(verifyPacketV2(HELLO_V2, [key('md5')])).toEqual({ ok: false, reason: 'missing' });
  expect(verifyPacketV3(HELLO_V3, [key('hmac-sha-1')], source)).toEqual({ ok: false, reason: 'missing' });
  const v2 = signPacketV2(HELLO_V2, key('md5'), 1);
  const v3 = signPacketV3(HELLO_V3, key('hmac-sha-1'), 1n, source);
  expect(verifyPacketV2(v2, [key('md5', 's3cret', 8)])).toEqual({ ok: false, reason: 'unknown-key' });
  expect(verifyPacketV3(v3, [key('hmac-sha-1', 's3cret', 8)], source)).toEqual({ ok: false, reason: 'unknown-key' });
  for (const other of [key('md5', 'other'), key('hmac-sha-256')])
    expect(verifyPacketV2(v2, [other])).toEqual({ ok: false, reason: 'wrong' });
  for (const other of [key('hmac-sha-1', 'other'), key('hmac-sha-256')])
    expect(verifyPacketV3(v3, [other], source)).toEqual({ ok: false, reason: 'wrong' });
});

test('a length other than that of the digest is wrong, though the digest covers it (RFC 2328 §D.4.3; RFC 7166 §4.6)', () => {
  const v2 = copyOf(signPacketV2(HELLO_V2, key('md5'), 1));
  v2[19] = 20;
  const text = v2.subarray(0, HELLO_V2.length);
  v2.set(createHash('md5').update(text).update('s3cret'.padEnd(16, '\0')).digest(), HELLO_V2.length);
  expect(verifyPacketV2(v2, [key('md5')])).toEqual({ ok: false, reason: 'wrong' });
  const v3 = copyOf(signPacketV3(HELLO_V3, key('hmac-sha-256'), 1n, source));
  put16(v3, HELLO_V3.length + 2, 36);
  const apad = concat(fromHex('fe800000000000000075bdfffe1d3a05'), APAD.subarray(0, 16));
  const digest = createHmac('sha256', 's3cret\0\x01').update(v3.subarray(0, -32)).update(apad).digest();
  v3.set(digest, v3.length - 32);
  expect(verifyPacketV3(v3, [key('hmac-sha-256')], source)).toEqual({ ok: false, reason: 'wrong' });
});

test('a trailer that is cut, or of another type than HMAC, is none; one whose digest is cut is wrong (RFC 7166 §4.6)', () => {
  const signed = signPacketV3(HELLO_V3, key('hmac-sha-256'), 1n, source);
  const reasons = (from: number, to: number): unknown[] =>
    Array.from({ length: to - from }, (_, i) =>
      verifyPacketV3(signed.subarray(0, HELLO_V3.length + from + i), [key('hmac-sha-256')], source),
    );
  expect(reasons(0, 16)).toEqual(new Array(16).fill({ ok: false, reason: 'missing' }));
  expect(reasons(16, 48)).toEqual(new Array(32).fill({ ok: false, reason: 'wrong' }));
  const other = copyOf(signed);
  put16(other, HELLO_V3.length, 2);
  expect(verifyPacketV3(other, [key('hmac-sha-256')], source)).toEqual({ ok: false, reason: 'missing' });
});

test('the AT option of hellos and Database Descriptions announces a trailer, where they have one (RFC 7166 §2.1)', () => {
  const dd = (options: number): Uint8Array =>
    encodePacket(
      3,
      {
        ...{ kind: 'database-description', routerId: 1, areaId: 0, instanceId: 0, mtu: 1500, options, headers: [] },
        ...{ initialize: true, more: true, master: true, sequence: 1 },
      },
      FRR_TRAILER_ADDRESSES,
    );
  const request = encodePacket(
    3,
    { kind: 'link-state-request', routerId: 1, areaId: 0, instanceId: 0, requests: [] },
    FRR_TRAILER_ADDRESSES,
  );
  const AT = OPTION_V3.authenticationTrailer;
  const announced = [HELLO_V3, dd(AT), encodePacket(3, hello(0x13), FRR_TRAILER_ADDRESSES), dd(0x13)];
  expect(announced.map(announcesTrailer)).toEqual([true, true, false, false]);
  expect([request, HELLO_V2, new Uint8Array()].map(announcesTrailer)).toEqual([false, false, false]);
  // What follows the packet is none of its options.
  const cut = (length: number): boolean => {
    const bytes = dd(AT);
    put16(bytes, 2, length);
    return announcesTrailer(bytes);
  };
  expect({ at19: cut(19), at20: cut(20) }).toEqual({ at19: false, at20: true });
});

test('what cannot be signed is refused', () => {
  expect(() => signPacketV2(HELLO_V3, key('md5'), 1)).toThrow(/only an encoded packet/);
  expect(() => signPacketV2(signPacketV2(HELLO_V2, key('md5'), 1), key('md5'), 1)).toThrow(/only an encoded packet/);
  expect(() => signPacketV3(HELLO_V3, key('md5'), 1n, source)).toThrow(/no MD5/);
  const signed = signPacketV3(HELLO_V3, key('hmac-sha-1'), 1n, source);
  for (const packet of [HELLO_V2, signed])
    expect(() => signPacketV3(packet, key('hmac-sha-1'), 1n, source)).toThrow(/only an encoded packet/);
  expect(() => signPacketV2(HELLO_V2, key('md5', 'a', 256), 1)).toThrow(/8 bits/);
  expect(() => signPacketV2(HELLO_V2, key('md5'), 2 ** 32)).toThrow(/32 bits/);
});

test('a signed packet decodes although its checksum is 0, an unsigned one does not', () => {
  expect(decodePacket(2, FRR_MD5_HELLO, ADDRESSES_V2)).toMatchObject({ ok: true, value: { kind: 'hello' } });
  expect(decodePacket(3, FRR_TRAILER_HELLO, FRR_TRAILER_ADDRESSES)).toMatchObject({
    ok: false,
    error: { code: 'bad-checksum' },
  });
  expect(decodePacket(3, FRR_TRAILER_HELLO, FRR_TRAILER_ADDRESSES, { authenticated: true })).toMatchObject({
    ok: true,
    value: { kind: 'hello' },
  });
});

test('no packet harms verification', () => {
  fuzzDecoder((bytes) => verifyPacketV2(bytes, [FRR_MD5_KEY]), [FRR_MD5_HELLO, FRR_MD5_UPDATE], { runs: 600 });
  fuzzDecoder((bytes) => verifyPacketV3(bytes, [FRR_TRAILER_KEY], source), [FRR_TRAILER_HELLO, FRR_TRAILER_UPDATE], {
    runs: 600,
  });
});
