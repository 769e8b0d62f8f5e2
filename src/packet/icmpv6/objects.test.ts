import { expect, test } from 'vitest';
import { concat, u16 } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder, refusesTruncation } from '../hostile.fixture.ts';
import { type ExtensionObject, decodeExtensions, encodeExtensions } from './objects.ts';

const STAMP: ExtensionObject = { classNum: 247, cType: 1, payload: fromHex('e8d4a51012345678') };
const NAME: ExtensionObject = { classNum: 247, cType: 2, payload: new TextEncoder().encode('leaf1') };
const PATH: ExtensionObject = { classNum: 247, cType: 3, payload: fromHex('00000007') };
const decode = (bytes: Uint8Array): ReturnType<typeof decodeExtensions> => decodeExtensions(bytes, 0, bytes.length);
const code = (bytes: Uint8Array): string => {
  const decoded = decode(bytes);
  return decoded.ok ? 'ok' : decoded.error.code;
};

test('LHCNP-6.1.1-c, LHCNP-6.1.1-d, LHCNP-6.1.1-e: version 2, twelve zero bits, the checksum of the published example (V8)', () => {
  const bytes = encodeExtensions([{ classNum: 247, cType: 1, payload: fromHex('e8d4a51012345678') }]);
  expect(toHex(bytes.subarray(0, 2))).toBe('2000');
  expect(toHex(bytes.subarray(4))).toBe('000cf701e8d4a51012345678');
  // One's complement by hand: 2000 + 000c + f701 + e8d4 + a510 + 1234 + 5678 = 30d9d, folded 0da0.
  expect(toHex(bytes.subarray(2, 4))).toBe((0xffff - 0x0da0).toString(16));
});

test('LHCNP-6.1.1-f: an object is zero-padded to four octets, its Length is the unpadded one', () => {
  const bytes = encodeExtensions([NAME]);
  expect(toHex(bytes.subarray(4))).toBe('0009f702' + '6c65616631' + '000000');
});

test('LHCNP-6.1.1-g: the next object begins at the padded length, whether or not the Length counts the padding', () => {
  const bytes = encodeExtensions([NAME, STAMP, PATH]);
  expect(decode(bytes)).toEqual({ ok: true, value: [NAME, STAMP, PATH] });
  // By hand, since an encoder without padding would agree with a decoder without: a Length of 9, three octets of
  // padding, the next object.
  const written = fromHex('20000000' + '0009f702' + '6c65616631' + '000000' + '0008f703' + '00000007');
  expect(decode(written)).toEqual({ ok: true, value: [NAME, PATH] });
  const counting = encodeExtensions([{ ...NAME, payload: concat(NAME.payload, new Uint8Array(3)) }, STAMP]);
  expect(decode(counting)).toMatchObject({ ok: true, value: [{ cType: 2 }, STAMP] });
});

test('LHCNP-6.1.1-i: without objects there is no Extension Header', () => {
  expect(encodeExtensions([])).toHaveLength(0);
});

test('a checksum of 0 was not computed and is not checked; any other must be right', () => {
  const bytes = encodeExtensions([STAMP]);
  expect(code(bytes.with(2, 0).with(3, 0))).toBe('ok');
  expect(code(bytes.with(3, bytes[3]! ^ 1))).toBe('bad-extension-checksum');
  expect(code(bytes.with(15, 0))).toBe('bad-extension-checksum');
});

test('the 12 reserved bits are ignored, another version and impossible lengths are not', () => {
  const unchecked = encodeExtensions([STAMP]).with(2, 0).with(3, 0);
  expect(code(unchecked.with(0, 0x2f).with(1, 0xff))).toBe('ok');
  expect(code(unchecked.with(0, 0x10))).toBe('bad-extension-version');
  expect(code(unchecked.with(5, 3))).toBe('bad-object-length');
  expect(code(unchecked.with(5, 0))).toBe('bad-object-length');
  expect(code(unchecked.with(5, 13))).toBe('truncated');
  expect(code(unchecked.with(4, 0xff))).toBe('truncated');
});

test('an object whose Length fits but whose padding does not is truncated; one that ends with the message is not', () => {
  const bytes = encodeExtensions([NAME]).with(2, 0).with(3, 0);
  for (const missing of [1, 2, 3])
    expect(code(bytes.subarray(0, bytes.length - missing)), `${missing} bytes of padding missing`).toBe('truncated');
  expect(code(bytes)).toBe('ok');
  const empty = encodeExtensions([STAMP, { classNum: 247, cType: 9, payload: new Uint8Array() }]);
  expect(decode(empty)).toEqual({ ok: true, value: [STAMP, { classNum: 247, cType: 9, payload: new Uint8Array() }] });
  expect(decode(concat(bytes, fromHex('000000')))).toMatchObject({
    ok: false,
    error: { code: 'truncated', detail: expect.stringContaining('object header') },
  });
});

test('a header cut anywhere but behind an object is refused', () => {
  const bytes = encodeExtensions([STAMP, PATH]).with(2, 0).with(3, 0);
  for (let length = 0; length < bytes.length; length++)
    expect(decode(bytes.subarray(0, length)).ok, `cut at ${length}`).toBe(length === 4 || length === 16);
  refusesTruncation(decode, encodeExtensions([STAMP]));
});

test('no object harms the decoder', () => {
  const unchecked = (objects: ExtensionObject[]): Uint8Array => encodeExtensions(objects).with(2, 0).with(3, 0);
  fuzzDecoder(decode, [unchecked([NAME, STAMP, PATH]), unchecked([PATH])], {
    repair: (b) => (b.length > 3 ? b.with(2, 0).with(3, 0) : b),
  });
});

test('LHCNP-6.1.1-e: a computed checksum of 0 is sent as 0xffff, because 0 means none (RFC 4884 §7)', () => {
  const objects = (word: number): Uint8Array =>
    encodeExtensions([{ ...PATH, payload: Uint8Array.of(0, 0, word >>> 8, word) }]);
  const zero = objects(u16(objects(0), 2));
  expect(u16(zero, 2)).toBe(0xffff);
  expect(decode(zero)).toMatchObject({ ok: true });
  expect(code(zero.with(3, 0xfe))).toBe('bad-extension-checksum');
});

test('an object that the message ends before is refused, at its last byte of padding too', () => {
  const unchecked = encodeExtensions([NAME]).with(2, 0).with(3, 0);
  expect(code(unchecked)).toBe('ok');
  // Five bytes of name and three of padding: each of them must be there.
  for (let missing = 1; missing <= 3; missing++)
    expect(code(unchecked.subarray(0, unchecked.length - missing)), `${missing} bytes less`).toBe('truncated');
});

test('an object may be as long as its Length can say, and no longer', () => {
  const longest = { ...NAME, payload: new Uint8Array(0xffff - 4).fill(1) };
  expect(decode(encodeExtensions([longest]))).toMatchObject({ ok: true, value: [{ payload: { length: 0xffff - 4 } }] });
  expect(() => encodeExtensions([{ ...NAME, payload: new Uint8Array(0xffff - 3) }])).toThrow(/65536 bytes/);
});

test('an error names the place: the checksum, wherever in the message the structure begins', () => {
  const bytes = concat(new Uint8Array(12), encodeExtensions([STAMP]).with(3, 0x77));
  expect(decodeExtensions(bytes, 12, bytes.length)).toMatchObject({
    ok: false,
    error: { code: 'bad-extension-checksum', offset: 14 },
  });
});
