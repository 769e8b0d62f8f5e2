// SIDs and router addresses in the learned table.
import { reported } from '../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { type IpAddress, address, formatAddress } from '../model/address.ts';
import type { CarrierName, LearnedOf } from '../model/advertisement.ts';
import { fixture, flagged } from './table.fixture.ts';
import type { Source } from './preference.ts';
import { LearnedRouters } from './routers.ts';

const END_CON = 32770;
const sid = (text: string, behavior = END_CON): LearnedOf<'sid'> => ({
  kind: 'sid',
  sid: address(text),
  behavior,
});

function routers(holdMs?: number) {
  const scene = fixture(holdMs);
  const { table } = scene;
  const say = (
    originator: string,
    sids: LearnedOf<'sid'>[],
    addresses: string[] = [],
    carrier: CarrierName = 'isis',
    fragment = 0,
  ): void =>
    table.learned({
      carrier,
      originator,
      source: `${originator}.00-${fragment}`,
      advertisements: reported({ sids, routerAddresses: addresses.map(address) }),
    });
  const shown = (behavior = END_CON): string[] =>
    table.routers
      .sidsOf(behavior)
      .map((s) => `${formatAddress(s.sid)} ${s.carrier} ${s.originator}${s.heldUntil ? ' held' : ''}`);
  const probed = (): string[] => table.routers.routerAddresses().map(formatAddress);
  return { ...scene, say, shown, probed };
}

