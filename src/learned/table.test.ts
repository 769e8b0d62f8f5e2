import { origination } from '../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import type { CarrierName, LearnedOf } from '../model/advertisement.ts';
import { prefix } from '../model/prefix.ts';
import { changesText, fixture, flagged, plain } from './table.fixture.ts';

const H1 = '2001:db8:1::10';

describe('longest match', () => {
  test('PNC-5-b: an advertised prefix maps its senders to the proxy', () => {
    const { table, report } = fixture();
    report('cnpd1', [flagged('2001:db8:1::/64', '2001:db8:ffff::1')]);
    expect(table.lookup(address(H1))).toEqual({
      prefix: prefix('2001:db8:1::/64'),
      proxy: address('2001:db8:ffff::1'),
      carrier: 'isis',
      originator: 'cnpd1',
    });
    expect(table.lookup(address('2001:db8:2::10'))).toBeUndefined();
  });

  test('PNC-5-c: the longest prefix decides, whichever carrier reported it', () => {
    const { report, proxyOf } = fixture();
    report('cnpd1', [flagged('2001:db8::/32', '2001:db8:ffff::1')]);
    report('peer', [flagged('2001:db8:1::/48', '2001:db8:ffff::2')], 'bgp');
    expect([proxyOf(H1), proxyOf('2001:db8:2::1')]).toEqual(['2001:db8:ffff::2', '2001:db8:ffff::1']);
  });

  test('PNC-5-c: an unflagged longest match means no proxy (D5)', () => {
    const { report, proxyOf } = fixture();
    report('cnpd1', [flagged('2001:db8::/32', '2001:db8:ffff::1')]);
    report('leaf2', [plain('2001:db8:1::/64')]);
    expect(proxyOf(H1)).toBeNull();
  });

  test('the same prefix from FRR without the flag, at any metric, does not compete with the flagged one', () => {
    const { table, report, proxyOf } = fixture();
    report('leaf1', [plain('2001:db8:1::/64', 10)]);
    report('cnpd1', [flagged('2001:db8:1::/64', '2001:db8:ffff::1', 0xfe000001)]);
    expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
    expect(table.entries().map((e) => [e.originator, e.best])).toEqual([
      ['cnpd1', true],
      ['leaf1', false],
    ]);
  });

  test('a flagged ::/0 does not answer for IPv4 senders', () => {
    const { table, report, proxyOf } = fixture();
    report('cnpd1', [flagged('::/0', '2001:db8:ffff::1')]);
    expect([proxyOf(H1), proxyOf('10.0.0.1')]).toEqual(['2001:db8:ffff::1', undefined]);
    // In the dataplane's map IPv4 lies inside IPv6, so this needs an entry.
    expect(changesText(table.takeChanges())).toEqual({
      upserts: ['0.0.0.0/0 none', '::/0 2001:db8:ffff::1'],
      deletes: [],
    });
    report('cnpd1', []);
    expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: ['::/0', '0.0.0.0/0'] });
  });

  test('an IPv6 prefix of IPv4-mapped addresses is refused and counted', () => {
    const { table, counts, report } = fixture();
    report('cnpd1', [flagged('::ffff:10.0.0.0/104', '2001:db8:ffff::1')]);
    expect(table.takeChanges().upserts).toEqual([]);
    expect(counts.get('learned.prefix.invalid')).toBe(1);
    expect(table.lookup(address('::ffff:10.0.0.1'))).toBeUndefined();
  });
});

