// The reader of fields beside the schemas: whatever they encode it reads, in any order and among fields that it does
// not know, and no bytes make it do more than refuse them.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ok } from '../../../model/result.ts';
import { AS_SEGMENTS } from '../../../packet/bgp/route.ts';
import { address, formatAddress } from '../../../model/address.ts';
import { prefixOf } from '../../../model/prefix.ts';
import {
  AsPathAttributeSchema,
  AsSegmentSchema,
  IPAddressPrefixSchema,
  LargeCommunitiesAttributeSchema,
  ListPathResponseSchema,
  MultiExitDiscAttributeSchema,
  NextHopAttributeSchema,
  UnknownAttributeSchema,
  WatchEventResponseSchema,
} from './gen/gobgp/messages_pb.js';
import { PathSchema as V3Path } from './gen/gobgp/v3_pb.js';
import { PathSchema as V4Path } from './gen/gobgp/v4_pb.js';
import { MARK_KIND, MARK_OUTSIDE, MARK_OWN } from '../domain-marks.ts';
import { decodeEvent, decodeListed } from './messages.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';
import { Fields } from './wire.ts';

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
/** Fields of numbers that no schema here has, of each wire type. */
const unknown = fc
  .constantFrom('f83f01', 'fa3f03010203', 'f93f0102030405060708', 'fd3f01020304', '')
  .map((hex) => new Uint8Array(Buffer.from(hex, 'hex')));

const path = fc.record({
  prefix: fc
    .tuple(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.integer({ min: 0, max: 128 }))
    .map(([value, length]) => prefixOf({ family: 6, value }, length))
    .filter(({ address: a }) => !formatAddress(a).includes('.')),
  identifier: uint32,
  best: fc.boolean(),
  unreachable: fc.boolean(),
  neighbor: fc.constantFrom<string | undefined>(undefined, '192.0.2.7', '2001:db8::7'),
  nhc: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }),
  neighborAs: uint32,
  med: uint32,
  marks: fc.array(
    fc.constantFrom<readonly [number, number, number]>(
      [65001, MARK_KIND, MARK_OWN],
      [65002, MARK_KIND, MARK_OUTSIDE],
      [65001, MARK_KIND, 9],
      [65001, 1, MARK_OUTSIDE],
    ),
    { maxLength: 3 },
  ),
  asPath: fc.array(fc.record({ type: fc.integer({ min: 1, max: 4 }), numbers: fc.array(uint32, { maxLength: 40 }) }), {
    maxLength: 3,
  }),
});
type PathFields = typeof path extends fc.Arbitrary<infer T> ? T : never;
const NEXT_HOP = address('2001:db8::9');

const attributes = ({ nhc, med, asPath, marks }: PathFields) =>
  [
    ['nextHop', 'NextHopAttribute', NextHopAttributeSchema, create(NextHopAttributeSchema, { nextHop: '2001:db8::9' })],
    ['asPath', 'AsPathAttribute', AsPathAttributeSchema, create(AsPathAttributeSchema, { segments: asPath })],
    [
      'multiExitDisc',
      'MultiExitDiscAttribute',
      MultiExitDiscAttributeSchema,
      create(MultiExitDiscAttributeSchema, { med }),
    ],
    [
      'largeCommunities',
      'LargeCommunitiesAttribute',
      LargeCommunitiesAttributeSchema,
      create(LargeCommunitiesAttributeSchema, {
        communities: marks.map(([globalAdmin, localData1, localData2]) => ({ globalAdmin, localData1, localData2 })),
      }),
    ],
    ...(nhc
      ? ([
          [
            'unknown',
            'UnknownAttribute',
            UnknownAttributeSchema,
            create(UnknownAttributeSchema, { flags: 0xc0, type: 39, value: nhc }),
          ],
        ] as const)
      : []),
  ] as const;
const nlri = ({ prefix }: PathFields) =>
  create(IPAddressPrefixSchema, { prefix: formatAddress(prefix.address), prefixLen: prefix.length });
const rest = ({ neighbor, neighborAs, best, unreachable, identifier }: PathFields) => ({
  sourceAsn: neighborAs,
  family: { afi: 2, safi: 1 },
  neighborIp: neighbor ?? '',
  best,
  isNexthopInvalid: unreachable,
  identifier,
});
const any = (name: string, value: Uint8Array): { typeUrl: string; value: Uint8Array } => ({
  typeUrl: `type.googleapis.com/apipb.${name}`,
  value,
});

