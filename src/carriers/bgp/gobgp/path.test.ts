// Paths that no gobgpd should tell of: each is refused by name, none does harm. What cnpd puts in is read back by the
// same schemas in gobgpd's own tests with real daemons.
import { type MessageInitShape, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefix } from '../../../model/prefix.ts';
import {
  AsPathAttributeSchema,
  IPAddressPrefixSchema,
  MpReachNLRIAttributeSchema,
  NextHopAttributeSchema,
  UnknownAttributeSchema,
} from './gen/gobgp/messages_pb.js';
import { AddPathStreamRequestSchema as V3Request, PathSchema as V3Path } from './gen/gobgp/v3_pb.js';
import { AddPathStreamRequestSchema as V4Request, PathSchema as V4Path } from './gen/gobgp/v4_pb.js';
import { MARK_OUTSIDE, MARK_OWN } from '../domain-marks.ts';
import type { OwnPath } from './gobgp.ts';
import { MAX_PATH_BYTES } from './path.ts';
import { words } from './recording.fixture.ts';
import { v3 } from './v3.ts';
import { v4 } from './v4.ts';

interface Raw {
  readonly prefix?: string;
  readonly length?: number;
  readonly nextHops?: readonly string[];
  readonly neighbor?: string;
  readonly more?: Partial<
    Pick<MessageInitShape<typeof V4Path>, 'identifier' | 'best' | 'isWithdraw' | 'isNexthopInvalid' | 'family'>
  >;
  /** Type, value and flags of attributes that gobgpd does not know. */
  readonly unknown?: readonly (readonly [type: number, value: string, flags?: number])[];
  readonly numbers?: readonly number[];
}

const messages = ({ prefix: text = '10.0.0.0', length = 8, nextHops = ['192.0.2.1'], unknown = [], numbers }: Raw) => ({
  nlri: create(IPAddressPrefixSchema, { prefix: text, prefixLen: length }),
  hop: create(
    nextHops.length === 1 ? NextHopAttributeSchema : MpReachNLRIAttributeSchema,
    nextHops.length === 1 ? { nextHop: nextHops[0]! } : { nextHops: [...nextHops] },
  ),
  path: numbers && create(AsPathAttributeSchema, { segments: [{ type: 2, numbers: [...numbers] }] }),
  unknown: unknown.map(([type, hex, flags = 0xc0]) =>
    create(UnknownAttributeSchema, { flags, type, value: Buffer.from(hex, 'hex') }),
  ),
});
const fields = ({ prefix: text = '10.0.0.0', neighbor = '', more }: Raw) => ({
  family: { afi: text.includes(':') ? 2 : 1, safi: 1 },
  neighborIp: neighbor,
  ...more,
});

function v3Path(raw: Raw): Uint8Array {
  const { nlri, hop, path, unknown } = messages(raw);
  const any = (name: string, value: Uint8Array): { typeUrl: string; value: Uint8Array } => ({
    typeUrl: `type.googleapis.com/apipb.${name}`,
    value,
  });
  const hops =
    hop.$typeName === NextHopAttributeSchema.typeName
      ? any('NextHopAttribute', toBinary(NextHopAttributeSchema, hop as never))
      : any('MpReachNLRIAttribute', toBinary(MpReachNLRIAttributeSchema, hop as never));
  const pattrs = [
    hops,
    ...(path ? [any('AsPathAttribute', toBinary(AsPathAttributeSchema, path))] : []),
    any('SomethingNewAttribute', Uint8Array.of(255)),
    ...unknown.map((u) => any('UnknownAttribute', toBinary(UnknownAttributeSchema, u))),
  ];
  return toBinary(
    V3Path,
    create(V3Path, { ...fields(raw), nlri: any('IPAddressPrefix', toBinary(IPAddressPrefixSchema, nlri)), pattrs }),
  );
}

function v4Path(raw: Raw): Uint8Array {
  const { nlri, hop, path, unknown } = messages(raw);
  const attr = (name: string, value: unknown): object => ({ attr: { case: name, value } });
  const pattrs = [
    attr(hop.$typeName === NextHopAttributeSchema.typeName ? 'nextHop' : 'mpReach', hop),
    ...(path ? [attr('asPath', path)] : []),
    {},
    ...unknown.map((u) => attr('unknown', u)),
  ];
  return toBinary(
    V4Path,
    create(V4Path, { ...fields(raw), nlri: { nlri: { case: 'prefix', value: nlri } }, pattrs } as never),
  );
}

const own: OwnPath = {
  prefix: prefix('2001:db8:1::/64'),
  nextHop: address('2001:db8::9'),
  nhc: Uint8Array.of(1, 2, 3),
  communities: [1],
  largeCommunities: [[1, 2, 3]],
};

