import { describe, expect, test } from 'vitest';
import { toHex } from '../../packet/hex.ts';
import { decodeExtensions } from '../../packet/icmpv6/objects.ts';
import { readObject } from '../../packet/long-haul/objects.ts';
import { LONG_HAUL } from './notice-config.fixture.ts';
import {
  MAX_DEVICE_ID,
  NOTICE_CONFIG_SIZE,
  type NoticeConfig,
  decodeNoticeConfig,
  encodeNoticeConfig,
  ntpOffsetNs,
} from './notice-config.ts';

const objects = (config: Partial<NonNullable<NoticeConfig['longHaul']>>): Uint8Array =>
  decodeNoticeConfig(encodeNoticeConfig({ longHaul: { ...LONG_HAUL, ...config } }, 0n)).objects;

describe('the extension objects prepared for a Long-haul CNP', () => {
  test('LHCNP-6.1.1-i: none: no Extension Header either', () => {
    expect(objects({})).toHaveLength(0);
  });

  test('LHCNP-6.1.1-b, LHCNP-6.1.1-c, LHCNP-6.1.1-d: V8: a timestamp: version 2, reserved 0, length 12, class 247, C-Type 1', () => {
    const bytes = objects({ timestamp: true });
    expect(toHex(bytes.subarray(0, 2))).toBe('2000');
    expect(toHex(bytes.subarray(4))).toBe('000cf7010000000000000000');
  });

  test('LHCNP-6.1.1-e, LHCNP-6.1.1-f, LHCNP-6.1.1-h: the codec reads all three, checksum and padding included', () => {
    const bytes = objects({ timestamp: true, deviceId: 'leaf1', pathId: 7 });
    const read = decodeExtensions(bytes, 0, bytes.length);
    expect(read.ok && read.value.map((o) => readObject(o, 247))).toEqual([
      { kind: 'timestamp', ntp: 0n },
      { kind: 'device-id', name: 'leaf1' },
      { kind: 'path-id', id: Uint8Array.of(0, 0, 0, 7) },
    ]);
    expect(toHex(bytes)).toContain('0009f7026c65616631000000');
  });

  test('the longest fit the map', () => {
    expect(objects({ timestamp: true, deviceId: 'x'.repeat(MAX_DEVICE_ID), pathId: 0xffff_ffff })).toHaveLength(92);
  });

  test('LHCNP-6.1.1-e: a computed checksum of 0 is 0xffff, because 0 means none (RFC 4884 §7)', () => {
    const checksum = (bytes: Uint8Array): number => (bytes[2]! << 8) | bytes[3]!;
    const zero = objects({ pathId: checksum(objects({ pathId: 0 })) });
    expect(checksum(zero)).toBe(0xffff);
    expect(decodeExtensions(zero, 0, zero.length)).toMatchObject({ ok: true });
  });

  test('a device identifier that is too long, and an invalid class, are refused', () => {
    expect(() => objects({ deviceId: 'ä'.repeat(33) })).toThrow(RangeError);
    expect(() => objects({ objectClass: 0, timestamp: true })).toThrow(RangeError);
  });
});

describe('the rest of the configuration', () => {
  test('FCNP-5-g: nothing configured is all zero: no format but the proxy’s', () => {
    expect(encodeNoticeConfig({}, 0n)).toEqual(new Uint8Array(NOTICE_CONFIG_SIZE));
  });

  test('FCNP-6-a, LHCNP-6.1-b: code points, coverage and padding have their octets', () => {
    const value = encodeNoticeConfig(
      { fastCnp: { option: 0x9e, ioamOption: 0x9d, icrc: 'skip' }, longHaul: { ...LONG_HAUL, padToCnp: true } },
      0n,
    );
    expect(toHex(value.subarray(0, 8))).toBe('9e9d01c801000000');
  });

  test('RFC 5905: time counts from 1900: 2,208,988,800 s before 1970', () => {
    expect(ntpOffsetNs(1_000_000_000n, 400n)).toBe((2_208_988_800n + 1n) * 1_000_000_000n - 400n);
  });

  test('an offset that moved by less than a millisecond is kept; after the clock was set it is replaced', () => {
    const before = encodeNoticeConfig({ longHaul: LONG_HAUL }, 5_000_000_000n);
    const offset = (now: bigint): bigint =>
      decodeNoticeConfig(encodeNoticeConfig({ longHaul: LONG_HAUL }, now, before)).ntpOffsetNs;
    expect(offset(5_000_900_000n)).toBe(5_000_000_000n);
    expect(offset(4_999_100_000n)).toBe(5_000_000_000n);
    expect(offset(5_002_000_000n)).toBe(5_002_000_000n);
    expect(offset(4_900_000_000n)).toBe(4_900_000_000n);
  });
});