describe('END.CON SIDs', () => {
  test('FCN-4.2.2-a: SIDs with the configured behavior count, in address order, until their source withdraws them', () => {
    const { table, say, shown } = routers();
    say('cnpd2', [sid('2001:db8:d::1')]);
    say('cnpd1', [sid('2001:db8:c::1'), sid('2001:db8:c::2', 18)]);
    expect(shown()).toEqual(['2001:db8:c::1 isis cnpd1', '2001:db8:d::1 isis cnpd2']);
    expect(shown(18)).toEqual(['2001:db8:c::2 isis cnpd1']);
    expect({ first: table.routers.takeChanged(), again: table.routers.takeChanged() }).toEqual({
      first: true,
      again: false,
    });
    say('cnpd1', [sid('2001:db8:c::3')]);
    expect(shown()).toEqual(['2001:db8:c::3 isis cnpd1', '2001:db8:d::1 isis cnpd2']);
    say('cnpd1', []);
    expect(shown()).toEqual(['2001:db8:d::1 isis cnpd2']);
    expect(table.sizes()).toMatchObject({ sids: 1, originators: 1 });
  });

  test('a repeated report is no change; nor are prefixes alone', () => {
    const { table, say, report } = routers();
    say('cnpd1', [sid('2001:db8:c::1')], ['2001:db8:ffff::1']);
    table.routers.takeChanged();
    say('cnpd1', [sid('2001:db8:c::1')], ['2001:db8:ffff::1']);
    report('cnpd2', [flagged('10.1.0.0/16', '192.0.2.1')]);
    expect(table.routers.takeChanged()).toBe(false);
  });

  test('another behavior, one address more or less, or another originator is a change', () => {
    const { table, say, reach, report } = routers();
    const changed = (act: () => void): boolean => (act(), table.routers.takeChanged());
    const move = (originator: string): void =>
      table.learned({
        carrier: 'isis',
        originator,
        source: 'cnpd1.00-0',
        advertisements: reported({ sids: [sid('2001:db8:c::1', 18)], routerAddresses: [address('192.0.2.1')] }),
      });
    expect([
      changed(() => reach(['cnpd1', 'cnpd2'])),
      changed(() => report('cnpd2', [flagged('10.1.0.0/16', '192.0.2.1')])),
    ]).toEqual([false, false]);
    expect(changed(() => say('cnpd1', [sid('2001:db8:c::1')]))).toBe(true);
    expect(changed(() => say('cnpd1', [sid('2001:db8:c::1', 18)]))).toBe(true);
    expect(changed(() => say('cnpd1', [sid('2001:db8:c::1', 18)], ['192.0.2.1']))).toBe(true);
    expect(changed(() => move('cnpd2'))).toBe(true);
    expect(changed(() => move('cnpd2'))).toBe(false);
    expect(changed(() => reach([]))).toBe(true);
    expect(changed(() => say('cnpd2', [], []))).toBe(false);
  });

  test('prefixes and SIDs of one source are added and removed separately', () => {
    const { table, proxyOf, shown } = routers();
    const both = { carrier: 'isis', originator: 'cnpd1', source: 'cnpd1.00-1' } as const;
    table.learned({ ...both, advertisements: [flagged('10.1.0.0/16', '192.0.2.1'), sid('2001:db8:c::1')] });
    expect({ proxyOf: proxyOf('10.1.0.1'), shown: shown() }).toEqual({
      proxyOf: '192.0.2.1',
      shown: ['2001:db8:c::1 isis cnpd1'],
    });
    table.learned({ ...both, advertisements: [sid('2001:db8:c::1')] });
    expect({ proxyOf: proxyOf('10.1.0.1'), shown: shown() }).toEqual({
      proxyOf: undefined,
      shown: ['2001:db8:c::1 isis cnpd1'],
    });
    table.learned({ ...both, advertisements: [flagged('10.1.0.0/16', '192.0.2.1')] });
    expect({ proxyOf: proxyOf('10.1.0.1'), shown: shown() }).toEqual({ proxyOf: '192.0.2.1', shown: [] });
    table.learned({ ...both, advertisements: [] });
    expect(table.sizes()).toMatchObject({ sids: 0, originators: 0, advertisements: 0 });
  });

  test('the SIDs of a lost originator count for the hold time, and again when it returns', () => {
    const { clock, table, reach, say, shown, wallOf } = routers(120_000);
    say('cnpd1', [sid('2001:db8:c::1')]);
    table.routers.takeChanged();
    reach([]);
    expect({ takeChanged: table.routers.takeChanged(), shown: shown() }).toEqual({
      takeChanged: true,
      shown: ['2001:db8:c::1 isis cnpd1 held'],
    });
    expect(table.routers.sidsOf(END_CON)[0]!.heldUntil).toBe(new Date(wallOf(clock.now + 120_000)).toISOString());
    expect(table.nextDeadline()).toBe(clock.now + 120_000);
    clock.now += 120_000;
    table.tick();
    expect({ takeChanged: table.routers.takeChanged(), shown: shown() }).toEqual({ takeChanged: true, shown: [] });
    reach(['cnpd1']);
    expect({ takeChanged: table.routers.takeChanged(), shown: shown() }).toEqual({
      takeChanged: true,
      shown: ['2001:db8:c::1 isis cnpd1'],
    });
  });

  test('the SID of an originator that was never reachable does not count', () => {
    const { say, shown } = routers();
    say('stranger', [sid('2001:db8:c::1')]);
    expect(shown()).toEqual([]);
  });

  test('a SID from several originators is listed once, under a reachable one', () => {
    const { reach, say, shown } = routers();
    say('cnpd1', [sid('2001:db8:c::1')]);
    say('cnpd2', [sid('2001:db8:c::1')]);
    say('peer', [sid('2001:db8:c::1')], [], 'bgp');
    expect(shown()).toEqual(['2001:db8:c::1 isis cnpd1']);
    reach(['cnpd2']);
    expect(shown()).toEqual(['2001:db8:c::1 isis cnpd2']);
    reach([]);
    expect(shown()).toEqual(['2001:db8:c::1 bgp peer']);
  });

  test('addresses that cannot be a host’s are refused and counted', () => {
    const { counts, say, shown, probed } = routers();
    say(
      'cnpd1',
      ['ff02::1', '::', '::1', 'fe80::1', '2001:db8:c::1'].map((text) => sid(text)),
      ['127.0.0.1', '2001:db8:ffff::1'],
    );
    expect({ shown: shown(), probed: probed() }).toEqual({
      shown: ['2001:db8:c::1 isis cnpd1'],
      probed: ['2001:db8:ffff::1'],
    });
    expect({
      learnedSidUnusable: counts.get('learned.sid.unusable'),
      learnedRouterAddressUnusable: counts.get('learned.router-address.unusable'),
    }).toEqual({ learnedSidUnusable: 4, learnedRouterAddressUnusable: 1 });
  });
});

test('router addresses: each once, only of reachable originators', () => {
  const { reach, say, probed } = routers();
  say('cnpd1', [], ['192.0.2.1', '2001:db8:ffff::1']);
  say('leaf1', [], ['192.0.2.1']);
  say('cnpd2', [], ['2001:db8:ffff::2']);
  expect(probed()).toEqual(['192.0.2.1', '2001:db8:ffff::1', '2001:db8:ffff::2']);
  reach(['leaf1', 'cnpd2']);
  expect(probed()).toEqual(['192.0.2.1', '2001:db8:ffff::2']);
});

