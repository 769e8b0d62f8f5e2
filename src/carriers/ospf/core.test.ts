// Two speakers on a link, in both versions: adjacency, database exchange, flooding, loss and disorder, ageing,
// withdrawal, recovery.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prefix } from '../../model/prefix.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import { INITIAL_SEQUENCE, MAX_SEQUENCE } from '../../packet/ospf/numbers.ts';
import { extendedFlags } from '../../packet/ospf/prefix-sub-tlvs.ts';
import { lsaKeyText } from '../../packet/ospf/router-id.ts';
import { AREA, FAIR, Link, Router, VERSIONS, type Weather, testConfig } from './simulation.fixture.ts';
import type { AreaConfig } from './state.ts';
import type { OspfVersion, OwnLsa } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;

interface Pair {
  readonly a: Router;
  readonly b: Router;
  readonly link: Link;
}

function pair(version: OspfVersion, forA: Partial<AreaConfig> = {}, forB: Partial<AreaConfig> = {}): Pair {
  const a = new Router(testConfig(A, version, forA));
  const b = new Router(testConfig(B, version, forB));
  return { a, b, link: new Link(a, b) };
}

const flags = [{ kind: 'prefix-extended-flags' as const, flags: extendedFlags(2) }];

/** One LSA with a sender prefix that has the P-flag. */
function sender(version: OspfVersion, n: number, metric = 10): OwnLsa {
  if (version.version === 2) {
    const tlv = {
      kind: 'extended-prefix' as const,
      routeType: 1,
      flags: metric & 0xff,
      prefix: prefix(`10.${n >> 8}.${n & 255}.0/24`),
      subTlvs: flags,
    };
    return { type: 10, lsId: opaqueLsId(7, n), body: { kind: 'extended-prefix-lsa', tlvs: [tlv] } };
  }
  const tlv = {
    kind: 'inter-area-prefix-tlv' as const,
    flags: 0,
    metric,
    prefixOptions: 0,
    prefix: prefix(`2001:db8:${n.toString(16)}::/48`),
    subTlvs: flags,
  };
  return { type: 0xa023, lsId: n, body: { kind: 'e-inter-area-prefix', tlvs: [tlv] } };
}

const senders = (version: OspfVersion, count: number, metric?: number): OwnLsa[] =>
  Array.from({ length: count }, (_, n) => sender(version, n, metric));
const keyOf = (router: number, { type, lsId }: OwnLsa): string => lsaKeyText({ type, lsId, advertisingRouter: router });

const bothFull = ({ a, b }: Pair): boolean => a.state === 'full' && b.state === 'full';

/** Both databases hold the same, and nothing waits. */
function settled({ a, b, link }: Pair): boolean {
  const idle = [a, b].every(
    ({ area }) => area.neighbor?.unsent.size === 0 && area.neighbor.retransmit.size === 0 && area.own.dirty.size === 0,
  );
  return idle && JSON.stringify(a.database(link.now)) === JSON.stringify(b.database(link.now));
}

