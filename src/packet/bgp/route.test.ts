import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../model/address.ts';
import { formatPrefix } from '../../model/prefix.ts';
import { fromHex, toHex } from '../hex.ts';
import { fuzzDecoder } from '../hostile.fixture.ts';
import { decodePathAttributes } from './path-attribute.ts';
import { decodeNlri, decodeRoute } from './route.ts';
import { NHC_V4_ATTRIBUTE, NHC_V6_ATTRIBUTE } from './vectors.fixture.ts';

/** By hand; the octets of a real gobgpd are in src/carriers/bgp/gobgp/recorded-v3.json. */
const V4 = '400101 00 400210 02010000fdf2 01020000fdfc0000fdfd 400304 c0000207 800404 00000032';
const V6 = '400101 00 400200 800e1e 0002 01 10 20010db8000000000000000000000009 00 4020010db800010000';

const route = (hex: string) => {
  const attributes = decodePathAttributes(fromHex(hex));
  return attributes.ok ? decodeRoute(attributes.value) : attributes;
};
const words = (hex: string): string => {
  const result = route(hex);
  if (!result.ok) return `${result.error.code} at ${result.error.offset}`;
  const { nextHops, asPath, med, nhc } = result.value;
  return (
    `via ${nextHops.map(formatAddress).join(' ')} as-path ` +
    `[${asPath.map(({ type, numbers }) => `${type} ${numbers.join(',')}`).join(' ')}] med ` +
    `${med}${nhc ? ` nhc ${nhc.length}` : ''}`
  );
};
const prefixOf = (hex: string, family: 4 | 6): string => {
  const result = decodeNlri(fromHex(hex), family);
  return result.ok ? formatPrefix(result.value) : `${result.error.code} at ${result.error.offset}`;
};

describe('a route', () => {
  test('RFC 4271: AS_PATH, NEXT_HOP and MULTI_EXIT_DISC of IPv4; ORIGIN is passed over', () =>
    expect(words(V4)).toBe('via 192.0.2.7 as-path [sequence 65010 set 65020,65021] med 50'));
  test('RFC 4760: the next hop of MP_REACH_NLRI, its prefixes passed over', () =>
    expect(words(V6)).toBe('via 2001:db8::9 as-path [] med 0'));
  test('RFC 4760: an IPv4 next hop in MP_REACH_NLRI, and one without anything behind it', () => {
    expect(words('800e09 0001 01 04 c0000207 00')).toBe('via 192.0.2.7 as-path [] med 0');
    expect(words('800e14 0002 01 10 20010db8000000000000000000000009')).toBe('via 2001:db8::9 as-path [] med 0');
  });
  test('RFC 8092: large communities, twelve octets each; what is over is none', () => {
    const communities = (hex: string): unknown => {
      const result = route(hex);
      return result.ok && result.value.largeCommunities;
    };
    expect(communities('c02018 0000fde8 00000001 00000002 ffffffff 00000000 fffffffe')).toEqual([
      [65000, 1, 2],
      [0xffffffff, 0, 0xfffffffe],
    ]);
    expect(communities('c0200d 0000fde8 00000001 00000002 00')).toEqual([[65000, 1, 2]]);
    expect({ c02000: communities('c02000'), v4: communities(V4) }).toEqual({ c02000: [], v4: [] });
  });
  test('RFC 2545: the global and the link-local next hop', () => {
    expect(words(`800e25 0002 01 20 ${'20010db8000000000000000000000009'} fe800000000000000000000000000001 00`)).toBe(
      'via 2001:db8::9 fe80::1 as-path [] med 0',
    );
  });
  test('RFC 5065: segments of a confederation', () =>
    expect(words('400206 03010000fdf2')).toBe('via  as-path [confed-sequence 65010] med 0'));
  test('PNC-5.4-a, RFC 7606: of several attributes 39 the first counts, as a copy', () => {
    const bytes = fromHex(`${toHex(NHC_V4_ATTRIBUTE)} ${toHex(NHC_V6_ATTRIBUTE)}`);
    const attributes = decodePathAttributes(bytes);
    const result = attributes.ok ? decodeRoute(attributes.value) : attributes;
    bytes.fill(0);
    expect(result).toMatchObject({ ok: true, value: { nhc: NHC_V4_ATTRIBUTE.subarray(3) } });
  });
  test('RFC 7606 §3 c: flags of attribute 39 other than optional and transitive are reported, of the first', () => {
    const flags = (hex: string): unknown => {
      const result = route(hex);
      return result.ok && result.value.badNhcFlags;
    };
    for (const good of ['c02701aa', 'e02701aa', 'd0270001aa']) expect(flags(`${good} 802701bb`)).toBeUndefined();
    for (const [hex, bad] of [
      ['802701aa', 0x80],
      ['402701aa', 0x40],
      ['002701aa', 0],
      ['a02701aa', 0xa0],
    ] as const)
      expect(flags(`${hex} c02701bb`)).toBe(bad);
  });
  test.each([
    ['400303 c00002', 'bad-length at 0'],
    ['800405 0000000032', 'bad-length at 0'],
    ['800e03 000201', 'bad-length at 0'],
    ['800e08 0002 01 10 20010db8', 'bad-length at 0'],
    ['800e09 0002 01 05 0102030405', 'bad-length at 0'],
    ['400201 02', 'bad-segment at 0'],
    ['400205 0202 0000fd', 'bad-segment at 0'],
    ['400206 05010000fdf2', 'bad-segment at 0'],
    ['400208 02010000fdf2 0201', 'bad-segment at 6'],
  ])('malformed %s: %s', (hex, error) => expect(words(hex)).toBe(error));
  test('survives anything', () =>
    fuzzDecoder(
      (bytes) => {
        const some = decodePathAttributes(bytes);
        return some.ok ? decodeRoute(some.value) : some;
      },
      [fromHex(V4), fromHex(V6)],
    ));
});

describe('a prefix', () => {
  test.each([
    ['00', 4, '0.0.0.0/0'],
    ['08 0a', 4, '10.0.0.0/8'],
    ['09 0aff', 4, '10.128.0.0/9'],
    ['20 c0000201', 4, '192.0.2.1/32'],
    ['40 20010db800010000', 6, '2001:db8:1::/64'],
    ['', 4, 'truncated at 0'],
    ['21 c000020100', 4, 'bad-prefix-length at 0'],
    ['81 00', 6, 'bad-prefix-length at 0'],
    ['20 c00002', 4, 'truncated at 4'],
    ['08 0a00', 4, 'trailing-bytes at 2'],
  ] as const)('%s in IPv%i: %s', (hex, family, text) => expect(prefixOf(hex, family)).toBe(text));
  test('survives anything', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom(4 as const, 6 as const),
        (bytes, family) => typeof decodeNlri(bytes, family).ok === 'boolean',
      ),
    );
  });
});
