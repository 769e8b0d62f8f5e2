// The segment routing header by itself: where it begins, where it ends, and how much it holds (RFC 8754 §2).
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { concat } from '../bytes.ts';
import { fromHex } from '../hex.ts';
import { type Srh, decodeSrh, encodeSrh } from './srh.ts';

const segment = (n: number) => address(`fc00:${n}::`);
const SRH: Srh = {
  ...{ nextHeader: 41, segmentsLeft: 1, flags: 0x20, tag: 0x1234, segments: [segment(2), segment(1)] },
  tlvs: [{ type: 124, value: fromHex('aabbcc') }],
};
const BYTES = encodeSrh(SRH);
/** The same in the middle of a packet, between bytes that mean nothing. */
const AT = 24;
const within = (bytes: Uint8Array): Uint8Array =>
  concat(new Uint8Array(AT).fill(0x7c), bytes, new Uint8Array(16).fill(0x7c));

test('it is read where it begins, and nothing before or after it', () => {
  const expected = { ok: true, value: { ...SRH, length: 48 } };
  expect(BYTES).toHaveLength(48);
  expect(decodeSrh(BYTES)).toEqual(expected);
  expect(decodeSrh(within(BYTES), AT)).toEqual(expected);
  expect(decodeSrh(within(BYTES), AT, AT + 48)).toEqual(expected);
});

test.each<[string, (bytes: Uint8Array) => Uint8Array, number, string, number]>([
  ['is cut in its fixed part', (b) => b, AT + 7, 'truncated', 0],
  ['is cut behind it', (b) => b, AT + 8, 'truncated', 1],
  ['is cut by a byte', (b) => b, AT + 47, 'truncated', 1],
  ['is longer than what is there', (b) => b.with(1, 6), AT + 48, 'truncated', 1],
  ['is of another type', (b) => b.with(2, 2), AT + 48, 'not-srh', 2],
  ['has more segments than bytes', (b) => b.with(4, 2), AT + 48, 'bad-last-entry', 4],
  ['has more segments left than there are', (b) => b.with(3, 3), AT + 48, 'bad-segments-left', 3],
  ['has a TLV beyond its end', (b) => b.with(41, 7), AT + 48, 'srh-tlv-overrun', 40],
  ['ends with half a TLV', (b) => b.with(41, 5).with(47, 5), AT + 48, 'srh-tlv-overrun', 47],
])('one that %s is refused, at its place', (_what, change, end, code, offset) => {
  expect(decodeSrh(within(change(BYTES)), AT, end)).toMatchObject({ ok: false, error: { code, offset: AT + offset } });
});

test('segments left may be as many as there are, when the first is in the destination address only (§4.3.1.1)', () => {
  expect(decodeSrh(within(BYTES.with(3, 2)), AT)).toMatchObject({ value: { segmentsLeft: 2 } });
  expect(decodeSrh(encodeSrh({ ...SRH, segmentsLeft: 2 }))).toMatchObject({ value: { segmentsLeft: 2 } });
  expect(() => encodeSrh({ ...SRH, segmentsLeft: 3 })).toThrow(/3 of 2 segments left/);
});

test('padding is no TLV, wherever it is (§2.1.1)', () => {
  const tlvs = fromHex('00 04020000 00 7c01aa 00 7d00 0000 0400 0000 00 7e02bbbb 00');
  const bytes = concat(BYTES.subarray(0, 40).with(1, 4 + tlvs.length / 8), tlvs);
  expect(tlvs.length % 8).toBe(0);
  expect(decodeSrh(within(bytes), AT)).toMatchObject({
    value: {
      tlvs: [
        { type: 124, value: fromHex('aa') },
        { type: 125, value: fromHex('') },
        { type: 126, value: fromHex('bbbb') },
      ],
    },
  });
});

test('it holds 2,048 bytes, and not one more', () => {
  const segments = Array.from({ length: 127 }, (_, i) => segment(i + 1));
  const of = (...lengths: number[]): Srh => ({
    ...SRH,
    segments,
    tlvs: lengths.map((length) => ({ type: 124, value: new Uint8Array(length) })),
  });
  expect(encodeSrh(of(6))).toHaveLength(2048);
  expect(decodeSrh(encodeSrh(of(6)))).toMatchObject({ value: { length: 2048, segments } });
  expect(encodeSrh(of(1))).toHaveLength(2048);
  expect(() => encodeSrh(of(7))).toThrow(/an SRH of 2056 bytes/);
});

test('a TLV holds 255 bytes; segments are IPv6 addresses, one at least', () => {
  const of = (length: number): Uint8Array =>
    encodeSrh({ ...SRH, tlvs: [{ type: 124, value: new Uint8Array(length) }] });
  expect(decodeSrh(of(255))).toMatchObject({ value: { tlvs: [{ value: new Uint8Array(255) }] } });
  expect(() => of(256)).toThrow(/an SRH TLV of 256 bytes/);
  expect(() => encodeSrh({ ...SRH, segments: [segment(1), address('192.0.2.1')] })).toThrow(/one IPv6 address/);
  expect(() => encodeSrh({ ...SRH, segmentsLeft: 0, segments: [] })).toThrow(/one IPv6 address/);
});
