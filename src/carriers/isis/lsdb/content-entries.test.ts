// The content read from an LSP: entries with the P-flag as the decoder sees them, the node's name and addresses, and
// what is ignored.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../../../model/address.ts';
import { formatPrefix, prefix } from '../../../model/prefix.ts';
import { prefixEntry } from '../../../packet/isis/foreign.fixture.ts';
import { decodePdu } from '../../../packet/isis/pdu.ts';
import { packNeighbors } from '../../../packet/isis/tlv/is-reachability.ts';
import type { IsisTlv, PrefixReachability, PrefixSubTlv, SourceRouterId } from '../../../packet/isis/tlv/types.ts';
import type { Lsp } from '../../../packet/isis/types.ts';
import { type ReadByKind, readByKind } from '../kinds/reading.fixture.ts';
import { type Edge, withoutEntries, sameEdges } from './content.ts';
import type { NodeAddresses } from '../kinds/attributes.ts';
import { type PrefixEntry, proxyOf } from '../kinds/sender-prefix-reader.ts';
import { lsp } from '../hostile.fixture.ts';
import { END_CON, systemId } from '../simulation.fixture.ts';

function read(tlvs: readonly IsisTlv[], keepFlagged = true, more: Partial<Lsp> = {}): ReadByKind {
  const decoded = decodePdu(lsp({ tlvs, ...more }));
  if (!decoded.ok || decoded.value.kind !== 'lsp') throw new Error('not an LSP');
  return readByKind(decoded.value, keepFlagged);
}

const flagged = (
  text: string,
  subTlvs: readonly PrefixSubTlv[] = [],
  flags: readonly number[] = [1],
): PrefixReachability =>
  prefixEntry(text, [{ kind: 'prefix-attribute-flags', flags: Uint8Array.from(flags) }, ...subTlvs]);
const v6 = (...prefixes: PrefixReachability[]): IsisTlv => ({ kind: 'ipv6-reachability', prefixes });
const source4 = (text: string): PrefixSubTlv => ({ kind: 'ipv4-source-router-id', address: address(text) });
const source6 = (text: string): PrefixSubTlv => ({ kind: 'ipv6-source-router-id', address: address(text) });

