// Hostile neighbors: whatever arrives, the speaker neither throws nor stops working, and what it keeps stays bounded.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { put16 } from '../../packet/bytes.ts';
import { arbitraryPacket } from '../../packet/ospf/arbitrary.fixture.ts';
import { decodeLsa, encodeLsa } from '../../packet/ospf/lsa.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import { HEADER_LENGTH, setChecksum } from '../../packet/ospf/packet-header.ts';
import type { LsaHeader, OspfPacket } from '../../packet/ospf/types.ts';
import { neighborState } from './show.ts';
import { AREA, Link, Router, VERSIONS, testConfig } from './simulation.fixture.ts';
import type { OwnLsa } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;

describe.each(VERSIONS)('%s', (_name, version) => {
  const source = address(version.version === 2 ? '10.0.0.2' : 'fe80::2');
  const addresses = { source, destination: version.destination };

  /**
   * Packets that the neighbor might have sent: of every kind, with any contents, some of them damaged, most of them
   * with a right checksum.
   */
  const packet = fc
    .tuple(arbitraryPacket(version.version), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.boolean())
    .map(([value, changes, repair]) => {
      const bytes = encodePacket(version.version, { ...value, routerId: B, areaId: AREA, instanceId: 0 }, addresses);
      const header = HEADER_LENGTH[version.version];
      for (const [at, byte] of bytes.length > header ? changes : [])
        bytes[header + (at % (bytes.length - header))] = byte;
      if (repair || changes.length === 0) {
        put16(bytes, 2, bytes.length);
        setChecksum(version.version, bytes, addresses);
      }
      return bytes;
    });

  test('any packets in any state: nothing is thrown, and afterwards the adjacency comes up again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(packet, fc.nat(3000)), { minLength: 1, maxLength: 25 }),
        fc.nat(3000),
        (packets, begin) => {
          const a = new Router(testConfig(A, version));
          const b = new Router(testConfig(B, version));
          const link = new Link(a, b);
          link.event(0, {
            type: 'originate',
            areaId: AREA,
            lsas: [
              {
                type: version.version === 2 ? 10 : 0xa07b,
                lsId: 1,
                body: { kind: 'unknown', content: new Uint8Array(8) },
              },
            ],
          });
          link.run(begin);
          for (const [payload, pause] of packets) {
            link.event(0, { type: 'received', areaId: AREA, payload, addresses });
            link.run(pause);
          }
          link.restart(1);
          link.until('full again', () => a.state === 'full', 400_000);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a full database refuses more and counts, and the adjacency comes up with what there is room for', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 10 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    const type = version.version === 2 ? 10 : 0xa07b;
    const lsas = (count: number): OwnLsa[] =>
      Array.from({ length: count }, (_, lsId) => ({
        type,
        lsId,
        body: { kind: 'unknown', content: new Uint8Array(4) },
      }));
    const others = (): number => [...a.area.lsdb.byKey.values()].filter(({ own }) => !own).length;
    link.weather = () => [];
    link.event(1, { type: 'originate', areaId: AREA, lsas: lsas(30) });
    link.run(5000);
    link.weather = () => [1];
    link.run(20_000);
    expect(a.state).toBe('full');
    expect(others()).toBeLessThanOrEqual(10);
    expect(a.count('exchange.too-many')).toBeGreaterThan(0);
    link.event(1, { type: 'originate', areaId: AREA, lsas: lsas(40) });
    link.run(20_000);
    expect(a.state).toBe('full');
    expect(others()).toBeLessThanOrEqual(10);
    expect(a.count('lsdb.full')).toBeGreaterThan(0);
  });

  const long = (count: number, size: number): OwnLsa[] =>
    Array.from({ length: count }, (_, lsId) => ({
      type: version.version === 2 ? 10 : 0xa07b,
      lsId,
      body: { kind: 'unknown', content: new Uint8Array(size) },
    }));
  const isShownFull = (a: Router, now: number): boolean =>
    neighborState(a.speaker, a.area, 'x', 0, { now, toWall: 0 }).databaseFull;

  test('long LSAs: bytes are limited as well, before the exchange and after it; it is counted and shown, for as long as any may be missing', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 10 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.weather = () => [];
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(6, 900) });
    link.run(5000);
    link.weather = () => [1];
    link.run(20_000);
    expect({ state: a.state, isShownFull: isShownFull(a, link.now) }).toEqual({ state: 'full', isShownFull: true });
    expect(a.area.lsdb.bytes).toBeLessThanOrEqual(4000);
    expect(a.count('lsdb.full')).toBeGreaterThan(0);
    const refused = a.count('lsdb.full');
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(2, 1200) });
    link.run(2_000_000);
    expect({ state: a.state, isShownFull: isShownFull(a, link.now) }).toEqual({ state: 'full', isShownFull: false });
    expect(a.notified.size).toBeGreaterThanOrEqual(2);
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(6, 900) });
    link.run(20_000);
    expect({ state: a.state, isShownFull: isShownFull(a, link.now) }).toEqual({ state: 'full', isShownFull: true });
    expect(a.area.lsdb.bytes).toBeLessThanOrEqual(4000);
    expect(a.count('lsdb.full')).toBeGreaterThan(refused);
  });

  test('an LSA that grows beyond the limit is refused, and its previous content is not kept', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 10 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(3, 1000) });
    link.run(10_000);
    const before = a.notified.size;
    link.event(1, { type: 'originate', areaId: AREA, lsas: [...long(3, 1000).slice(0, 2), long(3, 2000)[2]!] });
    link.run(10_000);
    expect({ state: a.state, notifiedSize: a.notified.size }).toEqual({ state: 'full', notifiedSize: before - 1 });
    expect(a.area.lsdb.bytes).toBeLessThanOrEqual(4000);
  });

  test('there is no room any more for what was asked for: the adjacency comes up without it', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 10 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.weather = () => [];
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(5, 900) });
    link.run(5000);
    link.weather = (packet, from) => {
      // Others fill the database between our request and the answer.
      if (from === 1 && packet?.kind === 'link-state-update') a.area.lsdb.bytes = 3900;
      return [1];
    };
    link.run(30_000);
    expect(a.state).toBe('full');
    expect(a.count('lsdb.full')).toBeGreaterThan(0);
  });

  test('an LSA of ours that is forged is outbid, however full the database is', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 10 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.event(0, { type: 'originate', areaId: AREA, lsas: long(1, 8) });
    link.event(1, { type: 'originate', areaId: AREA, lsas: long(30, 200) });
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    expect(isShownFull(a, link.now)).toBe(true);
    const forged = encodeLsa(
      version.version,
      { age: 1, options: 0, type: long(1, 0)[0]!.type, lsId: 0, advertisingRouter: A, sequence: 1000 },
      { kind: 'unknown', content: new Uint8Array(1400) },
    );
    const decoded = decodeLsa(version.version, forged);
    if (!decoded.ok) throw new Error(decoded.error.detail);
    const payload = encodePacket(
      version.version,
      { kind: 'link-state-update', routerId: B, areaId: AREA, instanceId: 0, lsas: [decoded.value] },
      addresses,
    );
    link.event(0, { type: 'received', areaId: AREA, payload, addresses });
    link.run(10_000);
    expect(
      [...a.area.lsdb.byKey.values()].find(({ own, lsId, length }) => own && lsId === 0 && length === 28)?.sequence,
    ).toBe(1001);
  });

  test('a neighbor that lists LSAs without end fills no more than the database holds', () => {
    const a = new Router(testConfig(A, version, {}, { lsdbLimit: 100 }));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.weather = () => [];
    a.area.neighbor!.state = 'exchange';
    a.area.neighbor!.weAreMaster = false;
    const room = 100 - a.area.lsdb.byKey.size;
    for (let i = 1; i <= 50; i++) {
      const headers = Array.from({ length: 20 }, (_, n): LsaHeader => ({
        age: 1,
        options: 0,
        type: version.version === 2 ? 10 : 0xa07b,
        lsId: i * 100 + n,
        advertisingRouter: B,
        sequence: 1,
        checksum: 1,
        length: 24,
      }));
      const { ddSequence, options } = a.area.neighbor!;
      const dd: OspfPacket = {
        kind: 'database-description',
        routerId: B,
        areaId: AREA,
        instanceId: 0,
        mtu: 1500,
        options,
        initialize: false,
        more: true,
        master: true,
        sequence: ddSequence + 1,
        headers,
      };
      link.event(0, {
        type: 'received',
        areaId: AREA,
        payload: encodePacket(version.version, dd, addresses),
        addresses,
      });
      link.run(1);
    }
    expect(a.area.neighbor!.requests.size).toBe(room);
    expect(a.count('exchange.too-many')).toBe(1000 - room);
  });

  test('a flood of packets does not grow the queue without end', () => {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    for (let i = 0; i < 10_000; i++)
      link.event(0, { type: 'received', areaId: AREA, payload: new Uint8Array(3), addresses });
    expect(a.area.inbox.length).toBe(8192);
    expect(a.count('rx.queue-full')).toBe(10_000 - 8192);
    link.until('up', () => a.state === 'full');
  });
});