describe.each([
  ['v3', v3, v3Path, V3Request],
  ['v4', v4, v4Path, V4Request],
] as const)('%s', (_, api, path, request) => {
  const read = (raw: Raw): string => words(api, path(raw));

  test.each<[string, Raw]>([
    ['prefix: a path whose prefix is "10.0.0.0/200"', { length: 200 }],
    ['prefix: a path whose prefix is "10.0.0.0/33"', { length: 33 }],
    ['prefix: a path whose prefix is "ten/8"', { prefix: 'ten' }],
    ['prefix: a path whose prefix is "10.0.0.0/8"', { more: { family: { afi: 2, safi: 1 } } }],
    ['next-hop: a path whose next hop is "router one"', { nextHops: ['router one'] }],
    ['next-hop: a path whose next hop is ""', { nextHops: [''] }],
    ['next-hop: a path whose next hop is ", x"', { nextHops: ['', 'x'] }],
    ['neighbor: a path from the neighbor "nobody"', { neighbor: 'nobody' }],
    ['another family', { more: { family: { afi: 25, safi: 70 } } }],
    [`next-hop: a path whose next hop is "${'x'.repeat(80)}"`, { nextHops: ['x'.repeat(80)] }],
    [`next-hop: a path whose next hop is "${'x'.repeat(80)}…"`, { nextHops: ['x'.repeat(81)] }],
  ])('%s', (what, raw) => expect(read(raw)).toBe(what));

  test('garbage is quoted up to a length', () =>
    expect(read({ nextHops: ['x'.repeat(10_000)] }).length).toBeLessThan(200));
  test('host bits of a prefix are masked; a withdrawal needs no next hop', () => {
    expect(read({ prefix: '10.1.2.3', length: 16, nextHops: ['x'], more: { isWithdraw: true } })).toBe(
      '10.1.0.0/16 from here identifier 0 withdrawn',
    );
  });
  test('of two next hops the global one counts, and the zone of a link-local one does not matter', () => {
    expect(read({ prefix: '2001:db8::', length: 32, nextHops: ['fe80::1%eth0', '2001:db8::1'] })).toContain(
      'via 2001:db8::1 ',
    );
    expect(read({ prefix: '2001:db8::', length: 32, nextHops: ['fe80::1%eth0'] })).toContain('via fe80::1 ');
  });
  test('PNC-5.4-a: attribute 39 is kept, the first of two; other attributes that gobgpd does not know are left out', () => {
    expect(
      read({
        unknown: [
          [40, 'ff'],
          [39, 'aa'],
          [39, 'bb'],
        ],
      }),
    ).toContain(' nhc aa');
    expect(read({ unknown: [[40, 'ff']] })).not.toContain('nhc');
  });
  test('RFC 7606 §3 c: flags of attribute 39 other than optional and transitive are reported', () => {
    for (const flags of [0xc0, 0xd0, 0xe0, 0xf0]) expect(read({ unknown: [[39, 'aa', flags]] })).toMatch(/ nhc aa$/);
    for (const flags of [0, 0x40, 0x80, 0xa0])
      expect(
        read({
          unknown: [
            [39, 'aa', flags],
            [39, 'bb'],
          ],
        }),
      ).toMatch(new RegExp(` nhc aa flags 0x${flags.toString(16)}$`));
  });
  test('a path whose next hop gobgpd cannot reach is not the best', () =>
    expect(read({ more: { best: true, isNexthopInvalid: true } })).not.toContain('best'));
  test('a truth value that is spelled out as false is false', () => {
    // best and is_nexthop_invalid, fields 4 and 17.
    const spelled = Uint8Array.of(...path({}), 4 << 3, 0, 0x88, 1, 0);
    expect(words(api, spelled)).toBe('10.0.0.0/8 from here identifier 0 via 192.0.2.1 as-path [] med 0');
  });
  test('a path without a prefix', () =>
    expect(words(api, Uint8Array.of((9 << 3) | 2, 4, 8, 1, 16, 1))).toBe('prefix: a path whose prefix is missing'));
  test('v3 writes Go’s nil where a path has no neighbor', () =>
    expect(read({ neighbor: '<nil>' })).toContain('from here'));
  test('an AS path as long as a message allows is read, one that no message holds is refused unread', () => {
    expect(read({ numbers: new Array<number>(16_000).fill(4_200_000_000) })).toContain('4200000000,4200000000');
    expect(read({ numbers: new Array<number>(100_000).fill(4_200_000_000) })).toMatch(
      /^too-long: a path of \d+ bytes; no BGP message holds one of more than 262144$/,
    );
    expect(words(api, new Uint8Array(MAX_PATH_BYTES + 1))).toMatch(/^too-long/);
  });
  test('bytes that are no path are refused, never thrown at', () => {
    expect(words(api, Uint8Array.of(10, 200, 1))).toMatch(/^not-protobuf: /);
    const good = path({ unknown: [[39, 'aabb']], numbers: [1, 2] });
    for (let end = 0; end < good.length; end++) expect(typeof words(api, good.subarray(0, end))).toBe('string');
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(good.length),
        (noise, at) => typeof words(api, Uint8Array.of(...good.subarray(0, at), ...noise)) === 'string',
      ),
    );
  });
  test('what cnpd puts in and takes out names its identifier, and a withdrawal is marked as one', () => {
    const paths = (message: Uint8Array): string[] =>
      (fromBinary(request as never, message) as { paths: readonly Uint8Array[] }).paths.map((bytes) =>
        words(api, bytes),
      );
    const other: OwnPath = {
      ...own,
      prefix: prefix('10.0.0.0/8'),
      nextHop: address('192.0.2.9'),
      nhc: Uint8Array.of(4),
    };
    const [put, alike] = [
      'identifier 1668182116 via 2001:db8::9 as-path [] med 0 nhc 010203',
      { ...own, prefix: prefix('2001:db8:2::/64') },
    ];
    expect(paths(api.addRequest([own, alike, other]))).toEqual([
      `2001:db8:1::/64 from here ${put}`,
      `2001:db8:2::/64 from here ${put}`,
      '10.0.0.0/8 from here identifier 1668182116 via 192.0.2.9 as-path [] med 0 nhc 04',
    ]);
    expect(paths(api.withdrawRequest([own.prefix, other.prefix]))).toEqual(
      ['2001:db8:1::/64', '10.0.0.0/8'].map((name) => `${name} from here identifier 1668182116 withdrawn`),
    );
  });
});

