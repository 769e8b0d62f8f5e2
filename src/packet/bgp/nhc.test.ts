import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { concat } from '../bytes.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { decodePnc, pncCharacteristic, privateCharacteristic, readCharacteristics } from './characteristics.ts';
import { type Characteristic, type Nhc, decodeNhc, encodeNhc } from './nhc.ts';
import {
  ATTRIBUTE_FLAG,
  NHC_TYPE,
  OPTIONAL_TRANSITIVE,
  decodePathAttributes,
  encodePathAttribute,
} from './path-attribute.ts';
import { CODES, NHC_V4, NHC_V4_ATTRIBUTE, NHC_V6, NHC_V6_ATTRIBUTE } from './vectors.fixture.ts';

const VECTORS: readonly (readonly [string, Nhc, Uint8Array])[] = [
  ['IPv6', NHC_V6, NHC_V6_ATTRIBUTE],
  ['IPv4', NHC_V4, NHC_V4_ATTRIBUTE],
];
const HEADER = 3;
const NEXT_HOP = '0001 01 04 c0000209';
const CONTAINER = [
  { tlv: 'sid', sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: 0x8002 },
] as const;

const attribute = (nhc: Nhc): Uint8Array =>
  encodePathAttribute({ flags: OPTIONAL_TRANSITIVE, type: NHC_TYPE, value: encodeNhc(nhc) });
const code = (bytes: Uint8Array): string => {
  const decoded = decodeNhc(bytes);
  return decoded.ok ? 'ok' : `${decoded.error.code} at ${decoded.error.offset}`;
};
const decoded = (bytes: Uint8Array): Nhc => {
  const result = decodeNhc(bytes);
  if (!result.ok) throw new Error(result.error.detail);
  return result.value;
};
const read = (...characteristics: readonly Characteristic[]) => readCharacteristics(characteristics, CODES);
const unknownOne = (number: number, hex = ''): Characteristic => ({ code: number, value: fromHex(hex) });

test.each(VECTORS)(
  'PNC-5.4-a: %s: code, length 4 or 16, and the proxy’s address, in an attribute for one next hop; byte for byte and back',
  (_, nhc, bytes) => {
    expect(toHex(attribute(nhc))).toBe(toHex(bytes));
    expect(decodePathAttributes(bytes)).toEqual({
      ok: true,
      value: [{ flags: 0xc0, type: 39, value: bytes.subarray(HEADER) }],
    });
    expect(decoded(bytes.subarray(HEADER))).toEqual(nhc);
    expect(read(...nhc.characteristics)).toEqual({
      proxy: nhc.afi === 1 ? address('192.0.2.1') : address('2001:db8::1'),
      unknown: [],
      bad: [],
    });
  },
);

test('PNC-5.4-a: the proxy may have an address of the other family', () => {
  const nhc = { ...NHC_V4, characteristics: [pncCharacteristic(CODES.pnc, address('2001:db8::1'))] };
  expect(read(...decoded(encodeNhc(nhc)).characteristics).proxy).toEqual(address('2001:db8::1'));
});

test('characteristics are sent in ascending order of their codes, and none twice', () => {
  const sent = [
    unknownOne(9, 'aa'),
    ...NHC_V4.characteristics,
    unknownOne(9, 'bb'),
    unknownOne(3),
    ...NHC_V4.characteristics,
    unknownOne(9, 'aa'),
  ];
  expect(decoded(encodeNhc({ ...NHC_V4, characteristics: sent })).characteristics).toEqual([
    unknownOne(3),
    unknownOne(9, 'aa'),
    unknownOne(9, 'bb'),
    ...NHC_V4.characteristics,
  ]);
});

test('two characteristics that have the same value are two, each of its code', () => {
  const sent = [unknownOne(3, 'aa'), unknownOne(9, 'aa')];
  expect(decoded(encodeNhc({ ...NHC_V4, characteristics: sent })).characteristics).toEqual(sent);
});

