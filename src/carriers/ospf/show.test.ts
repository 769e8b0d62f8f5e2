// What the operator is shown of a link, its neighbor and the database.
import { origination } from '../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { prefix } from '../../model/prefix.ts';
import { DEFAULT_PRIVATE_TYPES, decodeLsa } from '../../packet/ospf/lsa.ts';
import { opaqueLsId } from '../../packet/ospf/lsa-type.ts';
import { CONTEST_WINDOW_MS } from '../contest.ts';
import { LS_REFRESH_MS } from './constants.ts';
import {
  type AnyVersion,
  ContentAgent,
  END_CON,
  contentConfig,
  declaration,
  encoded,
  routerLsa,
} from './content.fixture.ts';
import { put } from './lsdb/lsdb.ts';
import { databaseState, lsaName, lsaTypeName, neighborState, unplacedEntries } from './show.ts';
import { AREA, Link, Router, testConfig } from './simulation.fixture.ts';
import { OSPFV2, OSPFV3 } from './version.ts';

const A = 0x01010101;
const B = 0x02020202;
const VERSIONS: readonly AnyVersion[] = [2, 3];
const CORE = { 2: OSPFV2, 3: OSPFV3 } as const;

describe('names', () => {
  const name = (version: AnyVersion, type: number, lsId = 0): string =>
    lsaTypeName(version, { type, lsId, advertisingRouter: A }, DEFAULT_PRIVATE_TYPES);

  test('OSPFv2: by LS type, and of opaque LSAs by opaque type', () => {
    expect([1, 5, 8].map((type) => name(2, type))).toEqual(['router', 'as-external', '0x8']);
    expect([7, 240, 99].map((opaque) => name(2, 10, opaqueLsId(opaque, 1)))).toEqual([
      'extended-prefix',
      'cnpd',
      'opaque 99',
    ]);
    // Of a type that is not opaque the link-state ID is no opaque type.
    expect(name(2, 3, opaqueLsId(7, 0))).toBe('summary');
  });

  test('OSPFv3: by function, whatever the scope', () => {
    expect([0x2001, 0xa029, 0xc02a, 0xbff8, 0xa07b].map((type) => name(3, type))).toEqual([
      'Router',
      'E-Intra-Area-Prefix',
      'SRv6-Locator',
      'cnpd',
      '0xa07b',
    ]);
  });

  test('with the number of the type where it is not of area scope', () => {
    const whole = (type: number): string => lsaName(3, { type, lsId: 1, advertisingRouter: A }, DEFAULT_PRIVATE_TYPES);
    expect({ areaScope: whole(0xa02a), asScope: whole(0xc02a) }).toEqual({
      areaScope: 'SRv6-Locator 0.0.0.1 1.1.1.1',
      asScope: 'SRv6-Locator(0xc02a) 0.0.0.1 1.1.1.1',
    });
  });
});

describe('a neighbor', () => {
  const WALL = Date.UTC(2030, 0, 1);
  const scene = (): {
    a: Router;
    link: Link;
    shown: (at?: number, downSince?: number) => ReturnType<typeof neighborState>;
  } => {
    const a = new Router(testConfig(A, OSPFV2));
    const link = new Link(a, new Router(testConfig(B, OSPFV2)));
    const shown = (at = link.now, downSince = 0) =>
      neighborState(a.speaker, a.area, 'cnpd-ospf0', downSince, { now: at, toWall: WALL - at });
    return { a, link, shown };
  };

  test('that is not there: why, and since when', () => {
    const { a, link, shown } = scene();
    link.weather = () => [];
    link.run(60_000);
    const nothing = { routerId: null, deadTimeRemaining: 0, mtu: null, takesOpaque: null, unacknowledged: 0 };
    expect(shown(60_000, 45_000)).toEqual({
      ...{ area: '0.0.0.1', interface: 'cnpd-ospf0', state: 'down', ...nothing, reason: 'no hello received' },
      ...{ databaseFull: false, routerIdContested: false },
      ...{ since: '2029-12-31T23:59:45.000Z', notFullSince: '2029-12-31T23:59:45.000Z' },
    });
    a.area.refused = 'its area is 0.0.0.9';
    expect(shown().reason).toBe('a packet was refused: its area is 0.0.0.9');
    link.event(0, { type: 'link-down', areaId: AREA, reason: 'test' });
    expect(shown().reason).toBe('the link is down');
  });

  test('in ExStart, before it described anything: nothing is known yet of its MTU and options', () => {
    const { a, link, shown } = scene();
    link.weather = (packet, from) => (from === 1 && packet?.kind === 'hello' ? [1] : []);
    link.run(100);
    expect({ state: a.state, shown: shown() }).toMatchObject({
      state: 'ex-start',
      shown: { state: 'ex-start', mtu: null, takesOpaque: null, routerId: '2.2.2.2' },
    });
  });

  test('that is Full: what it takes, how long it may be silent, what it owes', () => {
    const { a, link, shown } = scene();
    link.until('full', () => a.state === 'full');
    link.run(10_000);
    const { inactiveAt, since } = a.area.neighbor!;
    expect(shown(inactiveAt - 38_500, 1)).toMatchObject({
      ...{
        state: 'full',
        mtu: 1500,
        takesOpaque: true,
        notFullSince: null,
        unacknowledged: 0,
        reason: 'databases agree',
      },
      ...{ deadTimeRemaining: 39, since: new Date(WALL - (inactiveAt - 38_500 - since)).toISOString() },
    });
    expect(shown(inactiveAt + 5000).deadTimeRemaining).toBe(0);
    a.area.neighbor!.unsent.add('1').add('2');
    a.area.neighbor!.retransmit.set('3', 0);
    expect(shown().unacknowledged).toBe(3);
  });

  test('an LSA that was refused may be missing until everything has come again; a router ID is contested for a while', () => {
    const { a, shown } = scene();
    a.area.lsdb.refusedAt = 1000;
    a.area.own.contestedAt = 1000;
    const states = [999, 1000].flatMap((ms) => [shown(ms + LS_REFRESH_MS), shown(ms + CONTEST_WINDOW_MS)]);
    expect(states.map(({ databaseFull, routerIdContested }) => [databaseFull, routerIdContested])).toEqual([
      [true, false],
      [true, true],
      [false, false],
      [true, false],
    ]);
  });
});

