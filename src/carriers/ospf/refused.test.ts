// Packets of others that are refused, with the reason (RFC 2328 §8.2, §D.5; RFC 5340 §4.2.2; RFC 7166 §4.6), and a stop
// while something is still owed (RFC 2328 §14.1).
import { describe, expect, test } from 'vitest';
import type { AuthenticationKey } from '../../packet/ospf/digest.ts';
import { encodePacket } from '../../packet/ospf/packet.ts';
import { address } from '../../model/address.ts';
import type { Hello } from '../../packet/ospf/types.ts';
import { STOP_LIMIT_MS } from './constants.ts';
import { AREA, type Body, Link, Router, VERSIONS, testConfig } from './simulation.fixture.ts';
import { OSPFV2, type OwnLsa } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;

describe.each(VERSIONS)('%s', (_name, version) => {
  const alone = (area: Parameters<typeof testConfig>[2] = {}): { a: Router; link: Link } => {
    const a = new Router(testConfig(A, version, area));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.weather = () => [];
    link.run(100_000);
    return { a, link };
  };
  const hello = (rest: Partial<Hello> = {}): Body<Hello> => ({
    ...{ kind: 'hello', networkMask: 0, interfaceId: version.version === 3 ? 5 : 0, priority: 1 },
    ...{ options: version.helloOptions(false), helloInterval: 10, deadInterval: 40 },
    ...{ designatedRouter: 0, backupDesignatedRouter: 0, neighbors: [], ...rest },
  });

  test.each([
    ['no router ID', 0, 'it has no router ID'],
    ['our router ID', A, 'it has our router ID'],
  ])('a packet with %s makes no neighbor', (_what, routerId, reason) => {
    const { a, link } = alone();
    const before = a.count('packet.own-router-id');
    link.hand(0, hello(), routerId);
    expect({
      state: a.state,
      refused: a.area.refused,
      packetOwnRouterId: a.count('packet.own-router-id') - before,
    }).toEqual({ state: 'none', refused: reason, packetOwnRouterId: 1 });
    link.hand(0, hello());
    expect({ state: a.state, refused: a.area.refused }).toEqual({ state: 'init', refused: undefined });
  });

  test('the instance is looked at in OSPFv3 alone', () => {
    const { a, link } = alone({ instanceId: 4 });
    link.hand(0, hello());
    expect([a.state, a.area.refused]).toEqual(
      version.version === 3 ? ['none', 'its instance is 0, ours is 4'] : ['init', undefined],
    );
  });

  test('a packet that comes before the hello of its router is counted, and nothing else', () => {
    const { a, link } = alone();
    link.hand(0, { kind: 'link-state-request', requests: [] });
    expect({ state: a.state, packetNoNeighbor: a.count('packet.no-neighbor') }).toEqual({
      state: 'none',
      packetNoNeighbor: 1,
    });
    link.hand(0, hello());
    link.hand(0, { kind: 'link-state-request', requests: [] }, 0x03030303);
    expect({
      state: a.state,
      packetNoNeighbor: a.count('packet.no-neighbor'),
      requestNotExchanging: a.count('request.not-exchanging'),
    }).toEqual({ state: 'init', packetNoNeighbor: 2, requestNotExchanging: 0 });
  });

  test('a description before the hello that names us says that the neighbor hears us (§10.6)', () => {
    const { a, link } = alone();
    link.hand(0, hello());
    expect(a.state).toBe('init');
    link.hand(0, {
      ...{ kind: 'database-description', mtu: 1500, options: version.exchangeOptions(false), headers: [] },
      ...{ initialize: true, more: true, master: true, sequence: 77 },
    });
    expect({ state: a.state, weAreMaster: a.area.neighbor!.weAreMaster }).toEqual({
      state: 'exchange',
      weAreMaster: false,
    });
  });

  test('a hello that does not name us any more takes the adjacency down, and what was owed with it', () => {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.weather = () => [];
    a.area.neighbor!.unsent.add('x');
    link.hand(0, hello({ neighbors: [A], interfaceId: a.area.neighbor!.interfaceId }));
    expect(a.state).toBe('full');
    link.hand(0, hello({ interfaceId: a.area.neighbor!.interfaceId }));
    expect({ state: a.state, unsentSize: a.area.neighbor!.unsent.size }).toEqual({ state: 'init', unsentSize: 0 });
  });

  test.runIf(version.version === 3)('a new interface ID of a Full neighbor is in our Router-LSA', () => {
    const a = new Router(testConfig(A, version));
    const link = new Link(a, new Router(testConfig(B, version)));
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    const issued = a.count('own.issued');
    link.hand(0, hello({ neighbors: [A], interfaceId: a.area.neighbor!.interfaceId }));
    link.run(1000);
    expect(a.count('own.issued') - issued).toBe(0);
    link.hand(0, hello({ neighbors: [A], interfaceId: 99 }));
    link.run(1000);
    expect(a.count('own.issued') - issued).toBe(1);
  });

  describe('authenticated', () => {
    const key: AuthenticationKey = {
      ...{ id: 1, algorithm: version.version === 2 ? 'md5' : 'hmac-sha-256' },
      secret: new TextEncoder().encode('s3cret'),
    };

    test('a packet that came before is a replay: the one before the last, and in OSPFv3 the last as well', () => {
      const a = new Router(testConfig(A, version, { keys: [key] }));
      const link = new Link(a, new Router(testConfig(B, version, { keys: [key] })));
      const hellos: Uint8Array[] = [];
      link.weather = (_packet, from, payload) => {
        // Hellos have the type 1.
        if (from === 1 && payload[1] === 1) hellos.push(payload.slice());
        return [1];
      };
      link.until('full', () => a.state === 'full');
      link.run(60_000);
      const addresses = {
        source: address(version.version === 2 ? '10.0.0.2' : 'fe80::2'),
        destination: version.destination,
      };
      const replay = (payload: Uint8Array): number => {
        const before = a.count('authentication.replayed');
        link.event(0, { type: 'received', areaId: AREA, payload: payload.slice(), addresses });
        link.run(0);
        return a.count('authentication.replayed') - before;
      };
      expect([replay(hellos.at(-2)!), replay(hellos.at(-1)!)]).toEqual([1, version.version === 3 ? 1 : 0]);
      expect(a.state).toBe('full');
    });

    test.runIf(version.version === 3)(
      'descriptions and hellos announce the trailer, and no others do (RFC 7166 §2.1)',
      () => {
        const options = (keys: AuthenticationKey[]): number[] => {
          const a = new Router(testConfig(A, version, { keys }));
          const link = new Link(a, new Router(testConfig(B, version, { keys })));
          link.until('full', () => a.state === 'full');
          return link.sent.flatMap(({ packet }) => (packet && 'options' in packet ? [packet.options & 0x400] : []));
        };
        expect({ withKey: new Set(options([key])), withoutKey: new Set(options([])) }).toEqual({
          withKey: new Set([0x400]),
          withoutKey: new Set([0]),
        });
      },
    );

    test('what is not authenticated is refused with a key, what is authenticated without', () => {
      const a = new Router(testConfig(A, version, { keys: [key] }));
      const b = new Router(testConfig(B, version));
      new Link(a, b).run(5000);
      expect({ state: a.state, aRefused: a.area.refused, bRefused: b.area.refused }).toEqual({
        state: 'none',
        aRefused: 'authentication missing',
        bRefused: 'it is authenticated, but no key is configured',
      });
    });
  });

  describe('a clean stop', () => {
    const type = version.version === 2 ? 10 : 0xa07b;
    const own = (n: number): OwnLsa => ({
      ...{ type, lsId: version.version === 2 ? 0x63000000 + n : n },
      body: { kind: 'unknown', content: new Uint8Array(4) },
    });
    const full = (): { a: Router; link: Link } => {
      const a = new Router(testConfig(A, version));
      const link = new Link(a, new Router(testConfig(B, version)));
      link.event(0, { type: 'originate', areaId: AREA, lsas: [own(1), own(2)] });
      link.until('full', () => a.state === 'full' && a.area.own.dirty.size === 0);
      link.run(10_000);
      return { a, link };
    };
    const stop = (link: Link): void => link.event(0, { type: 'stop' });
    const hellos = (link: Link, from: number): (readonly number[])[] =>
      link.sent
        .slice(from)
        .flatMap(({ from: who, packet }) => (who === 0 && packet?.kind === 'hello' ? [packet.neighbors] : []));

    test('ends when all is acknowledged, with a hello that names no neighbor, and once', () => {
      const { a, link } = full();
      const from = link.sent.length;
      stop(link);
      expect(a.stopped).toBeUndefined();
      link.run(1000);
      expect({ stopped: a.stopped, hellos: hellos(link, from).at(-1) }).toEqual({ stopped: true, hellos: [] });
      expect(a.logged.filter((line) => line.includes('stopped before'))).toEqual([]);
      const sent = link.sent.filter(({ from: who }) => who === 0).length;
      stop(link);
      link.run(30_000);
      expect(link.sent.filter(({ from: who }) => who === 0).length).toBe(sent);
    });

    test('without a neighbor it ends at once', () => {
      const { a, link } = alone();
      stop(link);
      expect(a.stopped).toBe(true);
    });

    test('with a neighbor that has yet to exchange it ends at once: it has nothing of ours', () => {
      const { a, link } = alone();
      link.hand(0, hello());
      stop(link);
      expect(a.stopped).toBe(true);
    });

    test('unacknowledged, it is repeated every second, and given up after its limit, with a warning', () => {
      const { a, link } = full();
      link.weather = () => [];
      const from = link.sent.length;
      stop(link);
      link.run(STOP_LIMIT_MS - 1);
      expect(a.stopped).toBeUndefined();
      const updates = link.sent.slice(from).filter(({ packet }) => packet?.kind === 'link-state-update');
      expect(updates.map(({ at }) => Math.floor((at - updates[0]!.at) / 1000))).toEqual([0, 1, 2, 3]);
      link.run(1);
      expect(a.stopped).toBe(false);
      expect(a.logged.filter((line) => line.includes('stopped before the neighbor acknowledged'))).toHaveLength(1);
    });

    test('what waited for its acknowledgement when it began is sent again after a second, not after five', () => {
      const { a, link } = full();
      link.weather = () => [];
      link.event(0, { type: 'originate', areaId: AREA, lsas: [own(1), own(2), own(3)] });
      link.run(100);
      expect(a.area.neighbor!.retransmit.size).toBe(1);
      stop(link);
      expect(Math.max(...a.area.neighbor!.retransmit.values()) - link.now).toBeLessThanOrEqual(1000);
    });

    test('what came from others is not waited for', () => {
      const { a, link } = full();
      const foreign = [...a.area.lsdb.byKey.values()].find((lsa) => !lsa.own)!;
      stop(link);
      a.area.neighbor!.retransmit.set(foreign.key, Infinity);
      link.run(1000);
      expect(a.stopped).toBe(true);
    });
  });
});

test('packets are of one version: OSPFv3 in OSPFv2 is malformed', () => {
  const a = new Router(testConfig(A));
  const link = new Link(a, new Router(testConfig(B)));
  const addresses = { source: address('10.0.0.2'), destination: OSPFV2.destination };
  // As long as a header of OSPFv2 at least: of a shorter one the version is not looked at.
  const requests = [{ type: 0x2001, lsId: 0, advertisingRouter: A }];
  const request = { kind: 'link-state-request', requests, routerId: B, areaId: AREA, instanceId: 0 } as const;
  const payload = encodePacket(3, request, { source: address('fe80::2'), destination: address('ff02::5') });
  link.event(0, { type: 'received', areaId: AREA, payload, addresses });
  link.run(0);
  expect({ packetBadVersion: a.count('packet.bad-version'), packetTruncated: a.count('packet.truncated') }).toEqual({
    packetBadVersion: 1,
    packetTruncated: 0,
  });
});