describe('entries with the P-flag', () => {
  const sourceIn = (subTlvs: readonly PrefixSubTlv[], kind: SourceRouterId['kind']): IpAddress | undefined =>
    subTlvs.find((t): t is SourceRouterId => t.kind === kind)?.address;
  /** The same, from the values of the decoder. */
  const decodedEntry = ({ prefix: p, metric, down, external, subTlvs }: PrefixReachability): object => ({
    prefix: formatPrefix(p),
    metric,
    down,
    external,
    flags: subTlvs.flatMap((t) => (t.kind === 'prefix-attribute-flags' ? [...t.flags] : [])),
    source4: sourceIn(subTlvs, 'ipv4-source-router-id'),
    source6: sourceIn(subTlvs, 'ipv6-source-router-id'),
  });
  const found = (read: ReadByKind): object[] =>
    read.flagged.map(({ prefix: p, flags, source4: four, source6: six, ...rest }) => ({
      ...{ prefix: formatPrefix(p), metric: rest.metric, down: rest.down, external: rest.external },
      ...{ flags: [...flags], source4: four, source6: six },
    }));
  /** Few distinct values, so that consecutive entries are often equal, or differ in one field. */
  const entry = fc
    .record({
      metric: fc.constantFrom(1, 2),
      down: fc.boolean(),
      external: fc.boolean(),
      flags: fc.constantFrom([1], [1, 0], [0x41], [1, 0x80]),
      four: fc.constantFrom(undefined, '192.0.2.1', '192.0.2.2', '193.0.2.1'),
      six: fc.constantFrom(undefined, '2001:db8::1', '2001:db8::2', '3001:db8::1'),
    })
    .map(({ flags, four, six, ...rest }) => ({
      ...flagged('2001:db8::/64', [...(four ? [source4(four)] : []), ...(six ? [source6(six)] : [])], flags),
      ...rest,
    }));

  test('agree with the decoder, whatever entries precede them', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
        const prefixes = entries.map((each, i) => ({ ...each, prefix: prefix(`2001:db8:${i + 1}::/64`) }));
        expect(found(read([v6(...prefixes)]))).toEqual(prefixes.map(decodedEntry));
      }),
      { numRuns: 300 },
    );
  });

  test('are counted, and kept only for a router that leaks between levels', () => {
    const tlvs = [v6(flagged('2001:db8:1::/64', [source6('2001:db8::1')]), flagged('2001:db8:2::/64'))];
    expect(
      [read(tlvs, true), read(tlvs, false)].map(({ content, prefixes }) => ({ ...content, prefixes })),
    ).toMatchObject(
      [true, false].map((kept) => ({
        leakable: kept ? [{ pnc: true }, { pnc: true }] : [],
        proxyPrefixes: 2,
        needsAddress: true,
        prefixes: [{ pnc: true }, { pnc: true }],
      })),
    );
  });

  test.each<[string, PrefixSubTlv[], boolean]>([
    ['names no proxy', [], true],
    ['names an IPv4 one', [source4('192.0.2.1')], false],
    ['names an IPv6 one', [source6('2001:db8::1')], false],
    ['names both', [source4('192.0.2.1'), source6('2001:db8::1')], false],
  ])('one that %s: whether the node’s addresses are needed', (_what, subTlvs, needed) => {
    expect(read([v6(flagged('2001:db8:1::/64', subTlvs))]).content.needsAddress).toBe(needed);
  });

  test('one prefix with two proxies of either family is two entries, one per proxy', () => {
    const of = (...sources: PrefixSubTlv[][]): number =>
      read([v6(...sources.map((each) => flagged('2001:db8:1::/64', each)))]).prefixes.length;
    const [one, two] = [source6('2001:db8::1'), source6('2001:db8::2')];
    const [four, five] = [source4('192.0.2.1'), source4('192.0.2.2')];
    expect({
      oneOne: of([one], [one]),
      oneTwo: of([one], [two]),
      fourFive: of([four], [five]),
      fourFour: of([four], [four]),
    }).toEqual({ oneOne: 1, oneTwo: 2, fourFive: 2, fourFour: 1 });
    expect({
      oneOneFour: of([one], [one, four]),
      oneFourOneFive: of([one, four], [one, five]),
      oneTwoOneTwo: of([one], [two], [one], [two]),
    }).toEqual({ oneOneFour: 2, oneFourOneFive: 2, oneTwoOneTwo: 2 });
    expect([of([]), of([], []), of([], [one])]).toEqual([1, 1, 2]);
  });
});

