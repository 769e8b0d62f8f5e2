import { describe, expect, test } from 'vitest';
import type { Changes, Plane } from '../model/config-change.ts';
import { MOST_ENTRIES, PLANES, isNothing } from '../model/config-change.ts';
import { eventLoopWork, finish } from '../model/work.ts';
import { FACTS, intentOf, learnedTable } from '../plan/inputs.fixture.ts';
import { originated } from '../plan/origination.ts';
import { plan } from '../plan/plan.ts';
import { changesBetween } from './changes.ts';

const PORTS = 'ports: [{ interface: wan, k-min: 50kB, k-max: 100kB }]\n';
const PROXY =
  'proxy: { address: 2001:db8:ffff::1, senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }], ' +
  'accept-from: [2001:db8:ffff::/48], interfaces: [eth1] }\n';
const SID = 'srv6: { core-ports: [eth2], end-con: [{ sid: 2001:db8:c::1, locator: 2001:db8:c::/48, table: main }] }\n';
const table = learnedTable({ '2001:db8:9::/64': '2001:db8:ffff::9' });

const outcome = (sections: string) => {
  const intent = intentOf(sections);
  const view = { routers: table.routers, senders: table.senders, sizes: () => table.sizes() };
  return { desired: plan(intent, view, FACTS), origination: originated(intent) };
};
const changes = (before: string, after: string): Promise<Changes> =>
  finish(eventLoopWork(), changesBetween(outcome(before), outcome(after)), 5);
const of = (all: Changes, plane: Plane) => {
  const { entries, ...counts } = all.find((one) => one.plane === plane)!;
  return { counts, entries: entries.map(({ operation, entry, detail }) => `${operation} ${entry}: ${detail}`) };
};

describe('the difference of two plans', () => {
  test.each(['', PORTS, PROXY, SID + PORTS])('of one and the same intent is nothing: %s', async (sections) => {
    const same = await changes(sections, sections);
    expect(same.map(({ plane }) => plane)).toEqual([...PLANES]);
    expect(isNothing(same)).toBe(true);
  });

  test('a new proxy: its advertisement, its programs, its entries; taken away, the same the other way round', async () => {
    const added = await changes('', PROXY);
    expect(of(added, 'advertisements').entries).toEqual([
      'add sender-prefix 2001:db8:1::/64: prefix 2001:db8:1::/64, proxy 2001:db8:ffff::1',
    ]);
    expect(of(added, 'programs').entries.join()).toMatch(/add proxy@eth1\/ingress/);
    expect(of(added, 'map-entries').entries.join()).toMatch(/add proxy\.senders .*add proxy\.accept-from/);
    expect(of(added, 'routes').entries).toEqual([]);
    const removed = await changes(PROXY, '');
    for (const plane of PLANES) {
      const [there, back] = [of(added, plane).counts, of(removed, plane).counts];
      expect([back.added, back.changed, back.removed]).toEqual([there.removed, there.changed, there.added]);
    }
  });

  test('a changed threshold names the old value and the new one, and nothing else', async () => {
    const changed = await changes(PORTS, PORTS.replace('100kB', '200kB'));
    expect(of(changed, 'programs').counts).toMatchObject({ added: 0, changed: 0, removed: 0 });
    expect(of(changed, 'map-entries').entries).toEqual([
      expect.stringMatching(
        /^change ports wan: k-max 100000 → 200000, level-bytes \[100000 [\d ]+\] → \[200000 [\d ]+\]$/,
      ),
    ]);
  });

  test('a SID is a route, its program runs at core ports', async () => {
    const added = await changes('', SID);
    expect(of(added, 'routes').entries).toEqual([expect.stringMatching(/^add srv6\.end-con 2001:db8:c::1: sid /)]);
    expect(of(added, 'programs').entries.join()).toMatch(/@eth2\/egress/);
  });

  test('senders that were learned count when the first port asks for them', async () => {
    const added = await changes('', PORTS);
    expect(of(added, 'map-entries').entries.join()).toMatch(/add sender-proxies 2001:db8:9::\/64/);
    expect(of(await changes(PORTS, ''), 'map-entries').entries.join()).toMatch(/remove sender-proxies/);
  });

  test('many entries are counted, and some of them listed', async () => {
    const senders = Array.from(
      { length: 300 },
      (_, i) => `{ prefix: "2001:db8:${(i + 16).toString(16)}::/64", format: standard-cnp }`,
    );
    const many = PROXY.replace(/\[\{ prefix[^\]]*\]/, `[${senders.join(', ')}]`);
    const { counts, entries } = of(await changes('', many), 'advertisements');
    expect([counts.added, entries.length]).toEqual([300, MOST_ENTRIES]);
  });
});