/** A path in pieces that can be put together in any order. */
const PIECES = {
  v3: (given: PathFields): Uint8Array[] => [
    toBinary(V3Path, create(V3Path, { nlri: any('IPAddressPrefix', toBinary(IPAddressPrefixSchema, nlri(given))) })),
    toBinary(
      V3Path,
      create(V3Path, {
        pattrs: attributes(given).map(([, name, schema, message]) => any(name, toBinary(schema, message as never))),
      }),
    ),
    toBinary(V3Path, create(V3Path, rest(given) as never)),
  ],
  v4: (given: PathFields): Uint8Array[] => [
    toBinary(V4Path, create(V4Path, { nlri: { nlri: { case: 'prefix', value: nlri(given) } } } as never)),
    toBinary(
      V4Path,
      create(V4Path, {
        pattrs: attributes(given).map(([name, , , message]) => ({ attr: { case: name, value: message } })),
      } as never),
    ),
    toBinary(V4Path, create(V4Path, rest(given) as never)),
  ],
};

describe.each([
  ['v3', v3],
  ['v4', v4],
] as const)('%s', (name, api) => {
  test('a path is read as the schemas write it', () => {
    fc.assert(
      fc.property(path, unknown, fc.constantFrom([0, 1, 2], [2, 1, 0], [1, 2, 0]), (given, more, order) => {
        const pieces = PIECES[name](given);
        const { prefix, identifier, unreachable, neighbor, neighborAs, nhc, med, asPath, best, marks } = given;
        const [outside, own] = [MARK_OUTSIDE, MARK_OWN].map((what) =>
          marks.some((mark) => mark[1] === MARK_KIND && mark[2] === what),
        );
        const mark = outside ? 'outside' : own ? 'own' : undefined;
        const heard = {
          identifier,
          neighbor,
          neighborAs,
          ...(mark && { mark }),
          nextHop: NEXT_HOP,
          asPath: asPath.map(({ type, numbers }) => ({ type: AS_SEGMENTS[type], numbers })),
          med,
          best: best && !unreachable,
        };
        const decoded = api.decodePath(joined(more, ...order.map((i) => pieces[i]!), more));
        expect(decoded).toEqual(
          ok({ prefix, neighbor, identifier, unreachable, path: { ...heard, ...(nhc && { nhc }) } }),
        );
      }),
    );
  });
});

test('events and lists are split into paths as the schemas do it', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), unknown, (paths, more) => {
      const event = toBinary(
        WatchEventResponseSchema,
        create(WatchEventResponseSchema, { event: { case: 'table', value: { paths } } }),
      );
      expect(decodeEvent(joined(more, event, more))).toEqual({
        type: 'paths',
        paths: paths.map((bytes) => Buffer.from(bytes)),
      });
      const listed = toBinary(
        ListPathResponseSchema,
        create(ListPathResponseSchema, { destination: { prefix: '2001:db8::/32', paths } }),
      );
      expect(decodeListed(joined(more, listed))).toEqual(paths.map((bytes) => Buffer.from(bytes)));
    }),
  );
  expect(decodeEvent(new Uint8Array(0))).toEqual({ type: 'other' });
});

test('repeated numbers come packed or one by one', () => {
  fc.assert(
    fc.property(fc.array(uint32, { maxLength: 20 }), fc.nat(20), (numbers, packed) => {
      const segment = (some: readonly number[]): Uint8Array =>
        toBinary(AsSegmentSchema, create(AsSegmentSchema, { numbers: [...some] }));
      // One by one: each with its tag, which a message with one number is when its list is taken for a number.
      const single = numbers.slice(packed).map((n) => joined(Uint8Array.of(0x10), segment([n]).subarray(2)));
      const read: number[] = [];
      const fields = new Fields(joined(segment(numbers.slice(0, packed)), ...single));
      while (fields.next()) fields.uints(read);
      expect(read).toEqual(numbers);
      expect(fromBinary(AsSegmentSchema, joined(segment(numbers.slice(0, packed)), ...single)).numbers).toEqual(
        numbers,
      );
    }),
  );
});

test('any bytes are read to their end or refused', () => {
  const read = (fields: Fields, depth: number): void => {
    while (fields.next()) {
      for (const take of [
        () => fields.uint(),
        () => fields.bytes(),
        () => fields.text(),
        () => fields.uints([]),
        () => depth > 0 && read(fields.message(), depth - 1),
      ])
        refused(take);
    }
  };
  const refused = (take: () => unknown): void => {
    try {
      take();
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => refused(() => read(new Fields(bytes), 3))));
  for (const hex of [
    '0b00000000',
    '0c00000000',
    '0e00000000',
    '0f00000000',
    '0a05aa',
    '08',
    '08ffffffffffffffffffff01',
    '0b',
    '00',
    '0a',
    '09000000',
  ])
    expect(() => new Fields(Buffer.from(hex, 'hex')).next(), hex).toThrow(RangeError);
});
