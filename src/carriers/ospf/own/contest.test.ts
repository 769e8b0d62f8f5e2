// LSAs under our router ID that are not ours (RFC 2328 §13.4): of another router with the same ID, which undoes ours
// for ever, and of an attacker who forges them.
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { decodeLsa, encodeLsa } from '../../../packet/ospf/lsa.ts';
import { encodePacket } from '../../../packet/ospf/packet.ts';
import { neighborState } from '../show.ts';
import { AREA, Link, Router, VERSIONS, testConfig } from '../simulation.fixture.ts';
import type { OwnLsa } from '../version.ts';

const A = 0x01010101;
const B = 0x02020202;

describe.each(VERSIONS)('%s', (_name, version) => {
  const type = version.version === 2 ? 10 : 0xa07b;
  const addresses = {
    source: address(version.version === 2 ? '10.0.0.2' : 'fe80::2'),
    destination: version.destination,
  };
  const desired = (count: number): OwnLsa[] =>
    Array.from({ length: count }, (_, lsId) => ({ type, lsId, body: { kind: 'unknown', content: new Uint8Array(8) } }));

  /** Two routers that are Full; the first advertises this many LSAs. */
  function full(count: number): { readonly a: Router; readonly link: Link } {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.event(0, { type: 'originate', areaId: AREA, lsas: desired(count) });
    link.until('full', () => a.state === 'full');
    link.run(5000);
    return { a, link };
  }

  /** An LSA under our name comes from the network. */
  function forge(link: Link, lsId: number, sequence: number, age = 1): void {
    const lsa = decodeLsa(
      version.version,
      encodeLsa(
        version.version,
        { age, options: 0, type, lsId, advertisingRouter: A, sequence },
        { kind: 'unknown', content: new Uint8Array(4) },
      ),
    );
    if (!lsa.ok) throw new Error(lsa.error.detail);
    const payload = encodePacket(
      version.version,
      { kind: 'link-state-update', routerId: B, areaId: AREA, instanceId: 0, lsas: [lsa.value] },
      addresses,
    );
    link.event(0, { type: 'received', areaId: AREA, payload, addresses });
    link.run(0);
  }

  const ours = (a: Router, lsId: number): number | undefined =>
    [...a.area.lsdb.byKey.values()].find(
      (lsa) => lsa.own && lsa.type === type && lsa.lsId === lsId && lsa.length === 28,
    )?.sequence;
  const isNotified = (a: Router, now: number): boolean =>
    neighborState(a.speaker, a.area, 'x', 0, { now, toWall: 0 }).routerIdContested;

  test('one that is forged once or twice is outbid after MinLSArrival, and no alarm is raised', () => {
    const { a, link } = full(1);
    forge(link, 0, 1000);
    link.run(1000);
    expect(ours(a, 0)).toBe(1001);
    expect({ ownContested: a.count('own.contested'), isNotified: isNotified(a, link.now) }).toEqual({
      ownContested: 0,
      isNotified: false,
    });
  });

  test.each([
    ['issues it anew', 1],
    ['flushes it', 3600],
  ])(
    'another router with our router ID that %s each time: we answer no faster than MinLSInterval, and the operator hears of it until it is over',
    (_what, age) => {
      const { a, link } = full(10);
      const issued = a.count('own.issued');
      for (let second = 0; second < 100; second++) {
        for (let lsId = 0; lsId < 10; lsId++) {
          const sequence = ours(a, lsId);
          if (sequence !== undefined) forge(link, lsId, sequence + 1, age);
        }
        link.run(1000);
      }
      expect(a.count('own.issued') - issued).toBeLessThan(10 * 25);
      expect(a.count('own.issued') - issued).toBeGreaterThan(10 * 15);
      expect({ state: a.state, isNotified: isNotified(a, link.now) }).toEqual({ state: 'full', isNotified: true });
      expect(a.count('own.contested')).toBeGreaterThan(0);
      expect(a.logged.filter((line) => line.includes('another router has our router ID'))).toHaveLength(2);
      link.run(400_000);
      expect(isNotified(a, link.now)).toBe(false);
      expect(ours(a, 0)).toBeDefined();
    },
  );

  test('thousands that we never originated are flushed, and leave nothing behind', () => {
    const { a, link } = full(1);
    for (let lsId = 1; lsId <= 2000; lsId++) forge(link, lsId, lsId % 10 === 0 ? 0x7fffffff : 5);
    link.run(300_000);
    expect({ state: a.state, dirtySize: a.area.own.dirty.size }).toEqual({ state: 'full', dirtySize: 0 });
    expect(a.area.own.issued.size).toBeLessThan(5);
    expect(a.area.lsdb.byKey.size).toBeLessThan(8);
    expect(ours(a, 0)).toBeDefined();
  });
});
