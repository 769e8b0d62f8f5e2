// The sizes of prefixes and SIDs: the size used for placement is the encoded size. Also which differences count as a
// change.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { prefixKey, prefixOf } from '../../../model/prefix.ts';
import { arbitraryIpv4, arbitraryIpv6 } from '../../../packet/isis/arbitrary.fixture.ts';
import { prefixEntryLength } from '../../../packet/isis/tlv/ip-reachability.ts';
import { encodeTlv } from '../../../packet/isis/tlvs.ts';
import type { PrefixSubTlv } from '../../../packet/isis/tlv/types.ts';
import { type Fragment, close, entriesOf, newPlacement as emptyPlacement, place, sameEntry } from '../own/placement.ts';
import type { OwnEntry } from './kind.ts';
import { supportsOf } from '../../supports.ts';
import { type OwnPrefix, prefixSize, tlvGroups } from './sender-prefix.ts';
import { type OwnSid, locatorTlvs, sidKey, sidSize } from './sid.ts';
import { ISIS_KINDS } from './table.ts';

const newPlacement = (closed?: Iterable<number>) => emptyPlacement(ISIS_KINDS, closed);
const sameOwn = (a: OwnEntry, b: OwnEntry): boolean => sameEntry(ISIS_KINDS, a, b);
const prefixesIn = (fragment: Fragment) => entriesOf(fragment, 'sender-prefix') as OwnPrefix[];

const [FOUR, SIX] = [address('192.0.2.1'), address('2001:db8::1')];
const attributes = fc.record({
  down: fc.boolean(),
  external: fc.boolean(),
  flags: fc.uint8Array({ maxLength: 20 }),
  four: fc.boolean(),
  six: fc.boolean(),
});
const sources = (four: boolean, six: boolean) => ({ ...(four && { source4: FOUR }), ...(six && { source6: SIX }) });

const anyPrefix = fc
  .tuple(fc.oneof(arbitraryIpv4, arbitraryIpv6), fc.nat(128), attributes)
  .map(([at, length, { four, six, ...rest }]): OwnPrefix => {
    const prefix = prefixOf(at, at.family === 4 ? length % 33 : length);
    const supports = rest.external ? { supports: supportsOf(['fast-cnp'], 250) } : {};
    return { kind: 'sender-prefix', key: prefixKey(prefix), prefix, ...rest, ...sources(four, six), ...supports };
  });
const anySid = fc
  .tuple(arbitraryIpv6, fc.integer({ min: 1, max: 128 }), attributes)
  .map(([sid, length, { external: _external, four, six, ...rest }]): OwnSid => {
    const locator = prefixOf(sid, length);
    return {
      kind: 'sid',
      key: sidKey(sid),
      sid,
      behavior: 32770,
      locator,
      algorithm: 0,
      ...rest,
      ...sources(four, six),
    };
  });

test('the size of a prefix is that of its encoded entry', () => {
  fc.assert(
    fc.property(anyPrefix, ({ prefix, flags, source4, source6, ...rest }) => {
      const subTlvs: PrefixSubTlv[] = flags.length > 0 ? [{ kind: 'prefix-attribute-flags', flags }] : [];
      if (source4) subTlvs.push({ kind: 'ipv4-source-router-id', address: source4 });
      if (source6) subTlvs.push({ kind: 'ipv6-source-router-id', address: source6 });
      if (rest.supports) subTlvs.push(rest.supports.subTlv);
      const size = prefixSize({
        prefix,
        flags,
        ...rest,
        ...(source4 && { source4 }),
        ...(source6 && { source6 }),
      });
      expect(size).toBe(prefixEntryLength({ prefix, metric: 1, down: rest.down, external: rest.external, subTlvs }));
    }),
    { numRuns: 300 },
  );
});

test('the size of a SID is that of its encoded locator with no other SID', () => {
  fc.assert(
    fc.property(anySid, (p) => {
      const [tlv, ...more] = locatorTlvs([p], 2);
      expect(more).toEqual([]);
      // Type, length and topology.
      expect(encodeTlv(tlv!).length - 4).toBe(sidSize(p));
      expect(ISIS_KINDS.codecOf(p).size(p)).toBe(sidSize(p));
    }),
    { numRuns: 300 },
  );
});

const SID: OwnSid = {
  kind: 'sid',
  ...{ key: 'sid:1', sid: address('2001:db8:c::1'), behavior: 32770, locator: prefixOf(address('2001:db8:c::'), 48) },
  ...{ algorithm: 0, down: false, flags: new Uint8Array() },
};
const PREFIX: OwnPrefix = {
  kind: 'sender-prefix',
  ...{ key: 'p', prefix: prefixOf(address('2001:db8:1::'), 48), down: false, external: false },
  ...{ flags: Uint8Array.of(1), source6: SIX },
};
const otherSids: [string, Partial<OwnSid>][] = [
  ['locator', { locator: prefixOf(address('2001:db8:c::'), 47) }],
  ['algorithm', { algorithm: 128 }],
  ['D bit', { down: true }],
  ['flags', { flags: Uint8Array.of(0x40) }],
  ['IPv4 source', { source4: FOUR }],
  ['IPv6 source', { source6: SIX }],
];

