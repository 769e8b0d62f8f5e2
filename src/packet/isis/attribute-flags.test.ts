import { expect, test } from 'vitest';
import { DEFAULT_CODE_POINTS } from '../../model/code-points.ts';
import { fromHex } from '../hex.ts';
import { hasFlag, withFlag } from '../bit-string.ts';
import { ATTRIBUTE_BIT, flagsOf } from './attribute-flags.ts';

test('PNC-5.1-a: the P-flag is the last bit of the first byte, X the first', () => {
  expect(flagsOf(DEFAULT_CODE_POINTS['isis-pnc-flag-bit'])).toEqual(fromHex('01'));
  expect(flagsOf(ATTRIBUTE_BIT.external)).toEqual(fromHex('80'));
  expect(flagsOf(ATTRIBUTE_BIT.readvertised, ATTRIBUTE_BIT.node)).toEqual(fromHex('60'));
});

test('bits beyond the end are clear, and setting one lengthens the string', () => {
  expect(hasFlag(new Uint8Array(), 7)).toBe(false);
  expect(hasFlag(fromHex('fe'), 7)).toBe(false);
  expect(hasFlag(fromHex('01'), 7)).toBe(true);
  expect(hasFlag(fromHex('0001'), 15)).toBe(true);
  expect(withFlag(fromHex('41'), 23)).toEqual(fromHex('410001'));
  expect(withFlag(fromHex('4100ff'), 2)).toEqual(fromHex('6100ff'));
});

test('setting a bit does not change the flags given', () => {
  const flags = fromHex('00');
  withFlag(flags, 0);
  expect(flags).toEqual(fromHex('00'));
});