describe('several proxies for one prefix (D7)', () => {
  test.each<
    readonly [
      claim: string,
      a: readonly [string, string, number, CarrierName],
      b: readonly [string, string, number, CarrierName],
    ]
  >([
    ['the lower metric', ['cnpd2', '2001:db8:ffff::2', 5, 'isis'], ['cnpd1', '2001:db8:ffff::1', 6, 'isis']],
    [
      'at equal metric the lower proxy address',
      ['cnpd2', '2001:db8:ffff::1', 5, 'isis'],
      ['cnpd1', '2001:db8:ffff::2', 5, 'isis'],
    ],
    [
      'addresses are compared as numbers',
      ['cnpd2', '2001:db8:ffff::9', 5, 'isis'],
      ['cnpd1', '2001:db8:ffff::10', 5, 'isis'],
    ],
    [
      'the IGP before BGP, whatever the metric',
      ['cnpd1', '2001:db8:ffff::2', 0xfe000001, 'isis'],
      ['peer', '2001:db8:ffff::1', 0, 'bgp'],
    ],
  ])('%s wins, in either order of arrival', (_claim, winner, loser) => {
    for (const order of [
      [winner, loser],
      [loser, winner],
    ]) {
      const { report, proxyOf } = fixture();
      for (const [originator, proxy, metric, carrier] of order)
        report(originator, [flagged('2001:db8:1::/64', proxy, metric)], carrier);
      expect(proxyOf(H1)).toBe(winner[1]);
    }
  });

  test('in BGP the proxy of the path that routing uses wins, whatever the metric or address of others; theirs count if it names none', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { report, proxyOf } = fixture();
      const paths = [
        () => report('peer', [flagged('2001:db8:1::/64', '2001:db8:ffff::9', 7)], 'bgp', 1),
        () => report('peer', [{ ...flagged('2001:db8:1::/64', '2001:db8:ffff::1', 0), second: true }], 'bgp', 2),
      ];
      for (const i of order) paths[i]!();
      expect(proxyOf(H1)).toBe('2001:db8:ffff::9');
      report('peer', [plain('2001:db8:1::/64', 7)], 'bgp', 1);
      expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
      report('peer', [{ ...flagged('2001:db8:1::/64', '2001:db8:ffff::9', 7), second: true }], 'bgp', 1);
      report('peer', [flagged('2001:db8:1::/64', '2001:db8:ffff::1', 9)], 'bgp', 2);
      expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
    }
  });

  test('a reachable proxy is preferred to a held one', () => {
    const { reach, report, proxyOf } = fixture();
    report('cnpd1', [flagged('2001:db8:1::/64', '2001:db8:ffff::1', 1)]);
    report('cnpd2', [flagged('2001:db8:1::/64', '2001:db8:ffff::2', 2)]);
    reach(['cnpd2']);
    expect(proxyOf(H1)).toBe('2001:db8:ffff::2');
    reach(['cnpd1', 'cnpd2']);
    expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
  });

  test('a held proxy is preferred to the unflagged advertisement of the router beside it', () => {
    const { reach, report, proxyOf } = fixture();
    report('leaf1', [plain('2001:db8:1::/64')]);
    report('cnpd1', [flagged('2001:db8:1::/64', '2001:db8:ffff::1')]);
    reach(['leaf1']);
    expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
  });

  test('a fragment that contradicts itself is counted, and its lower metric wins', () => {
    const { counts, report, proxyOf } = fixture();
    report('cnpd1', [
      flagged('2001:db8:1::/64', '2001:db8:ffff::2', 9),
      flagged('2001:db8:1::/64', '2001:db8:ffff::1', 3),
      flagged('2001:db8:1::/64', '2001:db8:ffff::3', 5),
    ]);
    expect(proxyOf(H1)).toBe('2001:db8:ffff::1');
    expect(counts.get('learned.prefix.duplicate')).toBe(2);
  });
});