describe('SIDs of one locator', () => {
  test.each(otherSids)('share a TLV unless they differ in its %s', (_what, fields) => {
    const second = { ...SID, sid: address('2001:db8:c::2') };
    expect(locatorTlvs([SID, { ...second, behavior: 18 }], 0)).toHaveLength(1);
    expect(locatorTlvs([SID, { ...second, ...fields }], 0)).toHaveLength(2);
    expect(
      locatorTlvs([SID, { ...second, ...fields }, SID], 0).map((t) => t.locators[0]!.subTlvs.at(-1)!.kind),
    ).toEqual(['srv6-end-sid', 'srv6-end-sid']);
  });

  test('fill a TLV to 253 bytes after its topology, and no more', () => {
    const of = (flags: number): number[] => {
      const all = Array.from({ length: 21 }, (_, i) => ({
        ...{ ...SID, sid: address(`2001:db8:c::${i + 1}`), flags: new Uint8Array(flags) },
      }));
      const tlvs = locatorTlvs(all, 0);
      for (const tlv of tlvs) expect(encodeTlv(tlv).length).toBeLessThanOrEqual(257);
      return tlvs.map((tlv) => tlv.locators[0]!.subTlvs.filter(({ kind }) => kind === 'srv6-end-sid').length);
    };
    // 7 and 6 bytes of locator, 1 of length, 22 a SID, 2 and 17 of flags: 253.
    expect([of(0), of(17), of(18)]).toEqual([
      [10, 10, 1],
      [10, 10, 1],
      [9, 9, 3],
    ]);
  });
});

describe('a change', () => {
  test.each([...otherSids, ['behavior', { behavior: 18 }]] as [string, Partial<OwnSid>][])(
    'of a SID is a different %s',
    (_what, fields) => {
      expect({ same: sameOwn(SID, { ...SID }), changed: sameOwn(SID, { ...SID, ...fields }) }).toEqual({
        same: true,
        changed: false,
      });
    },
  );

  test.each<[string, Partial<OwnPrefix>]>([
    ['up/down bit', { down: true }],
    ['external bit', { external: true }],
    ['value of the flags', { flags: Uint8Array.of(0x41) }],
    ['length of the flags', { flags: Uint8Array.of(1, 0) }],
    ['IPv4 source', { source4: FOUR }],
    ['IPv6 source', { source6: address('2001:db8::2') }],
    ['understood format', { supports: supportsOf(['fast-cnp'], 250) }],
  ])('of a prefix is a different %s', (_what, fields) => {
    expect({ same: sameOwn(PREFIX, { ...PREFIX }), changed: sameOwn(PREFIX, { ...PREFIX, ...fields }) }).toEqual({
      same: true,
      changed: false,
    });
    const placement = newPlacement();
    place(placement, PREFIX, 1000);
    expect(place(placement, { ...PREFIX, ...fields }, 1000)).toEqual({ placed: true, changed: [1] });
  });

  test('is also a SID instead of a prefix', () => {
    const sid: OwnEntry = { ...SID, key: PREFIX.key };
    expect({ prefixSid: sameOwn(PREFIX, sid), sidPrefix: sameOwn(sid, PREFIX) }).toEqual({
      prefixSid: false,
      sidPrefix: false,
    });
  });
});

describe('the capacity of a fragment', () => {
  const nth = (n: number, length = 64): OwnPrefix => {
    const prefix = prefixOf({ family: 6, value: (0x20010db8n << 96n) | (BigInt(n) << 64n) }, length);
    return { ...PREFIX, key: prefixKey(prefix), prefix };
  };
  // 36 bytes each, and 4 of their TLV.
  test.each([
    [111, [1, 1, 2]],
    [112, [1, 1, 1]],
    [76, [1, 1, 2]],
    [75, [1, 2, 3]],
    [40, [1, 2, 3]],
  ])('of %i bytes is fully used', (capacity, expected) => {
    const placement = newPlacement();
    expect([0, 1, 2].map((n) => place(placement, nth(n), capacity).changed[0])).toEqual(expected);
    expect(place(newPlacement(), nth(0), 39)).toEqual({ placed: false, changed: [] });
  });

  test('an entry that outgrows its fragment moves to another, and both change; one that shrinks frees space', () => {
    const placement = newPlacement();
    const put = (own: OwnPrefix) => place(placement, own, 76);
    for (const n of [0, 1]) put(nth(n));
    expect(put({ ...nth(0), flags: new Uint8Array(3) }).changed).toEqual([1, 2]);
    expect(place(placement, nth(2), 76).changed).toEqual([1]);
    expect(put({ ...nth(0), source4: FOUR }).changed).toEqual([2]);
    const gone = put({ ...nth(1), flags: new Uint8Array(99) });
    expect({ gone, hasKey: placement.whereIs.has(nth(1).key) }).toEqual({
      gone: { placed: false, changed: [1] },
      hasKey: false,
    });
  });

  test('a closed fragment accepts nothing and returns its entries', () => {
    const placement = newPlacement();
    for (const n of [0, 1, 2]) place(placement, nth(n), 76);
    expect(close(placement, 1).map(({ key }) => key)).toEqual([nth(0).key, nth(1).key]);
    expect([...placement.whereIs.keys()]).toEqual([nth(2).key]);
    expect(place(placement, nth(3), 76).changed).toEqual([2]);
    expect(place(placement, nth(4), 76).changed).toEqual([3]);
    expect(close(placement, 77)).toEqual([]);
    expect([...newPlacement(placement.closed).closed]).toEqual([1, 77]);
  });

  test('a TLV ends before it exceeds 253 bytes, in the encoding and in the count', () => {
    const placement = newPlacement();
    // Seven times 36 are 252.
    for (let n = 0; n < 16; n++) place(placement, nth(n), 16 * 36 + 3 * 4);
    expect([...placement.fragments.keys()]).toEqual([1]);
    expect(tlvGroups(prefixesIn(placement.fragments.get(1)!), 6).map((group) => group.length)).toEqual([7, 7, 2]);
    expect(tlvGroups(prefixesIn(placement.fragments.get(1)!), 4)).toEqual([]);
    const less = newPlacement();
    for (let n = 0; n < 16; n++) place(less, nth(n), 16 * 36 + 3 * 4 - 1);
    expect([...less.fragments.keys()]).toEqual([1, 2]);
  });
});
