import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IpAddress, address, addressBits, addressBytes, isUnicastHost } from './address.ts';
import {
  addressUse,
  comparePrefixes,
  formatPrefix,
  hostPrefix,
  longestPrefix,
  parsePrefix,
  prefix,
  prefixContains,
  prefixCovers,
  prefixOf,
  samePrefix,
  senderlessUse,
  specialUse,
} from './prefix.ts';

const anyAddress = fc.oneof(
  fc.nat({ max: 0xffffffff }).map((n): IpAddress => ({ family: 4, value: BigInt(n) })),
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value): IpAddress => ({ family: 6, value })),
);
const anyPrefix = anyAddress.chain((a) =>
  fc.integer({ min: 0, max: addressBits(a.family) }).map((length) => prefixOf(a, length)),
);

/** The address as a string of bits, read from its bytes: a check that shares no arithmetic with the code. */
const bits = (a: IpAddress): string => [...addressBytes(a)].map((b) => b.toString(2).padStart(8, '0')).join('');

describe('parsing', () => {
  test.each(['0.0.0.0/0', '10.0.0.0/8', '192.0.2.1/32', '::/0', '2001:db8::/32', '2001:db8:1::/64', '2001:db8::1/128'])(
    '%s survives a round trip',
    (text) => {
      expect(formatPrefix(prefix(text))).toBe(text);
    },
  );

  test.each([
    ['10.0.0.1/24', 'host bits'],
    ['2001:db8::1/64', 'host bits'],
    ['10.0.0.0/33', 'too long'],
    ['::/129', 'too long'],
    ['10.0.0.0', 'no length'],
    ['10.0.0.0/', 'no length'],
    ['10.0.0.0/08', 'leading zero'],
    ['10.0.0.0/-1', 'negative'],
    ['10.0.0.0/8/8', 'two lengths'],
    ['/8', 'no address'],
    ['10.0.0.0/255.0.0.0', 'a mask'],
    ['', 'empty'],
    ['10.0.0.0/ 8', 'space'],
  ])('%j is refused: %s', (text) => {
    expect(parsePrefix(text)).toBeUndefined();
  });

  test('an invalid literal throws', () => {
    expect(() => prefix('10.0.0.1/24')).toThrow(RangeError);
  });

  test('parsing a formatted prefix gives the same prefix', () => {
    fc.assert(
      fc.property(anyPrefix, (p) => {
        expect(parsePrefix(formatPrefix(p))).toEqual(p);
      }),
    );
  });
});

describe('prefixOf', () => {
  test('masks host bits', () => {
    expect(formatPrefix(prefixOf(address('10.1.2.3'), 15))).toBe('10.0.0.0/15');
    expect(formatPrefix(prefixOf(address('2001:db8::ff'), 121))).toBe('2001:db8::80/121');
  });

  test.each([
    [address('10.0.0.0'), 33],
    [address('10.0.0.0'), -1],
    [address('::'), 129],
    [address('::'), 1.5],
    [address('::'), NaN],
  ])('refuses %o/%d', (a, length) => {
    expect(() => prefixOf(a, length)).toThrow(RangeError);
  });

  test('a host prefix has all the bits', () => {
    expect(formatPrefix(hostPrefix(address('10.0.0.1')))).toBe('10.0.0.1/32');
    expect(formatPrefix(hostPrefix(address('2001:db8::1')))).toBe('2001:db8::1/128');
  });
});

