import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { decodeOptionsHeader, encodeOptionHeader } from './options.ts';

const decode = (bytes: Uint8Array, offset = 0): ReturnType<typeof decodeOptionsHeader> =>
  decodeOptionsHeader(bytes, offset, bytes.length);
const code = (hex: string): string => {
  const decoded = decode(fromHex(hex));
  return decoded.ok ? 'ok' : `${decoded.error.code} at ${decoded.error.offset}`;
};

test('options stand between padding, each with its place', () => {
  const bytes = fromHex('1101' + '00' + '9e02aabb' + '00' + '01020000' + '3e00' + '0000');
  const options = [
    { type: 0x9e, data: fromHex('aabb'), offset: 3 },
    { type: 0x3e, data: new Uint8Array(), offset: 12 },
  ];
  expect(decode(bytes)).toEqual({ ok: true, value: { nextHeader: 17, length: 16, options } });
  expect(decode(concat(new Uint8Array(40), bytes, new Uint8Array(9)), 40)).toEqual({
    ok: true,
    value: { nextHeader: 17, length: 16, options: options.map((o) => ({ ...o, offset: o.offset + 40 })) },
  });
});

test.each([
  ['an empty buffer', '', 'truncated at 0'],
  ['seven bytes', '11000104000000', 'truncated at 0'],
  ['a length that is not there', '1101010400000000', 'truncated at 1'],
  ['an option that ends behind its header', '11009e0500000000', 'option-overrun at 2'],
  ['padding that ends behind its header', '1100010500000000', 'option-overrun at 2'],
  ['a type in the last byte', '110001030000009e', 'option-overrun at 7'],
  ['a type and a length at the end', '1100010200009e00', 'ok'],
  ['an option that ends with its header', '11009e0400000000', 'ok'],
  ['Pad1 alone', '1100000000000000', 'ok'],
])('%s', (_, hex, expected) => {
  expect(code(hex)).toBe(expected);
});

test('what is written is read again: one option behind its gap, in a header of whole eights', () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.nat(7),
      fc.integer({ min: 2, max: 255 }),
      fc.uint8Array({ maxLength: 255 }),
      (nextHeader, gap, type, data) => {
        const bytes = encodeOptionHeader(nextHeader, gap, type, data);
        expect(decode(bytes)).toEqual({
          ok: true,
          value: { nextHeader, length: bytes.length, options: [{ type, data, offset: 2 + gap }] },
        });
        expect(bytes.length - (2 + gap + 2 + data.length)).toBeLessThan(8);
      },
    ),
  );
});

test('padding is Pad1 for a byte and PadN for more, nothing for none', () => {
  expect([
    '1100' + '9e04' + '00000000',
    '1100' + '9e03' + '000000' + '00',
    '1100' + '00' + '9e01' + '00' + '0100',
  ]).toEqual([
    toHex(encodeOptionHeader(17, 0, 0x9e, new Uint8Array(4))),
    toHex(encodeOptionHeader(17, 0, 0x9e, new Uint8Array(3))),
    toHex(encodeOptionHeader(17, 1, 0x9e, new Uint8Array(1))),
  ]);
  expect(decode(encodeOptionHeader(17, 0, 0x9e, new Uint8Array(255)))).toMatchObject({
    ok: true,
    value: { options: [{ data: { length: 255 } }] },
  });
  expect(() => encodeOptionHeader(17, 0, 0x9e, new Uint8Array(256))).toThrow(/256 bytes/);
});
