import { expect, test } from 'vitest';
import { fromHex } from '../hex.ts';
import { addWords, foldChecksum } from './checksum.ts';

test('the checksum of RFC 1071 §3', () => {
  expect(foldChecksum(addWords(0, fromHex('0001f203f4f5f6f7')))).toBe(~0xddf2 & 0xffff);
});

test('an odd last byte is the high half of its word, and the order of words does not matter', () => {
  expect(addWords(0, fromHex('000102'))).toBe(addWords(0, fromHex('02000001')));
  // What lies behind the end does not count.
  expect(addWords(0, fromHex('ffff000102ff'), 2, 5)).toBe(addWords(0, fromHex('000102')));
});

test('sums of more than 32 bits fold', () => {
  expect(foldChecksum(addWords(0, new Uint8Array(140_000).fill(0xff)))).toBe(0);
  expect(foldChecksum(0x1_0000_0000)).toBe(0xfffe);
});