describe('of the node', () => {
  test('the first hostname counts; there may be none (RFC 5301)', () => {
    const names = ['leaf1', 'leaf2'].map((name): IsisTlv => ({ kind: 'hostname', name }));
    expect({ names: read(names).content.hostname, hostname: read([]).content.hostname }).toEqual({
      names: 'leaf1',
      hostname: undefined,
    });
  });

  test('the first host address counts, in TLVs 134 and 140 and in 132 and 232', () => {
    const addresses = (...texts: string[]): IsisTlv[] =>
      texts.map((text) =>
        text.includes(':')
          ? { kind: 'ipv6-te-router-id', address: address(text) }
          : { kind: 'ipv4-te-router-id', address: address(text) },
      );
    const interfaces = (...texts: string[]): IsisTlv =>
      texts[0]!.includes(':')
        ? { kind: 'ipv6-interface-addresses', addresses: texts.map(address) }
        : { kind: 'ipv4-interface-addresses', addresses: texts.map(address) };
    const of = (tlvs: IsisTlv[]): unknown[] => {
      const { routerIds, interfaces: own } = read(tlvs).content;
      return [routerIds.v4, routerIds.v6, own.v4, own.v6].map((a) => a && formatAddress(a));
    };
    expect(of(addresses('0.0.0.0', '192.0.2.1', '192.0.2.2', 'ff02::1', '2001:db8::1', '2001:db8::2'))).toEqual([
      '192.0.2.1',
      '2001:db8::1',
      undefined,
      undefined,
    ]);
    expect(
      of([
        interfaces('127.0.0.1'),
        interfaces('127.0.0.1', '192.0.2.3', '192.0.2.4'),
        interfaces('192.0.2.5'),
        interfaces('fe80::1'),
        interfaces('fe80::1', '2001:db8::3'),
        interfaces('2001:db8::4'),
      ]),
    ).toEqual([undefined, undefined, '192.0.2.3', '2001:db8::3']);
    expect(of(addresses('127.0.0.1', '::1'))).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('the neighbors with their metrics, including pseudonodes, in order', () => {
    const neighbors = [
      { systemId: systemId('0000.0000.0002'), pseudonode: 0, metric: 10, subTlvs: new Uint8Array(0) },
      { systemId: systemId('0000.0000.0001'), pseudonode: 3, metric: 0xffffff, subTlvs: new Uint8Array(0) },
    ];
    expect(read(packNeighbors(neighbors)).content.edges).toEqual([
      { node: '0000.0000.0002.00', metric: 10 },
      { node: '0000.0000.0001.03', metric: 0xffffff },
    ]);
  });

  test('the overload bit, even of an LSP with no other usable content', () => {
    const of = (overload: boolean, more: Partial<Lsp> = {}): unknown => {
      const { content, prefixes, badTlvs } = read([v6(flagged('2001:db8:1::/64'))], true, { overload, ...more });
      return [content.overload, content.proxyPrefixes, prefixes.length, badTlvs.map(({ error }) => error.code)];
    };
    expect([of(true), of(false)]).toEqual([
      [true, 1, 1, []],
      [false, 1, 1, []],
    ]);
    expect([of(true, { sequence: 0 }), of(false, { sequence: 0 })]).toEqual([
      [true, 0, 0, ['zero-sequence']],
      [false, 0, 0, ['zero-sequence']],
    ]);
  });
});

describe('malformed content', () => {
  const raw = (type: number, ...value: number[]): IsisTlv => ({
    kind: 'unknown',
    type,
    value: Uint8Array.from(value),
  });

  test.each<[string, IsisTlv]>([
    ['prefixes (236)', raw(236, 0, 0, 0, 1, 0, 200, 1)],
    ['neighbors (22)', raw(22, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10)],
    ['neighbors of a topology (222)', raw(222, 0)],
    ['a router address (134)', raw(134, 192, 0, 2)],
    ['a locator (27)', raw(27, 0)],
  ])('a malformed TLV of %s is reported once; the rest is used', (_what, bad) => {
    const good: IsisTlv[] = [
      { kind: 'hostname', name: 'leaf1' },
      v6(flagged('2001:db8:1::/64', [source6('2001:db8::1')])),
    ];
    const { content, prefixes, badTlvs } = read([bad, ...good]);
    expect({ hostname: content.hostname, prefixesLength: prefixes.length, badTlvsLength: badTlvs.length }).toEqual({
      hostname: 'leaf1',
      prefixesLength: 1,
      badTlvsLength: 1,
    });
    expect(read(good).badTlvs).toEqual([]);
  });

  test('a proxy whose address has the wrong length is ignored and reported', () => {
    const { content, badTlvs } = read([
      v6(flagged('2001:db8:1::/64', [{ kind: 'unknown', type: 12, value: Uint8Array.of(1, 2, 3) }])),
    ]);
    expect({
      needsAddress: content.needsAddress,
      badTlvs: badTlvs.map(({ subType, error }) => [subType, error.code]),
    }).toEqual({ needsAddress: true, badTlvs: [[12, 'bad-length']] });
  });
});

test('without the entries, which only expanded LSPs keep, the rest of the content stays', () => {
  const sid: PrefixSubTlv = {
    kind: 'srv6-end-sid',
    flags: 0,
    behavior: END_CON,
    sid: address('2001:db8:c::1'),
    subSubTlvs: new Uint8Array(),
  };
  const locator = { prefix: prefix('2001:db8:c::/48'), metric: 1, flags: 0, algorithm: 0, subTlvs: [sid] };
  const sids: IsisTlv = { kind: 'srv6-locator', mtId: 0, locators: [locator] };
  const name: IsisTlv = { kind: 'hostname', name: 'leaf1' };
  for (const tlvs of [[sids], [v6(flagged('2001:db8:1::/64'))], [sids, v6(flagged('2001:db8:1::/64'))], []]) {
    const { content } = read([...tlvs, name]);
    expect(content.leakable).toHaveLength(tlvs.length);
    expect(withoutEntries(content)).toEqual({ ...content, leakable: [] });
  }
});

describe('the proxy of an entry (decision D6)', () => {
  const at = (text: string): IpAddress => address(text);
  const both = (four: string, six: string): NodeAddresses => ({ v4: at(four), v6: at(six) });
  const [ids, ifs] = [both('192.0.2.134', '2001:db8::140'), both('192.0.2.132', '2001:db8::232')];
  const [own4, own6] = [at('192.0.2.11'), at('2001:db8::12')];
  const [no4, no6] = [at('127.0.0.1'), at('ff02::1')];

  test.each<[string, Partial<PrefixEntry>, NodeAddresses, NodeAddresses, string]>([
    ['of two own proxies the one of its family', { source4: own4, source6: own6 }, ids, ifs, '4: 192.0.2.11'],
    ['of two own proxies the one of its family', { source4: own4, source6: own6 }, ids, ifs, '6: 2001:db8::12'],
    ['of the other family rather than the node’s', { source6: own6 }, ids, ifs, '4: 2001:db8::12'],
    ['of the other family rather than the node’s', { source4: own4 }, ids, ifs, '6: 192.0.2.11'],
    ['of two own proxies the host’s address', { source4: no4, source6: own6 }, ids, ifs, '4: 2001:db8::12'],
    ['of two own proxies the host’s address', { source4: own4, source6: no6 }, ids, ifs, '6: 192.0.2.11'],
    ['an address that cannot be a proxy, if there is no other', { source4: no4 }, ids, ifs, '6: 127.0.0.1'],
    ['an address that cannot be a proxy, if there is no other', { source6: no6 }, ids, ifs, '4: ff02::1'],
    ['of two that cannot be a proxy the IPv6 one', { source4: no4, source6: no6 }, ids, ifs, '6: ff02::1'],
    ['the node’s in TLV 134', {}, ids, ifs, '4: 192.0.2.134'],
    ['the node’s in TLV 140', {}, ids, ifs, '6: 2001:db8::140'],
    ['the other family’s router ID before interface addresses', {}, { v6: ids.v6! }, ifs, '4: 2001:db8::140'],
    ['the other family’s router ID before interface addresses', {}, { v4: ids.v4! }, ifs, '6: 192.0.2.134'],
    ['the interfaces’ in TLV 132', {}, {}, ifs, '4: 192.0.2.132'],
    ['the interfaces’ in TLV 232', {}, {}, ifs, '6: 2001:db8::232'],
    ['none', {}, {}, {}, '4: none'],
    ['none', {}, {}, {}, '6: none'],
  ])('%s', (_what, sources, routerIds, interfaces, expected) => {
    const family = expected.startsWith('4') ? 4 : 6;
    const entry: PrefixEntry = {
      kind: 'sender-prefix',
      ...{ prefix: prefix(family === 4 ? '10.0.0.0/8' : '2001:db8:1::/48'), metric: 1, down: false, external: false },
      ...{ flags: Uint8Array.of(1), pnc: true, ...sources },
    };
    const proxy = proxyOf(entry, { routerIds, interfaces });
    expect(`${family}: ${proxy ? formatAddress(proxy) : 'none'}`).toBe(expected);
  });
});

test.each<[string, string, string, boolean]>([
  ['none at all', '', '', true],
  ['the same', '1:10 2:10', '1:10 2:10', true],
  ['one more', '1:10', '1:10 2:10', false],
  ['one less', '1:10 2:10', '1:10', false],
  ['another in place of the first', '1:10 2:10', '3:10 2:10', false],
  ['another in place of the last', '1:10 2:10', '1:10 3:10', false],
  ['another metric', '1:10 2:10', '1:10 2:16777215', false],
  ['a different order', '1:10 2:20', '2:20 1:10', false],
])('the neighbors of an LSP that lists %s: whether another walk starts', (_what, before, after, same) => {
  const edges = (text: string): Edge[] =>
    text
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => ({ node: each.split(':')[0]!, metric: Number(each.split(':')[1]) }));
  expect(sameEdges(edges(before), edges(after))).toBe(same);
});