test('they are taken in any order and repeated, and those that are not known are kept', () => {
  const bytes = fromHex(
    `${NEXT_HOP} ffdd 0004 01000000 ffdc 0004 c0000201 0003 0004 c0000207 ffdc 0004 c0000202 0001 0000 0003 0000`,
  );
  const { characteristics } = decoded(bytes);
  expect(characteristics.map((c) => c.code)).toEqual([65501, 65500, 3, 65500, 1, 3]);
  expect(characteristics[2]).toEqual(unknownOne(3, 'c0000207'));
  expect(read(...characteristics)).toEqual({
    proxy: address('192.0.2.1'),
    container: [],
    unknown: [1, 3],
    bad: [],
  });
});

test('the private characteristic is a container of SIDs', () => {
  const one = privateCharacteristic(CODES.private, CONTAINER);
  expect(read(one).container).toEqual(CONTAINER);
});

test('a malformed attribute: which fault, and where', () => {
  expect(code(fromHex(''))).toBe('truncated at 0');
  expect(code(fromHex('000201'))).toBe('truncated at 3');
  expect(code(fromHex('00020105'))).toBe('bad-next-hop-length at 3');
  expect(code(fromHex('00010104 c00002'))).toBe('truncated at 7');
  expect(code(fromHex('00010104 c0000209'))).toBe('no-characteristic at 8');
  for (const length of ['00', '05', '0c', '20', 'ff'])
    expect(code(concat(fromHex(`000201${length}`), new Uint8Array(300)))).toBe('bad-next-hop-length at 3');
  expect(code(fromHex(`${NEXT_HOP} ffdc 00`))).toBe('truncated-characteristic at 8');
  expect(code(fromHex(`${NEXT_HOP} 0001 0000 ff`))).toBe('truncated-characteristic at 12');
  expect(code(fromHex(`${NEXT_HOP} ffdc 0005 c0000201`))).toBe('characteristic-overrun at 8');
  expect(code(fromHex(`${NEXT_HOP} ffdc ffff c0000201`))).toBe('characteristic-overrun at 8');
});

test('cut at any byte, it is malformed, unless the cut is between two characteristics', () => {
  const value = encodeNhc({
    ...NHC_V6,
    characteristics: [
      unknownOne(3, 'c0000207'),
      ...NHC_V6.characteristics,
      privateCharacteristic(CODES.private, CONTAINER),
    ],
  });
  const between = [28, 48];
  for (let length = 0; length < value.length; length++)
    expect(decodeNhc(value.subarray(0, length)).ok, `cut at ${length}`).toBe(between.includes(length));
});

test('PNC-5.4-a: a malformed characteristic: which fault; the others count all the same', () => {
  const faults: readonly (readonly [Characteristic, string])[] = [
    ...['', 'c00002', 'c000020101', '20010db800000000000000000000000100'].map(
      (hex) => [unknownOne(CODES.pnc, hex), 'bad-length'] as const,
    ),
    ...[
      '00000000',
      'e0000001',
      '7f000001',
      'ffffffff',
      'a9fe0001',
      'ff020000000000000000000000000001',
      'fe800000000000000000000000000001',
      '00000000000000000000ffffc0000201',
    ].map((hex) => [unknownOne(CODES.pnc, hex), 'not-unicast'] as const),
    [unknownOne(CODES.private, '02000000'), 'unknown-version'],
    [unknownOne(CODES.private, '0100'), 'truncated'],
    [unknownOne(CODES.private, '01000000 00010014 00'), 'truncated'],
  ];
  const pnc = NHC_V4.characteristics[0]!;
  for (const [bad, fault] of faults) {
    const result = read(bad, pnc);
    expect(
      { proxy: result.proxy, bad: result.bad.map(({ code: c, error }) => [c, error.code]) },
      toHex(bad.value),
    ).toEqual({ proxy: address('192.0.2.1'), bad: [[bad.code, fault]] });
    expect(read(pnc, bad).proxy).toEqual(address('192.0.2.1'));
    expect(read(bad).proxy).toBeUndefined();
  }
});

