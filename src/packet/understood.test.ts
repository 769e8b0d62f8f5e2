// What senders understand, as all carriers encode it.
import { describe, expect, test } from 'vitest';
import { SENDER_FORMATS, understood } from '../model/understood.ts';
import { fromHex, toHex } from './hex.ts';
import { decodeUnderstood, encodeUnderstood } from './understood.ts';

const read = (hex: string): unknown => {
  const decoded = decodeUnderstood(fromHex(hex));
  return decoded.ok ? decoded.value : decoded.error.code;
};

describe('the value', () => {
  test.each([
    [['fast-cnp'], '0180'],
    [['long-haul-icmpv6'], '0140'],
    [['long-haul-roce'], '0120'],
    [['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'], '01e0'],
  ] as const)('%j is %s', (formats, hex) => {
    expect(toHex(encodeUnderstood(formats))).toBe(hex);
    expect(read(hex)).toEqual(formats);
  });

  test('every set crosses, and equal sets are one object', () => {
    for (let bits = 1; bits < 8; bits++) {
      const set = understood(SENDER_FORMATS.filter((_, i) => (bits >> i) & 1))!;
      const decoded = decodeUnderstood(encodeUnderstood(set));
      expect(decoded.ok && decoded.value).toBe(set);
    }
  });

  test('bits that are not known are ignored; none that is known is no set', () => {
    expect(read('019f')).toEqual(['fast-cnp']);
    expect([read('011f'), read('0100')]).toEqual([undefined, undefined]);
  });

  test.each([
    ['', 'bad-length'],
    ['01', 'bad-length'],
    ['018000', 'bad-length'],
    ['0280', 'unknown-version'],
    ['0080', 'unknown-version'],
  ])('"%s" is refused: %s', (hex, code) => expect(read(hex)).toBe(code));
});