test('the tables are bounded: entries beyond the limit are counted, and freed space is used', () => {
  const counts = new Map<string, number>();
  const table = new LearnedRouters(
    { count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by), wallOffset: () => 0 },
    3,
  );
  const source = (name: string): Source => {
    const originator: Source['originator'] = {
      carrier: 'isis',
      name,
      reachability: 'reachable',
      heldUntil: 0,
      sources: [],
    };
    return { name, place: 0, originator, advertisements: undefined, routers: [] };
  };
  const many = (from: number, count: number): LearnedOf<'sid'>[] =>
    Array.from({ length: count }, (_, i) => sid(`2001:db8:c::${from + i}`));
  const [a, b] = [source('a'), source('b')];
  table.replace(a, many(1, 2));
  table.replace(b, many(5, 4));
  expect({
    sids: table.sizes.sids,
    endConSidsLength: table.sidsOf(END_CON).length,
    learnedSidTableFull: counts.get('learned.sid.table-full'),
  }).toEqual({ sids: 3, endConSidsLength: 3, learnedSidTableFull: 3 });
  const addresses = (from: number, count: number): IpAddress[] =>
    Array.from({ length: count }, (_, i) => address(`192.0.2.${from + i}`));
  const addressesOf = (all: IpAddress[]) => all.map((one) => ({ kind: 'router-address', address: one }) as const);
  table.replace(a, [...many(1, 2), ...addressesOf(addresses(1, 3))]);
  table.replace(b, [...many(5, 4), ...addressesOf(addresses(7, 2))]);
  expect({
    size: table.sizes.routerAddresses,
    routerAddresses: table.routerAddresses(),
    tableFull: counts.get('learned.router-address.table-full'),
  }).toEqual({ size: 3, routerAddresses: addresses(1, 3), tableFull: 2 });
  counts.set('learned.sid.table-full', 3);
  table.replace(a, []);
  table.replace(b, many(5, 3));
  expect({ sids: table.sizes.sids, learnedSidTableFull: counts.get('learned.sid.table-full') }).toEqual({
    sids: 3,
    learnedSidTableFull: 3,
  });
});

test('an advertisement of a kind without a store is counted; the rest of its report is used', () => {
  const { table, counts, shown, proxyOf } = routers();
  const stranger = { kind: 'color' } as unknown as LearnedOf<'sid'>;
  table.learned({
    carrier: 'isis',
    originator: 'cnpd1',
    source: 'cnpd1.00-1',
    advertisements: [stranger, sid('2001:db8:c::1'), flagged('10.1.0.0/16', '192.0.2.1')],
  });
  expect(counts.get('learned.kind.unknown')).toBe(1);
  expect({ proxyOf: proxyOf('10.1.0.1'), shown: shown() }).toEqual({
    proxyOf: '192.0.2.1',
    shown: ['2001:db8:c::1 isis cnpd1'],
  });
  expect(table.sizes()).toMatchObject({ advertisements: 1, sids: 1, routerAddresses: 0 });
});

describe('all SIDs', () => {
  test('are listed with behavior, carrier and originator: held ones too, a repeated one once, in address order', () => {
    const { table, say, reach, clock, wallOf } = routers(1000);
    say('cnpd2', [sid('2001:db8:d::1', 7)]);
    say('cnpd1', [sid('2001:db8:c::1'), sid('2001:db8:c::2', 18)]);
    say('cnpd1', [sid('2001:db8:c::2', 18)], [], 'isis', 1);
    say('cnpd2', [sid('2001:db8:c::2', 18)], [], 'isis', 1);
    say('peer', [sid('2001:db8:c::2', 18)], [], 'bgp');
    const listed = (): string[] =>
      table.routers
        .sids()
        .map((s) => `${formatAddress(s.sid)} ${s.behavior} ${s.carrier} ${s.originator} ${s.heldUntil ?? ''}`.trim());
    expect(listed()).toEqual([
      `2001:db8:c::1 ${END_CON} isis cnpd1`,
      '2001:db8:c::2 18 isis cnpd1',
      '2001:db8:c::2 18 isis cnpd2',
      '2001:db8:c::2 18 bgp peer',
      '2001:db8:d::1 7 isis cnpd2',
    ]);
    reach(['cnpd2']);
    const until = new Date(wallOf(clock.now + 1000)).toISOString();
    expect(listed().filter((text) => text.includes('cnpd1'))).toEqual([
      `2001:db8:c::1 ${END_CON} isis cnpd1 ${until}`,
      `2001:db8:c::2 18 isis cnpd1 ${until}`,
    ]);
    clock.now += 1000;
    table.tick();
    expect(listed().filter((text) => text.includes('cnpd1'))).toEqual([]);
  });
});
