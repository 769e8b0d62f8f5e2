// What a client may send to be decoded, which it can write at will.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { Decoding, MOST_FIELDS, decode } from './decoding.ts';
import { GetRequestSchema, SetRequestSchema } from './gen/gnmi/gnmi_pb.js';

const SMALL = create(GetRequestSchema, {
  path: [{ elem: [{ name: 'cnpd' }, { name: 'groups', key: { 'proxy-address': '2001:db8::1' } }] }],
  useModels: [{ name: 'm', version: '2' }],
});
const bytesOf = (...parts: readonly number[][]): Uint8Array => Uint8Array.from(parts.flat());
/** Field 2, a message without content: a deletion of Set, a path of Get. */
const EMPTY = [0x12, 0];
const many = (count: number): number[] => Array.from({ length: count }, () => EMPTY).flat();

describe('fields are counted before anything is made of them', () => {
  test('what is within the limit is decoded as it was encoded', () => {
    expect(decode(GetRequestSchema, toBinary(GetRequestSchema, SMALL))).toEqual(SMALL);
    expect(decode(SetRequestSchema, bytesOf(many(MOST_FIELDS))).delete).toHaveLength(MOST_FIELDS);
    // path, elem, name, elem, name, key; use_models, name, version.
    expect(() => decode(GetRequestSchema, toBinary(GetRequestSchema, SMALL), 9)).not.toThrow();
    expect(() => decode(GetRequestSchema, toBinary(GetRequestSchema, SMALL), 8)).toThrow('more than 8 fields');
  });

  test.each([
    ['more than so many', many(MOST_FIELDS + 1)],
    // One path with so many elements: 03 bytes of length.
    [
      'more of them in one message',
      [0x12, ...lengthOf(2 * MOST_FIELDS), ...many(MOST_FIELDS).map((b) => (b === 0x12 ? 0x1a : b))],
    ],
  ])('refused: %s', (_, encoded) => {
    expect(() => decode(GetRequestSchema, Uint8Array.from(encoded))).toThrow(`more than ${MOST_FIELDS} fields`);
  });

  test('scalars and unknown fields count as well', () => {
    const unknown = Array.from({ length: MOST_FIELDS + 1 }, () => [0x78, 1]).flat();
    expect(() => decode(GetRequestSchema, Uint8Array.from(unknown))).toThrow('fields');
  });

  test.each([
    ['a length beyond the end', [0x12, 5, 0]],
    ['a number that does not end', [0x12, 0x80]],
    ['eleven bytes of a number', [0x78, ...Array.from({ length: 10 }, () => 0xff), 1]],
    ['a group', [0x13, 0x14]],
    ['a value beyond the end', [0x79, 0]],
  ])('malformed: %s', (_, encoded) => {
    expect(() => decode(GetRequestSchema, Uint8Array.from(encoded))).toThrow(/^the request has /);
  });

  test('whatever is malformed for the library is no error of cnpd', () => {
    for (let i = 0; i < 2000; i++) {
      const encoded = Uint8Array.from({ length: 1 + (i % 40) }, () => Math.floor(Math.random() * 256));
      let theirs: unknown;
      try {
        theirs = fromBinary(GetRequestSchema, encoded);
      } catch {
        expect(() => decode(GetRequestSchema, encoded)).toThrow(/^the request /);
        continue;
      }
      // The library takes groups, which nobody sends.
      try {
        expect(decode(GetRequestSchema, encoded)).toEqual(theirs);
      } catch (error) {
        expect(String(error)).toMatch(/the request has /);
      }
    }
  });
});

function lengthOf(length: number): number[] {
  const low = length & 0x7f;
  return length < 0x80 ? [low] : [low | 0x80, ...lengthOf(length >>> 7)];
}

describe('the line', () => {
  test('costly requests are decoded in turns of their own, in order; who has gone is left out', async () => {
    const line = new Decoding();
    const costly = bytesOf(many(MOST_FIELDS));
    const done: number[] = [];
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    const left = line.decode(SetRequestSchema, costly, { isOver: () => true }).then(() => done.push(-1));
    const results = [1, 2, 3, 4].map((i) => line.decode(SetRequestSchema, costly).then(() => done.push(i)));
    await Promise.all(results);
    clearInterval(ticking);
    void left;
    expect(done).toEqual([1, 2, 3, 4]);
    expect(turns).toBeGreaterThan(0);
  });

  test('one that is refused does not hold up the next', async () => {
    const line = new Decoding();
    const [refused, taken] = [
      line.decode(GetRequestSchema, Uint8Array.of(0x12, 5)),
      line.decode(GetRequestSchema, toBinary(GetRequestSchema, SMALL)),
    ];
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await taken).toEqual(SMALL);
  });
});
