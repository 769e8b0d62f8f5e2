import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../hex.ts';
import { type LongHaulObject, OBJECT_TYPE, readObject, writeObject } from './objects.ts';

const CLASS = 247;
const read = (cType: number, hex: string, classNum = CLASS): LongHaulObject =>
  readObject({ classNum, cType, payload: fromHex(hex) }, CLASS);

test('LHCNP-6.1.1-h: what is written is read again, whatever the object', () => {
  const object = fc.oneof(
    fc.record({ kind: fc.constant('timestamp' as const), ntp: fc.bigInt(0n, (1n << 64n) - 1n) }),
    // A name that ends in NUL cannot be distinguished from padding.
    fc.record({
      kind: fc.constant('device-id' as const),
      name: fc.string({ unit: 'grapheme', maxLength: 20 }).filter((name) => !name.endsWith('\0')),
    }),
    fc.record({ kind: fc.constant('path-id' as const), id: fc.uint8Array({ maxLength: 20 }) }),
    fc.record({
      kind: fc.constant('other' as const),
      classNum: fc.integer({ min: 0, max: 255 }).filter((n) => n !== CLASS),
      cType: fc.nat(255),
      payload: fc.uint8Array({ maxLength: 20 }),
    }),
  );
  fc.assert(fc.property(object, (o) => void expect(readObject(writeObject(o, CLASS), CLASS)).toEqual(o)));
});

test('a timestamp has 64 bits: the first and the last are written, others are refused', () => {
  const written = (ntp: bigint): string => toHex(writeObject({ kind: 'timestamp', ntp }, CLASS).payload);
  expect([written(0n), written((1n << 64n) - 1n)]).toEqual(['0'.repeat(16), 'f'.repeat(16)]);
  for (const ntp of [-1n, 1n << 64n]) expect(() => written(ntp)).toThrow(/NTP timestamp/);
});

test('a timestamp of another length is kept as it came', () => {
  for (const hex of ['00010203040506', '000102030405060708'])
    expect(read(OBJECT_TYPE.timestamp, hex)).toMatchObject({ kind: 'other', cType: OBJECT_TYPE.timestamp });
});

test('an object of another class, or of an unknown type, is kept as it came', () => {
  expect(read(OBJECT_TYPE.pathId, '07', CLASS + 1)).toEqual({
    kind: 'other',
    classNum: CLASS + 1,
    cType: OBJECT_TYPE.pathId,
    payload: Uint8Array.of(7),
  });
  for (const cType of [0, 4, 254, 255]) expect(read(cType, '61')).toMatchObject({ kind: 'other', cType });
});

test('a name is UTF-8, without the padding that its Length counts, and nothing is taken from its beginning', () => {
  expect([
    read(OBJECT_TYPE.deviceId, '6c6561663100'),
    read(OBJECT_TYPE.deviceId, '000000'),
    read(OBJECT_TYPE.deviceId, ''),
  ]).toEqual([
    { kind: 'device-id', name: 'leaf1' },
    { kind: 'device-id', name: '' },
    { kind: 'device-id', name: '' },
  ]);
  expect(read(OBJECT_TYPE.deviceId, 'efbbbf61')).toEqual({ kind: 'device-id', name: '\ufeffa' });
  expect(read(OBJECT_TYPE.deviceId, '610062')).toEqual({ kind: 'device-id', name: 'a\0b' });
  expect(read(OBJECT_TYPE.deviceId, 'c3')).toMatchObject({ kind: 'other' });
});
