import { describe, expect, test } from 'vitest';
import { changesText, fixture, flagged } from './table.fixture.ts';

describe('reachability of the originator', () => {
  test('an originator counts from the moment it is reachable, not before', () => {
    const { table, reach, report, proxyOf } = fixture();
    report('stranger', [flagged('10.1.0.0/16', '192.0.2.1')]);
    expect({ proxyOf: proxyOf('10.1.0.1'), table: table.entries(), nextDeadline: table.nextDeadline() }).toEqual({
      proxyOf: undefined,
      table: [],
      nextDeadline: undefined,
    });
    reach(['stranger']);
    expect(proxyOf('10.1.0.1')).toBe('192.0.2.1');
  });

  test('a lost originator is held for the hold time, then dropped', () => {
    const { clock, wallOf, table, reach, report, proxyOf } = fixture(120_000);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.takeChanges();
    reach([]);
    expect(table.nextDeadline()).toBe(clock.now + 120_000);
    expect(table.entries()[0]!.heldUntil).toBe(new Date(wallOf(clock.now + 120_000)).toISOString());
    clock.now += 119_999;
    expect({
      tick: table.tick(clock.now),
      proxyOf: proxyOf('10.1.0.1'),
      changesText: changesText(table.takeChanges()),
    }).toEqual({ tick: false, proxyOf: '192.0.2.1', changesText: { upserts: [], deletes: [] } });
    clock.now += 1;
    expect({
      tick: table.tick(clock.now),
      proxyOf: proxyOf('10.1.0.1'),
      changesText: changesText(table.takeChanges()),
    }).toEqual({ tick: true, proxyOf: undefined, changesText: { upserts: [], deletes: ['10.1.0.0/16'] } });
    expect({ tick: table.tick(clock.now), nextDeadline: table.nextDeadline(), table: table.entries() }).toEqual({
      tick: false,
      nextDeadline: undefined,
      table: [],
    });
  });

  test('without a hold time a lost originator stops counting at once, and there is no deadline', () => {
    const { table, reach, report, proxyOf } = fixture(0);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.takeChanges();
    reach([]);
    expect({
      proxyOf: proxyOf('10.1.0.1'),
      nextDeadline: table.nextDeadline(),
      held: table.sizes().held,
      dormant: table.sizes().dormant,
    }).toEqual({ proxyOf: undefined, nextDeadline: undefined, held: 0, dormant: 1 });
    expect(changesText(table.takeChanges())).toEqual({ upserts: [], deletes: ['10.1.0.0/16'] });
    reach(['cnpd1']);
    expect(proxyOf('10.1.0.1')).toBe('192.0.2.1');
  });

  test('an originator that returns in time keeps its entries; `since` survives', () => {
    const { clock, table, reach, report } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.takeChanges();
    const before = table.entries();
    reach([]);
    clock.now += 60_000;
    reach(['cnpd1']);
    clock.now += 120_000;
    expect({ tick: table.tick(), changesText: changesText(table.takeChanges()), table: table.entries() }).toEqual({
      tick: false,
      changesText: { upserts: [], deletes: [] },
      table: before,
    });
  });

  test('an originator that returns after the drop counts again without a new report; `since` is the return', () => {
    const { clock, wallOf, table, reach, report } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    reach([]);
    clock.now += 120_000;
    table.tick();
    clock.now += 5000;
    reach(['cnpd1']);
    expect(table.entries()).toMatchObject([{ proxy: '192.0.2.1', since: new Date(wallOf(clock.now)).toISOString() }]);
  });

  test('the hold time runs from the loss, not from later reports of it', () => {
    const { clock, table, reach, report } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    reach([]);
    const deadline = table.nextDeadline();
    clock.now += 50_000;
    reach([]);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.2')]);
    expect(table.nextDeadline()).toBe(deadline);
  });

  test('carriers lose their originators separately', () => {
    const { reach, report, proxyOf, table } = fixture(0);
    report('peer', [flagged('10.1.0.0/16', '192.0.2.1')], 'bgp');
    report('cnpd1', [flagged('10.2.0.0/16', '192.0.2.1')]);
    reach([], 'bgp');
    table.tick();
    expect(['10.1.0.1', '10.2.0.1'].map(proxyOf)).toEqual([undefined, '192.0.2.1']);
  });

  test('a withdrawn source leaves no deadline behind', () => {
    const { table, reach, report } = fixture();
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    reach([]);
    report('cnpd1', []);
    expect({ nextDeadline: table.nextDeadline(), originators: table.sizes().originators }).toEqual({
      nextDeadline: undefined,
      originators: 0,
    });
  });

  test('the deadline is the earliest end of all holds, also after one has ended, returned or been withdrawn', () => {
    const { clock, table, reach, report } = fixture(120_000);
    const names = ['a', 'b', 'c', 'd'];
    for (const [i, name] of names.entries()) report(name, [flagged(`10.${i}.0.0/16`, '192.0.2.1')]);
    reach(names);
    const start = clock.now;
    for (const lost of [1, 2, 3, 4]) {
      clock.now = start + lost * 1000;
      reach(names.slice(lost));
    }
    expect(table.nextDeadline()).toBe(start + 121_000);
    clock.now = start + 121_000;
    table.tick();
    expect(table.nextDeadline()).toBe(start + 122_000);
    reach(['b']);
    expect(table.nextDeadline()).toBe(start + 123_000);
    report('c', []);
    expect(table.nextDeadline()).toBe(start + 124_000);
    reach(['b', 'd']);
    expect(table.nextDeadline()).toBeUndefined();
  });

  test('a new hold time applies to the next loss', () => {
    const { clock, table, reach, report } = fixture(120_000);
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    table.configure({ holdMs: 1000 });
    reach([]);
    expect(table.nextDeadline()).toBe(clock.now + 1000);
  });

  test('each carrier has its own hold time; a carrier without one holds nothing', () => {
    const { clock, table, reach, report, proxyOf } = fixture();
    table.configure({ holdMs: { isis: 30_000, ospfv2: 10_000 } });
    report('cnpd1', [flagged('10.1.0.0/16', '192.0.2.1')]);
    report('peer', [flagged('10.2.0.0/16', '192.0.2.2')], 'bgp');
    reach(['area'], 'ospfv2');
    report('area', [flagged('10.3.0.0/16', '192.0.2.3')], 'ospfv2');
    const found = (): unknown[] => ['10.1.0.1', '10.2.0.1', '10.3.0.1'].map((each) => proxyOf(each));
    expect(found()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    for (const carrier of ['isis', 'bgp', 'ospfv2'] as const) reach([], carrier);
    table.tick();
    expect(found()).toEqual(['192.0.2.1', undefined, '192.0.2.3']);
    expect(table.nextDeadline()).toBe(clock.now + 10_000);
    clock.now += 10_000;
    table.tick();
    expect(found()).toEqual(['192.0.2.1', undefined, undefined]);
    expect(table.nextDeadline()).toBe(clock.now + 20_000);
    clock.now += 20_000;
    table.tick();
    expect(found()).toEqual([undefined, undefined, undefined]);
  });
});

test('PNC-5-b: an originator of very many prefixes, lost and dropped, is evaluated in slices, and look-ups are right at once', () => {
  const { table, clock, reach, report, proxyOf } = fixture(120_000);
  const [COUNT, SLICE] = [3000, 500];
  for (let i = 0; i < COUNT; i++) report('cnpd1', [flagged(`10.${i >> 8}.${i & 255}.0/24`, '192.0.2.1')], 'isis', i);
  table.takeChanges();
  reach([]);
  clock.now += 120_000;
  table.tick();
  const pieces: number[] = [];
  for (let more = true; more;) {
    const changes = table.takeChanges(SLICE);
    pieces.push(changes.deletes.length);
    more = changes.more;
  }
  expect(pieces.length).toBeGreaterThan(COUNT / SLICE);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(SLICE);
  expect(pieces.reduce((sum, n) => sum + n, 0)).toBe(COUNT);
  reach(['cnpd1']);
  expect(proxyOf('10.0.7.1')).toBe('192.0.2.1');
  expect(table.takeChanges().upserts).toHaveLength(COUNT);
});