describe('a flag without a usable address', () => {
  test.each([
    ['ff02::1', 'multicast'],
    ['fe80::1', 'link-local'],
    ['::1', 'loopback'],
    ['::', 'unspecified'],
    ['::ffff:10.0.0.1', 'ipv4-mapped'],
    ['127.0.0.1', 'loopback'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['0.0.0.0', 'unspecified'],
    ['169.254.1.1', 'link-local'],
    ['240.0.0.1', 'reserved'],
  ])('%s is counted as %s and means no proxy', (bad, use) => {
    const { table, counts, report, proxyOf } = fixture();
    report('cnpd1', [flagged('2001:db8::/32', '2001:db8:ffff::1'), flagged('2001:db8:1::/64', bad)]);
    expect(proxyOf(H1)).toBeNull();
    expect([...counts]).toEqual([[`learned.proxy.${use}`, 1]]);
    expect(table.entries().find((e) => e.prefix === '2001:db8:1::/64')).toMatchObject({ pnc: true, proxy: null });
  });

  describe.each(['isis', 'ospfv2', 'ospfv3', 'bgp'] as const)('%s', (carrier) => {
    test.each([
      ['fe80::/64', 'link-local', 'fe80::1'],
      ['ff0e::/16', 'multicast', 'ff0e::1'],
      ['::1/128', 'loopback', '::1'],
      ['::/128', 'unspecified', '::'],
      ['::/127', 'loopback', '::1'],
      ['169.254.89.0/31', 'link-local', '169.254.89.1'],
      ['224.0.0.0/24', 'multicast', '224.0.0.5'],
      ['127.0.0.0/8', 'loopback', '127.0.0.1'],
      ['0.0.0.0/32', 'unspecified', '0.0.0.0'],
      ['255.255.255.255/32', 'broadcast', '255.255.255.255'],
    ])('no sender is in %s: counted as %s once, and it has no proxy', (text, use, inside) => {
      const { table, counts, reach, report, proxyOf } = fixture();
      reach(['cnpd1'], carrier);
      for (let refresh = 0; refresh < 2; refresh++)
        report('cnpd1', [flagged(text, '2001:db8:ffff::1'), flagged('2001:db8:1::/64', '2001:db8:ffff::1')], carrier);
      expect({ inside: proxyOf(inside), h1: proxyOf(H1) }).toEqual({ inside: null, h1: '2001:db8:ffff::1' });
      expect([...counts]).toEqual([[`learned.prefix.${use}`, 1]]);
      expect(table.takeChanges().upserts.filter(({ proxy }) => proxy !== null)).toHaveLength(1);
    });
  });

  test.each(['0.0.0.0/0', '::/0', '128.0.0.0/1', '240.0.0.0/24', 'fc00::/7', '::/3'])(
    '%s merely contains such addresses, or none: its proxy is used',
    (text) => {
      const { counts, report, proxyOf } = fixture();
      report('cnpd1', [flagged(text, '2001:db8:ffff::1')]);
      expect({
        proxyOf: proxyOf(
          {
            '0.0.0.0/0': '10.0.0.1',
            '::/0': H1,
            '128.0.0.0/1': '192.0.2.1',
            '240.0.0.0/24': '240.0.0.1',
            'fc00::/7': 'fd00::1',
            '::/3': '64:ff9b::1',
          }[text]!,
        ),
        countsSize: counts.size,
      }).toEqual({ proxyOf: '2001:db8:ffff::1', countsSize: 0 });
    },
  );

  test('an unflagged prefix there, as every router with cnpd on OSPFv2 has, is not counted', () => {
    const { counts, report } = fixture();
    report('cnpd1', [plain('169.254.89.0/31')]);
    expect(counts.size).toBe(0);
  });

  test('a missing address is counted once, not at every refresh', () => {
    const { counts, report, proxyOf } = fixture();
    for (let i = 0; i < 3; i++)
      report('cnpd1', [{ kind: 'sender-prefix', prefix: prefix('2001:db8:1::/64'), pnc: true, metric: 1 }]);
    expect(proxyOf(H1)).toBeNull();
    expect(counts.get('learned.proxy.missing')).toBe(1);
  });

  test('a flag that is set and cleared without an address is shown, and changes no answer', () => {
    const { table, report, proxyOf } = fixture();
    const shown = [false, true, false].map(
      (pnc) => (
        report('cnpd1', [{ kind: 'sender-prefix', prefix: prefix('2001:db8:1::/64'), pnc, metric: 1 }]),
        [table.entries()[0]!.pnc, proxyOf(H1)]
      ),
    );
    expect(shown).toEqual([
      [false, null],
      [true, null],
      [false, null],
    ]);
  });

  test('an address without the flag is no proxy', () => {
    const { report, proxyOf } = fixture();
    report('cnpd1', [{ ...flagged('2001:db8:1::/64', '2001:db8:ffff::1'), pnc: false }]);
    expect(proxyOf(H1)).toBeNull();
  });
});

describe('reports', () => {
  test('a report replaces only the previous report of its source', () => {
    const { report, proxyOf } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1'), flagged('10.2.0.0/16', '192.0.2.1')], 'isis', 0);
    report('cnpd1', [flagged('10.3.0.0/16', '192.0.2.1')], 'isis', 1);
    report('cnpd1', [flagged('10.2.0.0/16', '192.0.2.2')], 'isis', 0);
    expect(['10.1.0.1', '10.2.0.1', '10.3.0.1'].map(proxyOf)).toEqual([undefined, '192.0.2.2', '192.0.2.1']);
  });

  test('an empty report withdraws the source at once', () => {
    const { table, report, proxyOf } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.takeChanges();
    report('cnpd1', []);
    expect(proxyOf('10.1.0.1')).toBeUndefined();
    expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: ['10.1.0.0/16'] });
  });

  test('`since` survives a refresh without changes, and no other', () => {
    const { clock, table, report } = fixture();
    const since = (): string => table.entries()[0]!.since;
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1', 7)]);
    const first = since();
    clock.now += 900_000;
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1', 7), plain('10.9.0.0/16')]);
    expect(since()).toBe(first);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1', 8)]);
    expect(Date.parse(since()) - Date.parse(first)).toBe(900_000);
  });

  test('`since` survives a refresh of prefixes of several proxies; any change of an advertisement resets it', () => {
    const { clock, table, report } = fixture();
    const [own, other] = [flagged('10.2.0.0/16', '192.0.2.2', 7), flagged('10.1.0.0/16', '192.0.2.1', 7)];
    const variants: LearnedOf<'sender-prefix'>[] = [
      { ...other, pnc: false },
      { ...other, metric: 8 },
      { ...other, second: true },
      { ...other, proxy: address('192.0.2.3') },
      { ...plain('10.1.0.0/16', 7), prefix: other.prefix, pnc: true },
    ];
    for (const variant of [undefined, ...variants]) {
      report('cnpd1', [own, other]);
      const first = table.entries().map((e) => e.since);
      clock.now += 1000;
      report('cnpd1', [own, variant ?? { ...other, proxy: address('192.0.2.1') }]);
      expect(
        table.entries().map((e, i) => e.since === first[i]),
        JSON.stringify(variant?.metric),
      ).toEqual([variant === undefined, true]);
      if (variant) expect(table.entries()[0]).toMatchObject({ pnc: variant.pnc, metric: variant.metric });
      clock.now += 1000;
    }
  });

  test('an address that is added to a flag is used at once, and a removed one is not', () => {
    const { report, proxyOf } = fixture();
    const bare: LearnedOf<'sender-prefix'> = {
      kind: 'sender-prefix',
      prefix: prefix('10.1.0.0/16'),
      pnc: true,
      metric: 1,
    };
    const seen = [bare, flagged('10.1.0.0/16', '192.0.2.1', 1), bare].map(
      (p) => (report('cnpd1', [p]), proxyOf('10.1.0.1')),
    );
    expect(seen).toEqual([null, '192.0.2.1', null]);
  });

  test('a refresh without changes changes nothing in the dataplane', () => {
    const { table, report } = fixture();
    const prefixes = [flagged('10.1.0.0/16', '192.0.2.1'), plain('10.1.1.0/24')];
    report('cnpd1', prefixes);
    table.takeChanges();
    report(
      'cnpd1',
      prefixes.map((p) => ({ ...p })),
    );
    expect(table.pending).toBe(false);
  });

  test('a source that moves to another originator takes its prefixes along', () => {
    const { table, report, proxyOf } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.learned({
      carrier: 'isis',
      source: 'cnpd1.00-0',
      originator: 'nobody-reached',
      advertisements: [flagged('10.1.0.0/16', '192.0.2.1')],
    });
    expect(proxyOf('10.1.0.1')).toBeUndefined();
    expect(table.sizes()).toMatchObject({ originators: 1, dormant: 1, advertisements: 1, proxies4: 0 });
  });

  test('host bits and impossible lengths in a report are tolerated', () => {
    const { counts, report, proxyOf } = fixture();
    report('cnpd1', [
      { ...flagged('10.1.0.0/16', '192.0.2.1'), prefix: { address: address('10.1.2.3'), length: 16 } },
      { ...flagged('10.1.0.0/16', '192.0.2.9'), prefix: { address: address('10.1.2.3'), length: 99 } },
    ]);
    expect(proxyOf('10.1.9.9')).toBe('192.0.2.1');
    expect(counts.get('learned.prefix.invalid')).toBe(1);
  });

  test('own declarations are found too, and are preferred', () => {
    const { table, report, proxyOf } = fixture();
    report('cnpd2', [flagged('10.1.0.0/16', '192.0.2.9', 1)]);
    table.declareOwn(origination({ proxies: [{ prefix: prefix('10.1.0.0/16'), proxy: address('192.0.2.1') }] }));
    expect(proxyOf('10.1.0.1')).toBe('192.0.2.1');
    expect(table.entries()[0]).toMatchObject({ carrier: 'local', best: true, metric: 0 });
    table.declareOwn([]);
    expect(proxyOf('10.1.0.1')).toBe('192.0.2.9');
  });
});