test('v3: a prefix of another kind than cnpd’s, as of labeled paths, is none', () => {
  const nlri = { typeUrl: 'type.googleapis.com/apipb.LabeledIPAddressPrefix', value: Uint8Array.of(8, 8) };
  const bytes = toBinary(V3Path, create(V3Path, { family: { afi: 1, safi: 1 }, nlri }));
  expect(words(v3, bytes)).toBe('prefix: a path whose prefix is missing');
});

test('v3 in octets of BGP: marks of the domain are read', () => {
  const octets = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
  const marked = (...whats: readonly number[]): unknown => {
    const communities = whats.map((what) => `0000fde9636e7064${what.toString(16).padStart(8, '0')}`).join('');
    const attributes = ['400304c0000201', `c020${(12 * whats.length).toString(16).padStart(2, '0')}${communities}`];
    const decoded = v3.decodePath(
      toBinary(
        V3Path,
        create(V3Path, {
          family: { afi: 1, safi: 1 },
          nlriBinary: octets('080a'),
          pattrsBinary: attributes.map(octets),
        }),
      ),
    );
    return decoded?.ok && decoded.value.path?.mark;
  };
  expect([
    marked(),
    marked(9),
    marked(MARK_OWN),
    marked(MARK_OWN, MARK_OUTSIDE),
    marked(MARK_OUTSIDE, MARK_OWN),
  ]).toEqual([undefined, undefined, 'own', 'outside', 'outside']);
});

test.each<[string, string, readonly string[]]>([
  [
    '10.0.0.0/8 from here identifier 0 via 192.0.2.1 as-path [sequence 65010] med 0 nhc aabb',
    '080a',
    ['400304c0000201', '40020602010000fdf2', 'c02702aabb', 'c02801ff'],
  ],
  [
    '10.0.0.0/8 from here identifier 0 via 192.0.2.1 as-path [] med 0 nhc aabb flags 0x80',
    '080a',
    ['400304c0000201', '802702aabb', 'c02702ccdd'],
  ],
  ['prefix: a path whose prefix is "210a"', '210a', ['400304c0000201']],
  ['next-hop: a path whose next hop is missing', '080a', ['40020602010000fdf2']],
  ['not-bgp: a path whose attributes are malformed: NEXT_HOP of 3 octets', '080a', ['400303c00002']],
  ['not-bgp: a path whose attributes are malformed: attribute 3 of 4 bytes in 1', '080a', ['400304c0']],
])('v3 in octets of BGP, as its lists are: %s', (what, nlri, attributes) => {
  const octets = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
  expect(
    words(
      v3,
      toBinary(
        V3Path,
        create(V3Path, { family: { afi: 1, safi: 1 }, nlriBinary: octets(nlri), pattrsBinary: attributes.map(octets) }),
      ),
    ),
  ).toBe(what);
});
