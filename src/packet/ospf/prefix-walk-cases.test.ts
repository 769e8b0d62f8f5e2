// The walk over prefix TLVs, flaw by flaw: what is left out, what is counted, what makes the whole LSA malformed (RFC
// 7684 §2.1; RFC 8362 §3; RFC 9084 §3; RFC 9792 §2). That decodeBody agrees is prefix-walk.test.ts.
import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../model/address.ts';
import { formatPrefix } from '../../model/prefix.ts';
import { fromHex } from '../hex.ts';
import type { Version } from './numbers.ts';
import { cursorAddress, cursorPrefix, cursorRouter, forEachPrefixTlv } from './prefix-walk.ts';

/** Type, length and value, padded. */
function tlv(type: number, value: string): string {
  const length = value.length / 2;
  const number = (n: number): string => n.toString(16).padStart(4, '0');
  return number(type) + number(length) + value + '00'.repeat(-length & 3);
}

/** Of each version: the TLV of a prefix with these sub-TLVs, and the sub-TLVs. */
const FORMS = {
  2: {
    prefix: (subTlvs: string, length = 0x18) =>
      tlv(1, `01${length.toString(16).padStart(2, '0')}0080` + '0a010000' + subTlvs),
    text: '10.1.0.0/24',
    router: (value: string) => tlv(4, value),
    address: (value: string) => tlv(5, value),
    flags: (value: string) => tlv(11, value),
    addresses: [
      ['c0000201', '192.0.2.1'],
      ['c0000202', '192.0.2.2'],
    ],
    fixed: { type: 1, routeType: 1, flags: 0x80, metric: 0, prefixOptions: 0 },
  },
  3: {
    prefix: (subTlvs: string, length = 0x40) =>
      tlv(6, `0800000a${length.toString(16).padStart(2, '0')}200000` + '20010db8000a0000' + subTlvs),
    text: '2001:db8:a::/64',
    router: (value: string) => tlv(27, value),
    address: (value: string) => tlv(28, value),
    flags: (value: string) => tlv(37, value),
    addresses: [
      ['20010db8'.padEnd(31, '0') + '1', '2001:db8::1'],
      ['20010db8'.padEnd(31, '0') + '2', '2001:db8::2'],
    ],
    fixed: { type: 6, routeType: 0, flags: 8, metric: 10, prefixOptions: 0x20 },
  },
} as const;

interface Seen {
  readonly prefix: string;
  readonly flags: number[] | undefined;
  readonly address: string | undefined;
  readonly router: number | undefined;
}

function walk(version: Version, hex: string, start = 0): { bad: number | undefined; seen: Seen[]; fixed: object[] } {
  const bytes = fromHex(hex);
  const seen: Seen[] = [];
  const fixed: object[] = [];
  const bad = forEachPrefixTlv(version, bytes, start, (c) => {
    const address = cursorAddress(c);
    seen.push({
      prefix: formatPrefix(cursorPrefix(c)),
      flags: c.flagsOffset < 0 ? undefined : [...bytes.subarray(c.flagsOffset, c.flagsOffset + c.flagsLength)],
      address: address && formatAddress(address),
      router: cursorRouter(c),
    });
    const { type, routeType, flags, metric, prefixOptions } = c;
    fixed.push({ type, routeType, flags, metric, prefixOptions });
  });
  return { bad, seen, fixed };
}

