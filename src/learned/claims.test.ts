// What senders are said to understand: by whom, for which senders, and which of several counts.
import { describe, expect, test } from 'vitest';
import type { LearnedOf } from '../model/advertisement.ts';
import { formatPrefix, prefix } from '../model/prefix.ts';
import { type SenderFormat, understood } from '../model/understood.ts';
import { Claims } from './claims.ts';
import { fixture, flagged, plain } from './table.fixture.ts';

const P = '2001:db8:1::/64';
const saying = (one: LearnedOf<'sender-prefix'>, ...formats: readonly SenderFormat[]): LearnedOf<'sender-prefix'> => ({
  ...one,
  supports: understood(formats),
});
type Table = ReturnType<typeof fixture>['table'];

/** What the dataplane has: prefix, proxy or none, formats. */
const rows = (table: Table): string[] =>
  [...table.forwarding()]
    .filter(({ id }) => id !== '0.0.0.0/0')
    .map(
      ({ prefix: p, proxy, supports }) => `${formatPrefix(p)} ${proxy ? 'proxy' : 'none'} ${supports?.join() ?? '-'}`,
    );
const inForce = (table: Table): string[] =>
  table
    .entries()
    .flatMap(({ prefix: p, originator, supports, supportsInForce }) =>
      supportsInForce ? [`${p} ${originator} ${supports!.join()}`] : [],
    );

describe('what is said of the senders in a prefix', () => {
  test('is known with a proxy and without one, changes, and goes with its source', () => {
    const { table, report } = fixture();
    report('leaf1', [saying(flagged(P, '2001:db8::1'), 'fast-cnp')]);
    expect(rows(table)).toEqual([`${P} proxy fast-cnp`]);
    report('leaf1', [saying(plain(P), 'long-haul-icmpv6', 'fast-cnp')]);
    expect(rows(table)).toEqual([`${P} none fast-cnp,long-haul-icmpv6`]);
    expect(inForce(table)).toEqual([`${P} leaf1 fast-cnp,long-haul-icmpv6`]);
    report('leaf1', [plain(P)]);
    expect([rows(table), inForce(table)]).toEqual([[], []]);
  });

  test('D5: is not about a longer prefix, whose router says nothing', () => {
    const { table, report } = fixture();
    report('leaf1', [saying(plain('2001:db8::/32'), 'fast-cnp')]);
    report('leaf2', [plain(P)]);
    expect(rows(table)).toEqual(['2001:db8::/32 none fast-cnp', `${P} none -`]);
  });

  test('leaves IPv4 alone: a default route of IPv6 covers it in the map', () => {
    const { table, report } = fixture();
    report('leaf1', [saying(plain('::/0'), 'fast-cnp')]);
    expect([...table.forwarding()].map(({ id, supports }) => [id, supports])).toEqual([
      ['::/0', ['fast-cnp']],
      ['0.0.0.0/0', undefined],
    ]);
  });

  test('outlives the loss of its router for the hold time', () => {
    const { table, report, reach, clock } = fixture(1000);
    report('leaf1', [saying(plain(P), 'fast-cnp')]);
    reach([]);
    expect(rows(table)).toEqual([`${P} none fast-cnp`]);
    clock.now += 1001;
    table.tick();
    expect(rows(table)).toEqual([]);
  });

  test('of this router itself is known like that of others', () => {
    const { table } = fixture();
    table.declareOwn([{ kind: 'sender-prefix', prefix: prefix(P), supports: understood(['fast-cnp']) }]);
    expect(rows(table)).toEqual([`${P} none fast-cnp`]);
    expect(table.entries()).toMatchObject([{ pnc: false, carrier: 'local', supports: ['fast-cnp'] }]);
  });
});