describe('containment', () => {
  test('a prefix contains exactly the addresses of its family that begin with its bits', () => {
    const near = fc
      .tuple(anyPrefix, fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), fc.nat({ max: 128 }))
      .map(([p, noise, shift]) => {
        const width = BigInt(addressBits(p.address.family));
        return [
          p,
          {
            family: p.address.family,
            value: BigInt.asUintN(Number(width), p.address.value ^ (noise >> BigInt(shift))),
          },
        ] as const;
      });
    fc.assert(
      fc.property(near, ([p, a]) => {
        expect(prefixContains(p, a)).toBe(bits(a).startsWith(bits(p.address).slice(0, p.length)));
      }),
      { numRuns: 1000 },
    );
  });

  test('::/0 does not contain an IPv4 address', () => {
    expect(prefixContains(prefix('::/0'), address('10.0.0.1'))).toBe(false);
    expect(prefixCovers(prefix('::/0'), prefix('10.0.0.0/8'))).toBe(false);
  });

  test('a prefix covers itself and the more specific, not the less specific', () => {
    const [wide, narrow] = [prefix('2001:db8::/32'), prefix('2001:db8:1::/48')];
    expect({
      wideWide: prefixCovers(wide, wide),
      wideNarrow: prefixCovers(wide, narrow),
      narrowWide: prefixCovers(narrow, wide),
    }).toEqual({ wideWide: true, wideNarrow: true, narrowWide: false });
    expect(prefixCovers(prefix('2001:db9::/32'), narrow)).toBe(false);
  });
});

test('the longest of several prefixes counts, of equal ones the first', () => {
  const all = ['2001:db8::/32', '2001:db8:1::/48', '::/0', '2001:db8:2::/48'].map((text) => ({ prefix: prefix(text) }));
  expect(longestPrefix(all)).toBe(all[1]);
  expect(longestPrefix([])).toBeUndefined();
});

test('prefixes are ordered by address, then shorter first', () => {
  const sorted = ['10.0.0.0/8', '10.0.0.0/16', '10.1.0.0/16', '::/0', '2001:db8::/32', '2001:db8::/48'];
  expect(
    [3, 5, 1, 0, 4, 2]
      .map((i) => prefix(sorted[i]!))
      .sort(comparePrefixes)
      .map(formatPrefix),
  ).toEqual(sorted);
  expect(samePrefix(prefix('10.0.0.0/8'), prefix('10.0.0.0/16'))).toBe(false);
  expect(samePrefix(prefix('10.0.0.0/8'), prefix('10.0.0.0/8'))).toBe(true);
});

describe('special use', () => {
  const anyAddress = fc.oneof(
    fc.nat(0xffff_ffff).map((value) => ({ family: 4 as const, value: BigInt(value) })),
    fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value) => ({ family: 6 as const, value })),
    fc
      .constantFrom(
        '0.0.0.0',
        '0.1.2.3',
        '1.0.0.0',
        '126.255.255.255',
        '127.0.0.1',
        '128.0.0.0',
        '169.253.255.255',
        '169.254.0.0',
        '169.255.0.0',
        '223.255.255.255',
        '224.0.0.1',
        '239.255.255.255',
        '240.0.0.0',
        '255.255.255.255',
        '::',
        '::1',
        '::2',
        'fe7f::',
        'fe80::1',
        'febf::',
        'fec0::',
        'feff::',
        'ff00::',
        'ff02::1',
        '::fffe:ffff:ffff',
        '::ffff:10.0.0.1',
        '::1:0:0:0',
      )
      .map(address),
  );

  test('an address has one exactly if isUnicastHost rejects it', () => {
    fc.assert(
      fc.property(anyAddress, (a) => void expect(addressUse(a) === undefined).toBe(isUnicastHost(a))),
      { numRuns: 1000 },
    );
  });

  test('a prefix has one only if its first and last address do', () => {
    fc.assert(
      fc.property(anyAddress, fc.nat(128), (a, bits) => {
        const p = prefixOf(a, bits % (a.family === 4 ? 33 : 129));
        const last = {
          family: a.family,
          value: p.address.value | ((1n << BigInt((a.family === 4 ? 32 : 128) - p.length)) - 1n),
        };
        const use = specialUse(p);
        if (use !== undefined) expect([addressUse(p.address), addressUse(last)]).not.toContain(undefined);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['0.0.0.0/0', undefined],
    ['::/0', undefined],
    ['224.0.0.0/3', undefined],
    ['0.0.0.0/7', undefined],
    ['0.0.0.0/8', 'unspecified'],
    ['::/126', undefined],
    ['::/127', 'loopback'],
    ['::/128', 'unspecified'],
    ['255.255.255.255/32', 'broadcast'],
    ['240.0.0.0/4', undefined],
  ])('senders in %s: %s', (text, use) => expect(senderlessUse(prefix(text))).toBe(use));
});