describe.each(VERSIONS)('the database, OSPFv%d', (version) => {
  const core = CORE[version];
  const sids = [{ sid: address('2001:db8:c::1'), locator: prefix('2001:db8:c::/48'), behavior: END_CON }];

  /** A database with our own LSAs, those of B, which is reached, and that of a router that is not. */
  function rows(): ReturnType<typeof databaseState> {
    const [router, agent, other] = [
      new Router(testConfig(A, core)),
      new ContentAgent(contentConfig(version, A, [AREA])),
      new ContentAgent(contentConfig(version, B, [AREA])),
    ];
    agent.declares(declaration(version, [1, 2, 3], 1, { sids }));
    other.declares(declaration(version, [4, 5]));
    const file = (
      routerId: number,
      own: (typeof agent.advertised extends Map<number, infer L> ? L : never)[number],
    ): void => {
      const { key, lsa } = encoded(version, routerId, own);
      const decoded = decodeLsa(version, lsa.raw);
      if (!decoded.ok) throw new Error(decoded.error.code);
      put(router.area.lsdb, decoded.value, routerId === A, 0, routerId !== A);
      if (routerId !== A) agent.event({ type: 'database', areaId: AREA, key, lsa });
    };
    for (const own of [...other.advertised.get(AREA)!, routerLsa(version, B, [A])]) file(B, own);
    file(0x03030303, routerLsa(version, 0x03030303, []));
    for (const own of agent.advertised.get(AREA)!.toReversed()) file(A, own);
    agent.event({ type: 'adjacency', areaId: AREA, neighbor: B });
    agent.pass(1000);
    return databaseState(router.speaker, agent.content, 7000);
  }

  test('is sorted by type, link-state ID and router', () => {
    const keys = rows().map(({ type, lsId, router }) => `${type} ${lsId} ${router}`);
    expect(keys).toEqual(
      version === 2
        ? [
            'router 2.2.2.2 2.2.2.2',
            'router 3.3.3.3 3.3.3.3',
            'extended-prefix 7.0.0.0 1.1.1.1',
            'extended-prefix 7.0.0.0 2.2.2.2',
            'cnpd 240.0.0.0 1.1.1.1',
          ]
        : [
            'Router 0.0.0.0 2.2.2.2',
            'Router 0.0.0.0 3.3.3.3',
            'Router-Information 0.0.0.0 1.1.1.1',
            'E-Intra-Area-Prefix 0.0.0.0 1.1.1.1',
            'E-Intra-Area-Prefix 0.0.0.0 2.2.2.2',
            'SRv6-Locator 0.0.0.0 1.1.1.1',
          ],
    );
  });

  test('each with its age, and who can be reached', () => {
    const shown = rows();
    for (const row of shown) {
      expect(row).toMatchObject({ area: '0.0.0.1', age: 8, sequence: '0x1' });
      expect(row.checksum).toMatch(/^0x[0-9a-f]{4}$/);
    }
    const of = (router: string): unknown[] => [
      ...new Set(shown.filter((row) => row.router === router).map(({ own, reachable }) => `${own} ${reachable}`)),
    ];
    expect([of('1.1.1.1'), of('2.2.2.2'), of('3.3.3.3')]).toEqual([['true true'], ['false true'], ['false false']]);
  });

  test('sender prefixes are counted, ours and theirs; SIDs and the rest are none', () => {
    const counts = rows().map(({ router, proxyPrefixes }) => `${router} ${proxyPrefixes}`);
    expect(counts.filter((text) => !text.endsWith(' 0'))).toEqual(['1.1.1.1 3', '2.2.2.2 2']);
  });
});

test('what is declared and has no room, in one area or in two, is one entry that is not advertised', () => {
  const areas = [0, 1].map((areaId) => ({ areaId, capacity: 8 }));
  const agent = new ContentAgent(contentConfig(2, A, [0, 1], { areas }));
  agent.declares(declaration(2, [1, 2]));
  expect(unplacedEntries(agent.content)).toBe(2);
  const mixed = { prefix: prefix('10.9.0.0/24'), proxy: address('2001:db8::1') };
  agent.declares(origination({ proxies: [mixed] }));
  expect(unplacedEntries(agent.content)).toBe(1);
});