describe('of several that say something', () => {
  test('D7: the order is that of proxies; who says nothing does not compete, whatever its metric', () => {
    const { table, report } = fixture();
    report('leaf1', [plain(P, 1)]);
    report('leaf2', [saying(plain(P, 7), 'long-haul-icmpv6')]);
    report('peer', [saying(plain(P, 2), 'long-haul-roce')], 'bgp');
    expect(inForce(table)).toEqual([`${P} leaf2 long-haul-icmpv6`]);
    report('cnpd1', [saying(plain(P, 6), 'fast-cnp')]);
    expect(inForce(table)).toEqual([`${P} cnpd1 fast-cnp`]);
    report('cnpd2', [saying(flagged(P, '2001:db8::1', 9), 'long-haul-roce')]);
    expect(inForce(table)).toEqual([`${P} cnpd2 long-haul-roce`]);
    expect(rows(table)).toEqual([`${P} proxy long-haul-roce`]);
  });

  test('a proxy keeps its prefix, although another router says what the senders understand', () => {
    const { table, report } = fixture();
    report('leaf1', [flagged(P, '2001:db8::1')]);
    report('leaf2', [saying(plain(P, 1), 'fast-cnp')]);
    expect(rows(table)).toEqual([`${P} proxy fast-cnp`]);
  });

  test('one that is reachable comes before one that is held', () => {
    const { table, report, reach } = fixture();
    report('leaf1', [saying(plain(P, 1), 'fast-cnp')]);
    report('leaf2', [saying(plain(P, 9), 'long-haul-icmpv6')]);
    reach(['leaf2']);
    expect(rows(table)).toEqual([`${P} none long-haul-icmpv6`]);
  });

  test('very many, that change and go, are chosen among as few are', () => {
    const { table, report, reach } = fixture();
    const names = Array.from({ length: 100 }, (_, i) => `r${i}`);
    reach(names);
    for (const [i, name] of names.entries()) report(name, [saying(plain(P, 1000 - i), 'fast-cnp')]);
    expect(inForce(table)).toEqual([`${P} r99 fast-cnp`]);
    report('r99', [saying(plain(P, 2000), 'long-haul-icmpv6')]);
    expect(inForce(table)).toEqual([`${P} r98 fast-cnp`]);
    for (const name of names.slice(5, 99)) report(name, [plain(P)]);
    expect(inForce(table)).toEqual([`${P} r4 fast-cnp`]);
    for (const name of names.slice(0, 5)) report(name, []);
    expect(inForce(table)).toEqual([`${P} r99 long-haul-icmpv6`]);
    report('r99', []);
    expect([inForce(table), rows(table)]).toEqual([[], []]);
  });
});

test('of a prefix of which nothing is said any more nothing is kept', () => {
  const claims = new Claims();
  const source = { name: 's', originator: { carrier: 'isis', name: 'r', reachability: 'reachable' } };
  const all = Array.from(
    { length: 100 },
    (_, metric) => ({ node: 7, source, metric, supports: ['fast-cnp'] }) as never,
  );
  for (const one of all) claims.add(one);
  expect(claims.best(7)).toBe(all[0]);
  expect(claims.inOrder(7)).toBe(true);
  for (const one of all) claims.remove(one);
  expect([claims.best(7), claims.inOrder(7)]).toEqual([undefined, false]);
});

describe('who may lie', () => {
  test.each([
    ['10.0.0.0/8', ['fast-cnp', 'long-haul-icmpv6', 'long-haul-roce'], '10.0.0.0/8 none long-haul-roce'],
    ['2000::/3', ['fast-cnp', 'long-haul-roce'], '2000::/3 none fast-cnp'],
    ['10.0.0.0/8', ['fast-cnp'], undefined],
    ['ff00::/8', ['fast-cnp'], undefined],
    ['::1/128', ['long-haul-roce'], undefined],
  ] as const)('a format that cannot reach senders in %s is left out and counted', (text, formats, row) => {
    const { table, report, counts } = fixture();
    report('leaf1', [saying(plain(text), ...formats)]);
    expect({ rows: rows(table), counted: counts.get('learned.supports.unusable') }).toEqual({
      rows: row ? [row] : [],
      counted: 1,
    });
  });
});