describe('changes for the dataplane', () => {
  test('an unflagged prefix appears only below a flagged one, before it', () => {
    const { table, report } = fixture();
    report('leaf1', [plain('10.0.0.0/8'), plain('10.1.1.0/24'), plain('10.1.1.1/32'), plain('10.2.0.0/16')]);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    expect(changesText(table.takeChanges())).toEqual({
      upserts: ['10.1.1.0/24 none', '10.1.0.0/16 192.0.2.1'],
      deletes: [],
    });
    report('cnpd1', []);
    expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: ['10.1.0.0/16', '10.1.1.0/24'] });
  });

  test('a change and its reverse between two takes cancel out', () => {
    const { table, report } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.takeChanges();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.2')]);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: [] });
  });

  test('a limit cuts a flood into slices', () => {
    const { table, report } = fixture();
    report(
      'cnpd1',
      Array.from({ length: 10 }, (_, i) => flagged(`10.${i}.0.0/16`, '192.0.2.1')),
    );
    const sizes: number[] = [];
    for (let more = true; more;) {
      const changes = table.takeChanges(4);
      sizes.push(changes.upserts.length);
      more = changes.more;
    }
    expect(sizes).toEqual([4, 4, 2]);
  });

  test('many originators of one prefix, added and removed one by one, cost n log n comparisons, not n²', () => {
    const { table, reach } = fixture();
    const many = 4000;
    const name = (i: number): string => `r${i}`;
    reach(Array.from({ length: many }, (_, i) => name(i)));
    let looks = 0;
    // The address decides among advertisements that are else alike. Each that comes is preferred to all before, and
    // each that goes is the preferred one.
    const proxy = (i: number): IpAddress => {
      const { value } = address(`2001:db8::1:${(many - i).toString(16)}`);
      return {
        family: 6,
        get value() {
          looks++;
          return value;
        },
      };
    };
    const say = (i: number, prefixes: LearnedOf<'sender-prefix'>[]): void => {
      table.learned({ carrier: 'isis', source: name(i), originator: name(i), advertisements: prefixes });
      table.takeChanges();
    };
    for (let i = 0; i < many; i++) say(i, [{ ...plain('::/0'), pnc: true, proxy: proxy(i) }]);
    expect(table.lookup(address('2001:db8:7::1'))?.originator).toBe(name(many - 1));
    for (let i = many - 1; i >= many / 2; i--) {
      say(i, []);
      expect(table.lookup(address('2001:db8:7::1'))?.originator).toBe(name(i - 1));
    }
    // A look at all of them each time would be twelve million.
    expect(looks).toBeLessThan(many * 12 * 20);
    reach([name(7), name(9)]);
    table.tick(Infinity);
    expect(table.lookup(address('2001:db8:7::1'))?.originator).toBe(name(9));
    for (let i = 0; i < many / 2; i++) say(i, []);
    expect(table.lookup(address('2001:db8:7::1'))).toBeUndefined();
    expect(table.sizes().advertisements).toBe(0);
  });

  test('one changed prefix among 10,000 touches one entry', () => {
    const { table, report } = fixture();
    const fragment = (i: number, metric: number): void =>
      report(
        'cnpd1',
        Array.from({ length: 100 }, (_, j) =>
          flagged(`2001:db8:${i}:${j}::/64`, '2001:db8:ffff::1', j === 7 ? metric : 1),
        ),
        'isis',
        i,
      );
    for (let i = 0; i < 100; i++) fragment(i, 1);
    expect(table.takeChanges().upserts).toHaveLength(10_000);
    report('cnpd1', [flagged('2001:db8:42:7::/64', '2001:db8:ffff::2')], 'isis', 4242);
    fragment(42, 0xfe000002);
    expect(changesText(table.takeChanges())).toEqual({ upserts: ['2001:db8:42:7::/64 2001:db8:ffff::2'], deletes: [] });
  });
});

test('entries have the form that the northbound shows', () => {
  const { clock, wallOf, table, report } = fixture();
  report('cnpd1', [flagged('2001:db8:1::/64', '2001:db8:ffff::1', 4261412865), plain('10.0.0.0/8', 20)]);
  const common = {
    carrier: 'isis',
    originator: 'cnpd1',
    source: 'cnpd1.00-0',
    since: new Date(wallOf(clock.now)).toISOString(),
    best: true,
  };
  expect(table.entries()).toEqual([
    { ...common, prefix: '10.0.0.0/8', proxy: null, pnc: false, metric: 20 },
    { ...common, prefix: '2001:db8:1::/64', proxy: '2001:db8:ffff::1', pnc: true, metric: 4261412865 },
  ]);
  expect(table.sizes()).toEqual({
    advertisements: 2,
    proxies4: 0,
    proxies6: 1,
    sids: 0,
    routerAddresses: 0,
    originators: 1,
    held: 0,
    dormant: 0,
  });
});
