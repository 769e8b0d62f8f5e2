import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type IpAddress,
  address,
  addressBytes,
  addressFromBytes,
  compareAddresses,
  formatAddress,
  isIpv4Mapped,
  isLinkLocal,
  isUnicastHost,
  mapKey,
  parseAddress,
  sameAddress,
  sameOptional,
} from './address.ts';

const ipv4 = fc.nat({ max: 0xffffffff }).map((n): IpAddress => ({ family: 4, value: BigInt(n) }));
const word = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 0xffff }) });
const ipv6 = fc.array(word, { minLength: 8, maxLength: 8 }).map((words): IpAddress => ({
  family: 6,
  value: words.reduce((value, w) => (value << 16n) | BigInt(w), 0n),
}));
const anyAddress = fc.oneof(ipv4, ipv6);

describe('parsing', () => {
  test.each([
    ['0.0.0.0', 4, 0n],
    ['255.255.255.255', 4, 0xffffffffn],
    ['192.0.2.1', 4, 0xc0000201n],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['2001:db8::1', 6, 0x20010db8000000000000000000000001n],
    ['2001:DB8:0:0:8:800:200C:417A', 6, 0x20010db80000000000080800200c417an],
    ['::ffff:192.0.2.1', 6, 0xffffc0000201n],
    ['1:2:3:4:5:6:7.8.9.10', 6, 0x0001000200030004000500060708090an],
    ['1::', 6, 1n << 112n],
    ['1:2:3:4:5:6:7::', 6, 0x00010002000300040005000600070000n],
  ] as const)('%s is IPv%d %d', (text, family, value) => {
    expect(parseAddress(text)).toEqual({ family, value });
  });

  test.each([
    '',
    ' ',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4 ',
    '+1.2.3.4',
    '0x1.2.3.4',
    '1..2.3',
    ':',
    ':::',
    '1:::2',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '12345::',
    'g::',
    '::v4',
    '1:2:3:4:5:6:7:8:v4',
    '1:v4::1.2.3.4',
    '1.2.3.4::',
    '1.2.3.4::1',
    '::1.2.3',
    '::1.2.3.4:5',
    'fe80::1%eth0',
    '::1/128',
    '[::1]',
    '::1 ',
  ])('%j is no address', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('text is an address exactly when the Node.js parser says so', () => {
    const piece = fc.constantFrom(
      ':',
      '::',
      '.',
      '0',
      '1',
      'ff',
      'fffff',
      '255',
      '256',
      '01',
      'v4',
      'g',
      ' ',
      '1.2.3.4',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 18 }), (pieces) => {
        const text = pieces.join('');
        expect(parseAddress(text)?.family).toBe(isIPv4(text) ? 4 : isIPv6(text) ? 6 : undefined);
      }),
      { numRuns: 3000 },
    );
  });

  test('an invalid literal throws', () => {
    expect(() => address('10.0.0.256')).toThrow(RangeError);
  });
});

describe('RFC 5952 text', () => {
  test.each([
    ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], // §4.2.2: one group of zeros is not shortened
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'], // §4.2.3: the longest run
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'], // §4.2.3: the first of two equal runs
    ['2001:DB8::ABCD', '2001:db8::abcd'], // §4.3
    ['0:0:0:0:0:ffff:c000:201', '::ffff:192.0.2.1'], // §5
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
  ])('%s is written %s', (text, canonical) => {
    expect(formatAddress(address(text))).toBe(canonical);
  });

  test('parsing a formatted address gives the same address', () => {
    fc.assert(
      fc.property(anyAddress, (a) => {
        expect(parseAddress(formatAddress(a))).toEqual(a);
      }),
    );
  });
});

describe('bytes', () => {
  test('bytes are in network order', () => {
    expect([...addressBytes(address('192.0.2.1'))]).toEqual([192, 0, 2, 1]);
    expect([...addressBytes(address('2001:db8::ff'))]).toEqual([
      0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
    ]);
  });

  test('addressFromBytes inverts addressBytes', () => {
    fc.assert(
      fc.property(anyAddress, (a) => {
        expect(addressFromBytes(addressBytes(a))).toEqual(a);
      }),
    );
  });

  test.each([0, 3, 5, 15, 17])('%d bytes are no address', (length) => {
    expect(() => addressFromBytes(new Uint8Array(length))).toThrow(RangeError);
  });
});

test('addresses are ordered by family, then as numbers', () => {
  const sorted = ['9.0.0.1', '10.0.0.1', '200.0.0.1', '::1', '2001:db8::1', 'fe80::1'];
  const shuffled = [5, 2, 0, 4, 1, 3].map((i) => address(sorted[i]!));
  expect(shuffled.sort(compareAddresses).map(formatAddress)).toEqual(sorted);
});

test('0.0.0.1 and ::1 are not the same address', () => {
  expect(sameAddress(address('0.0.0.1'), address('::1'))).toBe(false);
  expect(sameAddress(address('::1'), address('0::1'))).toBe(true);
});

test.each([
  ['10.0.0.1', true],
  ['192.0.2.1', true],
  ['223.255.255.255', true],
  ['0.0.0.0', false],
  ['0.1.2.3', false],
  ['127.0.0.1', false],
  ['169.254.1.1', false],
  ['224.0.0.5', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
  ['2001:db8::1', true],
  ['fd00::1', true],
  ['fec0::1', true],
  ['::', false],
  ['::1', false],
  ['fe80::1', false],
  ['febf::1', false],
  ['ff02::5', false],
  ['::ffff:10.0.0.1', false],
] as const)('%s can be a proxy, a sender or a notifier: %s', (text, expected) => {
  expect(isUnicastHost(address(text))).toBe(expected);
});

test('link-local is fe80::/10 and 169.254.0.0/16', () => {
  expect(['fe80::', 'febf:ffff::1', '169.254.255.255'].map((t) => isLinkLocal(address(t)))).toEqual([true, true, true]);
  expect(['fe7f::', 'fec0::', '169.253.0.1', '::a9fe:1'].map((t) => isLinkLocal(address(t)))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('only ::ffff:0:0/96 is IPv4-mapped', () => {
  expect(['::ffff:0.0.0.0', '::ffff:255.255.255.255'].map((t) => isIpv4Mapped(address(t)))).toEqual([true, true]);
  expect(['::fffe:1.2.3.4', '::1:ffff:1.2.3.4', '1.2.3.4'].map((t) => isIpv4Mapped(address(t)))).toEqual([
    false,
    false,
    false,
  ]);
});

test('mapKey: two addresses have one key only if they are equal, and it is text: all of it is hashed', () => {
  fc.assert(fc.property(ipv6, ipv6, (a, b) => (mapKey(a) === mapKey(b)) === sameAddress(a, b)));
  const sids = Array.from({ length: 500 }, (_, n) => mapKey(address(`2001:db8:${n.toString(16)}::c1:0:0`)));
  expect([new Set(sids).size, typeof sids[0]]).toEqual([500, 'string']);
});

test('two places for an address are the same with equal ones, or without any', () => {
  expect([sameOptional(address('::1'), address('0::1')), sameOptional(null, undefined)]).toEqual([true, true]);
  expect([sameOptional(address('::1'), address('0.0.0.1')), sameOptional(address('::'), undefined)]).toEqual([
    false,
    false,
  ]);
});