describe.each([2, 3] as const)('OSPFv%i', (version) => {
  const { prefix, text, router, address, flags, addresses, fixed } = FORMS[version];
  const [[first, firstText], [second]] = addresses;
  const NOTHING = { prefix: text, flags: undefined, address: undefined, router: undefined };
  const malformed = { bad: undefined, seen: [], fixed: [] };

  test('a prefix alone has neither flags nor address nor router', () => {
    expect(walk(version, prefix(''))).toEqual({ bad: 0, seen: [NOTHING], fixed: [fixed] });
  });

  test('its sub-TLVs are found in any order, unknown ones among them', () => {
    const [a, b, c] = [router('01020304'), address(first), flags('2000000040000000')];
    const expected = { prefix: text, flags: [0x20, 0, 0, 0, 0x40, 0, 0, 0], address: firstText, router: 0x01020304 };
    for (const subTlvs of [a + b + c, c + b + a, tlv(99, '0102030405') + b + tlv(98, '') + c + a])
      expect(walk(version, prefix(subTlvs))).toEqual({ bad: 0, seen: [expected], fixed: [fixed] });
  });

  test('of repeated ones the first counts', () => {
    const subTlvs = [router('00000001'), router('00000002'), address(first), address(second), flags('20000000')];
    expect(walk(version, prefix([...subTlvs, flags('40000000')].join(''))).seen).toEqual([
      { prefix: text, flags: [0x20, 0, 0, 0], address: firstText, router: 1 },
    ]);
  });

  test('the attributes of one prefix do not apply to the next', () => {
    const all = router('00000001') + address(first) + flags('20000000');
    expect(walk(version, prefix(all) + prefix('')).seen[1]).toEqual(NOTHING);
  });

  test('flags of no word are there, and all clear', () => {
    expect(walk(version, prefix(flags(''))).seen).toEqual([{ ...NOTHING, flags: [] }]);
  });

  test.each([
    ['a router ID of 3 bytes', router('010203')],
    ['a router ID of 8 bytes', router('0102030405060708')],
    ['an address of 8 bytes', address('0102030405060708')],
  ])('%s is counted and skipped, and a good one behind it counts', (_what, bad) => {
    expect(walk(version, prefix(bad))).toMatchObject({ bad: 1, seen: [NOTHING] });
    expect(walk(version, prefix(bad + bad) + prefix(bad))).toMatchObject({ bad: 3, seen: [NOTHING, NOTHING] });
    const good = router('00000001') + address(first);
    expect(walk(version, prefix(bad + good)).seen).toMatchObject([{ address: firstText, router: 1 }]);
  });

  test.each([1, 2, 3, 5])('flags of %i bytes make the whole LSA malformed, whatever came before', (bytes) => {
    const hex = prefix(router('00000001')) + prefix(flags('20000000') + flags('00'.repeat(bytes)));
    expect(walk(version, hex)).toEqual(malformed);
  });

  test.each([
    ['a head of half a sub-TLV', prefix('00ff')],
    ['a sub-TLV that exceeds its TLV', prefix('00ff0004')],
    ['a TLV that exceeds the LSA', prefix('') + '00ff0004'],
    ['a head of half a TLV', prefix('') + '00ff'],
  ])('%s makes the whole LSA malformed', (_what, hex) => {
    expect(walk(version, hex)).toEqual(malformed);
  });

  test('an empty TLV may end the LSA, an empty sub-TLV its TLV', () => {
    expect(walk(version, prefix(tlv(99, '')) + tlv(99, ''))).toMatchObject({ bad: 0, seen: [NOTHING] });
  });

  test('the LSA may have no TLVs, and nothing begins behind its end', () => {
    expect([walk(version, ''), walk(version, '00000000', 4)]).toMatchObject([{ bad: 0 }, { bad: 0 }]);
    expect(walk(version, '00000000', 5)).toEqual(malformed);
  });

  test('TLVs begin where their lengths say', () => {
    expect(walk(version, `${'00'.repeat(12)}${prefix('')}`, 12)).toEqual({ bad: 0, seen: [NOTHING], fixed: [fixed] });
  });

  test('TLVs of other types are passed over', () => {
    expect(walk(version, tlv(77, '0102030405') + prefix(''))).toMatchObject({ bad: 0, seen: [NOTHING] });
  });

  test('a prefix that is too short or too long is left out and counted; the one behind it is read', () => {
    const whole = prefix('').slice(8);
    const tooLong = version === 2 ? prefix('', 33) : prefix('00'.repeat(12), 129);
    const short = tlv(version === 2 ? 1 : 6, whole.slice(0, 14));
    expect(walk(version, short + tooLong + prefix(''))).toMatchObject({ bad: 2, seen: [NOTHING] });
  });

  test('the longest prefix is one', () => {
    const [length, rest] = version === 2 ? [32, ''] : [128, '00'.repeat(8)];
    expect(walk(version, prefix(rest, length)).seen).toHaveLength(1);
  });
});

test('OSPFv2: only address family 0, IPv4 unicast, has prefixes', () => {
  expect(walk(2, tlv(1, '01180180' + '0a010000'))).toEqual({ bad: 1, seen: [], fixed: [] });
});

test('OSPFv3: a prefix has as many words as its length needs, and no more TLV than that is needed', () => {
  const bare = (bits: string, words: string): string => tlv(3, `0000000a${bits}000000${words}`);
  expect(
    walk(3, bare('00', '') + bare('20', '20010db8') + bare('21', '20010db880000000')).seen.map((s) => s.prefix),
  ).toEqual(['::/0', '2001:db8::/32', '2001:db8:8000::/33']);
  expect(walk(3, bare('21', '20010db8'))).toMatchObject({ bad: 1, seen: [] });
});
