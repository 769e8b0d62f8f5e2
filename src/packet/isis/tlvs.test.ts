import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHex } from '../hex.ts';
import { arbitraryTlv, lspWith } from './arbitrary.fixture.ts';
import { decodePdu, encodePdu } from './pdu.ts';
import { TLV_CODECS, checkTlvStructure, decodeTlv, decodeTlvs, encodeTlv, encodeTlvs } from './tlvs.ts';
import type { IsisPdu, LanHello } from './types.ts';

test('each TLV has one row: no type and no name twice', () => {
  expect(new Set(TLV_CODECS.map((codec) => codec.type)).size).toBe(TLV_CODECS.length);
  expect(new Set(TLV_CODECS.map((codec) => codec.name)).size).toBe(TLV_CODECS.length);
});

test('TLVs that do not fill the PDU exactly are noticed, by a single byte', () => {
  expect(checkTlvStructure(Uint8Array.of(9, 9, 9), 3)).toBeUndefined();
  expect(checkTlvStructure(Uint8Array.of(9, 137, 1, 97), 1)).toBeUndefined();
  for (const bytes of [
    [9, 137, 1],
    [9, 137, 2, 97],
    [9, 137, 1, 97, 137],
    [9, 137],
  ]) {
    expect(checkTlvStructure(Uint8Array.from(bytes), 1), String(bytes)).toMatchObject({
      ok: false,
      error: { code: 'tlv-overrun' },
    });
  }
});

test('every TLV comes back from its encoding as it was', () => {
  fc.assert(
    fc.property(fc.array(arbitraryTlv, { maxLength: 8 }), (tlvs) => {
      expect(decodeTlvs(encodeTlvs(tlvs), 0)).toEqual({ tlvs, badTlvs: [] });
    }),
    { numRuns: 500 },
  );
});

test('a decoded LSP encodes to the bytes it came from', () => {
  fc.assert(
    fc.property(fc.array(arbitraryTlv, { maxLength: 12 }), (tlvs) => {
      const bytes = lspWith(tlvs);
      const decoded = decodePdu(bytes);
      expect(decoded.ok && toHex(encodePdu(decoded.value as Exclude<IsisPdu, LanHello>))).toBe(toHex(bytes));
    }),
    { numRuns: 200 },
  );
});

test('whatever a value holds, decoding, encoding and decoding again gives the same', () => {
  fc.assert(
    fc.property(fc.constantFrom(...TLV_CODECS), fc.uint8Array({ maxLength: 60 }), ({ type }, value) => {
      const once = decodeTlv(type, value);
      if (!once.ok) return;
      const twice = decodeTlv(type, encodeTlv(once.value).subarray(2));
      expect(twice).toEqual(once);
    }),
    { numRuns: 3000 },
  );
});