test('what cannot be encoded is refused', () => {
  expect(() => encodeNhc({ ...NHC_V4, characteristics: [] })).toThrow(/needs a characteristic/);
  expect(() => encodeNhc({ ...NHC_V4, characteristics: [unknownOne(65536)] })).toThrow(/does not fit 16 bits/);
  expect(() => encodeNhc({ ...NHC_V4, characteristics: [{ code: 1, value: new Uint8Array(65536) }] })).toThrow(
    /does not fit 16 bits/,
  );
  expect(() => pncCharacteristic(CODES.pnc, address('ff02::1'))).toThrow(/cannot be a proxy/);
  expect(decodePnc(fromHex('ff020000000000000000000000000001')).ok).toBe(false);
});

test('the frame of attributes: extended length where the value needs it or the flag is set, cut and overrun refused', () => {
  const long = encodePathAttribute({ flags: OPTIONAL_TRANSITIVE, type: NHC_TYPE, value: new Uint8Array(256) });
  expect(toHex(long.subarray(0, 4))).toBe('d0270100');
  expect(
    toHex(
      encodePathAttribute({ flags: OPTIONAL_TRANSITIVE, type: NHC_TYPE, value: new Uint8Array(255) }).subarray(0, 4),
    ),
  ).toBe('c027ff00');
  const extended = encodePathAttribute({
    flags: OPTIONAL_TRANSITIVE | ATTRIBUTE_FLAG.extendedLength | ATTRIBUTE_FLAG.partial,
    type: NHC_TYPE,
    value: fromHex('0102'),
  });
  expect(toHex(extended)).toBe('f02700020102');
  const both = decodePathAttributes(concat(extended, NHC_V4_ATTRIBUTE));
  expect(both).toEqual({
    ok: true,
    value: [
      { flags: 0xf0, type: 39, value: fromHex('0102') },
      { flags: 0xc0, type: 39, value: NHC_V4_ATTRIBUTE.subarray(HEADER) },
    ],
  });
  expect(decodePathAttributes(fromHex(''))).toEqual({ ok: true, value: [] });
  for (const hex of ['c0', 'c027', 'd02700'])
    expect(decodePathAttributes(fromHex(hex))).toMatchObject({ ok: false, error: { code: 'truncated', offset: 0 } });
  for (const hex of ['c02701', 'd0270001', 'c02702ff'])
    expect(decodePathAttributes(fromHex(hex))).toMatchObject({
      ok: false,
      error: { code: 'attribute-overrun', offset: 0 },
    });
});

const arbitraryAddress = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => ({ family: 4 as const, value })),
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value) => ({ family: 6 as const, value })),
);
const arbitraryNhc: fc.Arbitrary<Nhc> = fc.record({
  afi: fc.nat(65535),
  safi: fc.nat(255),
  nextHop: arbitraryAddress,
  characteristics: fc.array(fc.record({ code: fc.nat(65535), value: fc.uint8Array({ maxLength: 40 }) }), {
    minLength: 1,
    maxLength: 8,
  }),
});

test('whatever is encoded is decoded, and encoding that again changes nothing', () => {
  fc.assert(
    fc.property(arbitraryNhc, (nhc) => {
      const bytes = encodeNhc(nhc);
      const back = decoded(bytes);
      expect({ ...back, characteristics: [] }).toEqual({ ...nhc, characteristics: [] });
      expect(toHex(encodeNhc(back))).toBe(toHex(bytes));
    }),
  );
});

test('no attribute harms the decoders', () => {
  const valid = [
    ...VECTORS.map(([, , bytes]) => bytes.subarray(HEADER)),
    encodeNhc({
      ...NHC_V6,
      characteristics: [...NHC_V6.characteristics, privateCharacteristic(CODES.private, CONTAINER)],
    }),
  ];
  fuzzDecoder((bytes) => {
    const nhc = decodeNhc(bytes);
    return nhc.ok ? [nhc, read(...nhc.value.characteristics)] : nhc;
  }, valid);
  fuzzDecoder(decodePathAttributes, [NHC_V4_ATTRIBUTE, concat(NHC_V6_ATTRIBUTE, NHC_V4_ATTRIBUTE)]);
});
