// Checks of one TLV codec: a vector in both directions, and malformed values by their error code.
import { expect } from 'vitest';
import { fromHex, toHex } from '../../hex.ts';
import { decodeTlvs, encodeTlv } from '../tlvs.ts';
import type { IsisTlv } from './types.ts';
import type { BadTlv } from '../types.ts';

const tlv = (type: number, valueHex: string): Uint8Array => {
  const value = fromHex(valueHex);
  return Uint8Array.from([type, value.length, ...value]);
};

/** `valueHex` is the value without type and length. */
export function expectVector(type: number, valueHex: string, value: IsisTlv): void {
  const bytes = tlv(type, valueHex);
  expect(decodeTlvs(bytes, 0)).toEqual({ tlvs: [value], badTlvs: [] });
  expect(toHex(encodeTlv(value))).toBe(toHex(bytes));
}

/** The TLV is reported under this code, skipped, and its bytes stay. */
export function expectBad(type: number, valueHex: string, code: string): void {
  const bytes = tlv(type, valueHex);
  const { tlvs, badTlvs } = decodeTlvs(bytes, 0);
  expect(badTlvs.map((bad: BadTlv) => [bad.type, bad.error.code])).toEqual([[type, code]]);
  expect(tlvs).toEqual([{ kind: 'unknown', type, value: fromHex(valueHex) }]);
  expect(toHex(encodeTlv(tlvs[0]!))).toBe(toHex(bytes));
}