describe.each(VERSIONS)('%s', (_name, version) => {
  test('comes to Full within a second, the higher router ID as master, and both databases agree', () => {
    const p = pair(version);
    p.link.run(1000);
    expect({ a: p.a.state, b: p.b.state }).toEqual({ a: 'full', b: 'full' });
    expect({ aIsMaster: p.a.area.neighbor!.weAreMaster, bIsMaster: p.b.area.neighbor!.weAreMaster }).toEqual({
      aIsMaster: false,
      bIsMaster: true,
    });
    expect(settled(p)).toBe(true);
    const links = p.a.database(p.link.now).length;
    expect(links).toBe(version.version === 2 ? 2 : 4);
  });

  test('exchanges databases of several packets in both directions, and reports what it learned', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 300) });
    p.link.event(1, { type: 'originate', areaId: AREA, lsas: senders(version, 200) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    const learned = (router: Router, own: number): string[] =>
      [...router.notified.keys()].filter((key) => key.endsWith(`/${own}`));
    expect(learned(p.b, A).filter((key) => senders(version, 300).some((lsa) => keyOf(A, lsa) === key))).toHaveLength(
      300,
    );
    expect(learned(p.a, B).filter((key) => senders(version, 200).some((lsa) => keyOf(B, lsa) === key))).toHaveLength(
      200,
    );
    expect(p.a.count('tx.retransmitted-description') + p.b.count('tx.retransmitted-description')).toBe(0);
  });

  test('no packet is larger than the link, and an LSA that is goes alone', () => {
    const p = pair(version, { mtu: 576 }, { mtu: 576 });
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 100) });
    let largest = 0;
    p.link.weather = (_packet, _from, payload) => {
      largest = Math.max(largest, payload.length);
      return [1];
    };
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    expect(largest).toBeLessThanOrEqual(576 - version.ipHeader);
    expect(largest).toBeGreaterThan(450);
  });

  test('loses, repeats and reorders packets and still ends with equal databases, without starting the exchange anew for ever', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(99)), (dice) => {
        const p = pair(version);
        const roll = (): number => dice.next().value as number;
        const storm: Weather = () => {
          const n = roll();
          if (n < 20) return [];
          if (n < 35) return [1 + (n % 5), 2 + roll()];
          return n < 60 ? [1 + 3 * roll()] : [1];
        };
        p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 150) });
        p.link.event(1, { type: 'originate', areaId: AREA, lsas: senders(version, 90) });
        p.link.weather = storm;
        p.link.run(60_000);
        // What is still on its way arrives first: a late copy of an LSA that has been flushed and forgotten meanwhile
        // is installed again (RFC 2328 §13 remembers nothing of it).
        p.link.weather = FAIR;
        p.link.run(1000);
        p.link.weather = storm;
        p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 120, 20) });
        p.link.event(1, { type: 'originate', areaId: AREA, lsas: senders(version, 140) });
        p.link.run(60_000);
        p.link.weather = FAIR;
        p.link.until('full and settled', () => bothFull(p) && settled(p), 180_000);
        const own = (router: Router, id: number): number =>
          router.database(p.link.now).filter((line) => line.split(' ')[0]!.endsWith(`/${id}`)).length;
        const topology = version.version === 2 ? 1 : 2;
        expect({ bA: own(p.b, A), aB: own(p.a, B) }).toEqual({ bA: 120 + topology, aB: 140 + topology });
      }),
      { numRuns: 12 },
    );
  });

  test('a change, an addition and a withdrawal reach the neighbor; what did not change is not sent again', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 3) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(6000);
    const issued = p.a.count('own.issued');
    p.link.event(0, {
      type: 'originate',
      areaId: AREA,
      lsas: [sender(version, 0), sender(version, 1, 77), sender(version, 9)],
    });
    p.link.until('settled', () => p.b.notified.has(keyOf(A, sender(version, 9))) && settled(p));
    expect(p.a.count('own.issued') - issued).toBe(2);
    expect(p.b.notified.has(keyOf(A, sender(version, 2)))).toBe(false);
    p.link.run(5000);
    expect(p.a.area.lsdb.byKey.has(keyOf(A, sender(version, 2)))).toBe(false);
    expect(p.b.area.lsdb.byKey.has(keyOf(A, sender(version, 2)))).toBe(false);
  });

  test('MinLSInterval: changes of one LSA go out 5 s apart, the last one wins', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(5000);
    const from = p.link.sent.length;
    for (let metric = 20; metric < 60; metric++) {
      p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1, metric) });
      p.link.run(200);
    }
    p.link.run(6000);
    const times = p.link.sent
      .slice(from)
      .filter(({ from: end, packet }) => end === 0 && packet?.kind === 'link-state-update')
      .map(({ at }) => at);
    expect(times.length).toBe(3);
    for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(5000);
    expect(settled(p)).toBe(true);
    expect(p.b.notified.get(keyOf(A, sender(version, 0)))).toBe(
      p.a
        .database(p.link.now)
        .find((l) => l.startsWith(`${keyOf(A, sender(version, 0))} `))!
        .split(' ')[2],
    );
  });

  test('MinLSArrival: an instance less than a second after the one before is not taken, nor acknowledged; its retransmission is', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(6000);
    const issue = p.a.area.own.issued.get(keyOf(A, sender(version, 0)))!;
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1, 50) });
    p.link.run(300);
    issue.issuedAt = -Infinity;
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1, 51) });
    p.link.run(300);
    expect(p.b.count('lsa.too-soon')).toBe(1);
    expect(settled(p)).toBe(false);
    p.link.run(5500);
    expect(settled(p)).toBe(true);
  });

  test('refreshes its LSAs before 1800 s: no router forgets them, and refreshes are not reported as changes', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 5) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(5 * 3600_000);
    expect({ expiredAtA: p.a.count('lsa.expired'), expiredAtB: p.b.count('lsa.expired') }).toEqual({
      expiredAtA: 0,
      expiredAtB: 0,
    });
    expect(p.b.notified.size).toBe(5 + (version.version === 2 ? 1 : 2));
    const sequence = p.b.area.lsdb.byKey.get(keyOf(A, sender(version, 0)))!.sequence;
    expect(sequence - INITIAL_SEQUENCE).toBeGreaterThanOrEqual(10);
    expect(sequence - INITIAL_SEQUENCE).toBeLessThanOrEqual(11);
    expect(settled(p)).toBe(true);
  });

  test('after an hour without refresh an LSA of a router that is gone expires and is reported as gone', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 2) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.event(0, { type: 'link-down', areaId: AREA, reason: 'test' });
    p.link.run(3500_000);
    expect(p.b.notified.size).toBeGreaterThan(0);
    p.link.run(200_000);
    expect(p.b.notified.size).toBe(0);
    expect(p.b.count('lsa.expired')).toBeGreaterThanOrEqual(3);
  });

  test('a clean stop flushes everything, waits for the acknowledgement, and the neighbor knows at once', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 80) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.event(0, { type: 'stop' });
    // Within MinLSArrival of the first instance the flush is not taken: it goes out again.
    p.link.run(2500);
    expect(p.a.stopped).toBe(true);
    expect(p.b.notified.size).toBe(0);
    expect(p.b.state).toBe('init');
  });

  test('a stop that no neighbor acknowledges ends after its limit, and reports it', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 3) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.weather = () => [];
    p.link.event(0, { type: 'stop' });
    p.link.run(5000);
    expect(p.a.stopped).toBe(false);
  });

  test('killed and started again, with fewer LSAs: the stale one is flushed, the others are outbid, none is lost in between', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 4) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(60_000);
    const a = p.link.restart(0);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 3) });
    const kept = (): boolean => [0, 1, 2].every((n) => p.b.notified.has(keyOf(A, sender(version, n))));
    p.link.until('full again', () => {
      expect(kept()).toBe(true);
      return a.state === 'full' && !p.b.notified.has(keyOf(A, sender(version, 3))) && settled({ ...p, a });
    });
    expect(a.count('own.outbid')).toBeGreaterThanOrEqual(3);
    expect(a.database(p.link.now).filter((line) => line.includes(`/${A} `))).toHaveLength(
      3 + (version.version === 2 ? 1 : 2),
    );
  });

  test('killed and started again, without a declaration yet: its old LSAs stay for the time of grace, and then go', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 2) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    const a = p.link.restart(0);
    p.link.until('full again', () => a.state === 'full');
    expect(p.b.notified.has(keyOf(A, sender(version, 1)))).toBe(true);
    p.link.run(15_000);
    expect(p.b.notified.has(keyOf(A, sender(version, 1)))).toBe(false);
  });

  test('a neighbor that is heard no more is lost after the dead interval, one that answers under another name at once', () => {
    const p = pair(version);
    p.link.until('full', () => bothFull(p));
    p.link.restart(1, testConfig(0x03030303, version));
    p.link.until('the other is full', () => p.a.state === 'full' && p.a.area.neighbor!.routerId === 0x03030303);
    p.link.weather = () => [];
    p.link.run(29_000);
    expect(p.a.state).toBe('full');
    p.link.run(12_000);
    expect(p.a.state).toBe('none');
    expect(p.a.count('neighbor.inactive')).toBe(1);
  });

  test('a larger MTU at the other end keeps the exchange from beginning, unless it is ignored', () => {
    const refused = pair(version, { mtu: 1400 });
    refused.link.run(20_000);
    expect({ state: refused.a.state, mtu: refused.a.area.neighbor!.mtu }).toEqual({ state: 'ex-start', mtu: 1500 });
    expect(refused.a.count('exchange.mtu-mismatch')).toBeGreaterThan(0);
    const ignored = pair(version, { mtu: 1400, ignoreMtu: true });
    ignored.link.run(2000);
    expect(bothFull(ignored)).toBe(true);
  });

  test.each([
    ['hello-interval', { helloSeconds: 5 }, 'hello.hello-interval-mismatch', 'its hello-interval is 5 s, ours 10 s'],
    ['dead-interval', { deadSeconds: 30 }, 'hello.dead-interval-mismatch', 'its dead-interval is 30 s, ours 40 s'],
  ] as const)(
    'a neighbor with another %s is refused and counted, and the reason is shown',
    (_what, forB, counter, why) => {
      const p = pair(version, {}, forB);
      p.link.run(20_000);
      expect({ a: p.a.state, b: p.b.state }).toEqual({ a: 'none', b: 'none' });
      expect(p.a.count(counter)).toBeGreaterThan(0);
      expect(p.a.area.refused).toBe(why);
    },
  );

  test('our own router ID at the other end is refused and counted', () => {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(A, version)));
    link.run(5000);
    expect(a.state).toBe('none');
    expect(a.count('packet.own-router-id')).toBeGreaterThan(0);
  });

  test('after the highest sequence number an LSA is flushed and begins anew', () => {
    const p = pair(version);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1) });
    p.link.until('full and settled', () => bothFull(p) && settled(p));
    p.link.run(6000);
    const key = keyOf(A, sender(version, 0));
    p.a.area.own.issued.get(key)!.sequence = MAX_SEQUENCE - 1;
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1, 30) });
    p.link.run(6000);
    expect(p.b.area.lsdb.byKey.get(key)!.sequence).toBe(MAX_SEQUENCE);
    p.link.event(0, { type: 'originate', areaId: AREA, lsas: senders(version, 1, 31) });
    p.link.until('begins anew', () => p.b.area.lsdb.byKey.get(key)?.sequence === INITIAL_SEQUENCE && settled(p));
    expect(p.b.notified.has(key)).toBe(true);
  });
});
