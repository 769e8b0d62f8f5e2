import { byKind } from '../../../model/advertisement.fixture.ts';
import { describe, expect, test } from 'vitest';
import { address } from '../../../model/address.ts';
import { fromHex } from '../../../packet/hex.ts';
import { AS, Agent, HOLD_MS, container, nhc, path, pnc, route, shown } from '../content.fixture.ts';
import type { AsSegment } from '../../../packet/bgp/route.ts';

const LEAF = '2001:db8::2';
const SENDERS = '2001:db8:a::/48';
const PROXY = '2001:db8::2';
const sequence = (...numbers: readonly number[]): AsSegment[] => [{ type: 'sequence', numbers }];
const flaggedPath = (rest = {}) => path(LEAF, { nhc: nhc(LEAF, pnc(PROXY)), ...rest });

function connected(config: ConstructorParameters<typeof Agent>[0] = {}): Agent {
  const agent = new Agent(config);
  agent.connect();
  return agent;
}
const rows = (agent: Agent) => shown(agent.content, { now: agent.now, toWall: Date.UTC(2026, 0, 1) - agent.now });
const statuses = (agent: Agent) => rows(agent).map(({ status }) => status);

describe('what a path says', () => {
  test('PNC-5-b PNC-5.4-a: a path with the characteristic names the proxy of its prefix; one without it is reported as well, and means that there is none (decision D5)', () => {
    const agent = connected();
    agent.report(
      route(SENDERS, flaggedPath({ med: 7 })),
      route('2001:db8:b::/48', path(LEAF)),
      route('10.1.0.0/16', path('192.0.2.2', { nhc: nhc('192.0.2.2', pnc(PROXY)) })),
    );
    expect(agent.learned()).toEqual([
      '10.1.0.0/16 192.0.2.2 2001:db8::2 0',
      '2001:db8:a::/48 2001:db8::2 2001:db8::2 7',
      '2001:db8:b::/48 2001:db8::2 - 0',
    ]);
    expect(rows(agent)).toMatchObject([
      {
        prefix: SENDERS,
        peer: '2001:db8::ffff',
        nextHop: LEAF,
        headerNextHop: LEAF,
        proxy: PROXY,
        best: true,
        status: 'used',
        sids: [],
        unknown: [],
      },
      { prefix: '10.1.0.0/16', status: 'used' },
    ]);
  });

  test('a route that is gone, or has another path now, takes the place of what was there', () => {
    const agent = connected();
    agent.report(route(SENDERS, flaggedPath()));
    agent.report(route(SENDERS, path('2001:db8::3', { neighbor: '2001:db8::eeee' })));
    expect({ learned: agent.learned(), rows: rows(agent) }).toEqual({
      learned: ['2001:db8:a::/48 2001:db8::3 - 0'],
      rows: [],
    });
    agent.report(route(SENDERS));
    expect({
      learned: agent.learned(),
      readingsSize: agent.content.learning.readings.size,
      paths: agent.content.learning.paths,
    }).toEqual({ learned: [], readingsSize: 0, paths: 0 });
  });

  test('a header that names another next hop than the route has: the attribute is disregarded and counted', () => {
    const agent = connected();
    agent.report(route(SENDERS, path('2001:db8::3', { nhc: nhc(LEAF, pnc(PROXY)) })));
    expect({
      learned: agent.learned(),
      statuses: statuses(agent),
      learnNextHopMismatch: agent.count('learn.next-hop-mismatch'),
    }).toEqual({
      learned: ['2001:db8:a::/48 2001:db8::3 - 0'],
      statuses: ['next-hop-mismatch'],
      learnNextHopMismatch: 1,
    });
    expect(rows(agent)[0]).toMatchObject({ headerNextHop: LEAF, nextHop: '2001:db8::3', proxy: null });
  });

  test('a header whose address family is not the route’s: the attribute is disregarded and counted', () => {
    const agent = connected();
    const other = (afi: number, safi: number): Uint8Array => {
      const bytes = nhc(LEAF, pnc(PROXY));
      return Uint8Array.of(afi >> 8, afi & 255, safi, ...bytes.subarray(3));
    };
    agent.report(
      route(SENDERS, path(LEAF, { nhc: other(1, 1) })),
      route('2001:db8:b::/48', path(LEAF, { nhc: other(2, 128) })),
      route('2001:db8:c::/48', path(LEAF, { nhc: other(2, 1) })),
    );
    expect({
      statuses: statuses(agent),
      learnFamilyMismatch: agent.count('learn.family-mismatch'),
      learnNextHopMismatch: agent.count('learn.next-hop-mismatch'),
    }).toEqual({
      statuses: ['family-mismatch', 'family-mismatch', 'used'],
      learnFamilyMismatch: 2,
      learnNextHopMismatch: 0,
    });
    // The same bytes with a route of the other family, whose next hop is of this one (RFC 8950).
    agent.report(
      route('10.1.0.0/16', path(LEAF, { nhc: other(1, 1) })),
      route('10.2.0.0/16', path(LEAF, { nhc: other(2, 1) })),
    );
    expect(statuses(agent).slice(3)).toEqual(['used', 'family-mismatch']);
  });

  test('RFC 7606 §3 c: an attribute that is not optional and transitive is malformed, and as if it were not there', () => {
    const agent = connected();
    agent.report(route(SENDERS, path(LEAF, { nhc: nhc(LEAF, pnc(PROXY)), badNhcFlags: 0x80 })));
    expect({ learned: agent.learned(), statuses: statuses(agent), nhcBadFlags: agent.count('nhc.bad-flags') }).toEqual({
      learned: [`2001:db8:a::/48 ${LEAF} - 0`],
      statuses: ['malformed'],
      nhcBadFlags: 1,
    });
    agent.report(route(SENDERS, path(LEAF, { nhc: nhc(LEAF, pnc(PROXY)) })));
    expect(statuses(agent)).toEqual(['used']);
  });

  test('a link-local next hop is many routers’: a header that names it proves nothing without a BGP identifier, and is disregarded', () => {
    const agent = connected();
    agent.report(route(SENDERS, path('fe80::1', { nhc: nhc('fe80::1', pnc(PROXY)) })));
    expect({ learned: agent.learned(), statuses: statuses(agent) }).toEqual({
      learned: ['2001:db8:a::/48 fe80::1 - 0'],
      statuses: ['next-hop-mismatch'],
    });
    expect({
      learnLinkLocalNextHop: agent.count('learn.link-local-next-hop'),
      learnNextHopMismatch: agent.count('learn.next-hop-mismatch'),
    }).toEqual({ learnLinkLocalNextHop: 1, learnNextHopMismatch: 0 });
  });

  test('PNC-6-a: a prefix that cannot contain a sender: it has no proxy, and the path is not called used', () => {
    const agent = connected();
    const advertised = (next: string, proxy: string, ...more: Parameters<typeof nhc>[1][]) =>
      path(next, { nhc: nhc(next, pnc(proxy), ...more) });
    agent.report(
      route('ff02::/16', advertised(LEAF, PROXY)),
      route('fe80::/64', advertised(LEAF, PROXY)),
      route('127.0.0.0/8', advertised('192.0.2.2', PROXY)),
      route('0.0.0.0/0', advertised('192.0.2.2', PROXY)),
      route('240.1.0.0/16', advertised('192.0.2.2', PROXY)),
      route('ff00::/8', path(LEAF, { nhc: nhc(LEAF, { code: 3, value: fromHex('c0000201') }) })),
    );
    expect(Object.fromEntries(rows(agent).map(({ prefix, status, proxy }) => [prefix, [status, proxy]]))).toEqual({
      'ff02::/16': ['no-senders', PROXY],
      'fe80::/64': ['no-senders', PROXY],
      '127.0.0.0/8': ['no-senders', PROXY],
      '0.0.0.0/0': ['used', PROXY],
      '240.1.0.0/16': ['used', PROXY],
      'ff00::/8': ['no-characteristic', null],
    });
    expect(agent.content.learning.used).toBe(2);
  });

  test('a malformed attribute is as if it were not there; a malformed characteristic leaves the others as they are', () => {
    const agent = connected();
    const pncAnd = (code: number, hex: string) => nhc(LEAF, pnc(PROXY), { code, value: fromHex(hex) });
    agent.report(
      route('2001:db8:1::/48', path(LEAF, { nhc: fromHex('000201') })),
      route(
        '2001:db8:2::/48',
        path(LEAF, { nhc: nhc(LEAF, { code: 65500, value: fromHex('ff020000000000000000000000000001') }) }),
      ),
      route('2001:db8:3::/48', path(LEAF, { nhc: pncAnd(65501, '02000000') })),
      route('2001:db8:4::/48', path(LEAF, { nhc: pncAnd(3, 'c0000201') })),
      route('2001:db8:5::/48', path(LEAF, { nhc: nhc(LEAF, { code: 3, value: fromHex('c0000201') }) })),
    );
    expect(agent.learned().map((row) => row.split(' ')[2])).toEqual(['-', '-', PROXY, PROXY, '-']);
    expect(statuses(agent)).toEqual(['malformed', 'no-proxy-address', 'used', 'used', 'no-characteristic']);
    expect(rows(agent).map(({ headerNextHop, unknown }) => [headerNextHop, unknown])).toEqual([
      [null, []],
      [LEAF, []],
      [LEAF, []],
      [LEAF, [3]],
      [LEAF, [3]],
    ]);
    expect(
      ['nhc.truncated', 'characteristic.not-unicast', 'characteristic.unknown-version'].map((name) =>
        agent.count(name),
      ),
    ).toEqual([1, 1, 1]);
  });

  test('PNC-1-b: an AS in the path that is not of the domain: not used (decision D9); confederation members and our own AS are', () => {
    const paths: readonly (readonly [AsSegment[], string])[] = [
      [sequence(), 'used'],
      [sequence(AS), 'used'],
      [sequence(65002, 65003), 'used'],
      [
        [{ type: 'confed-sequence', numbers: [1, 2] }, { type: 'confed-set', numbers: [3] }, ...sequence(65002)],
        'used',
      ],
      [sequence(65002, 7), 'outside-domain'],
      [[...sequence(65002), { type: 'set', numbers: [65003, 7] }], 'outside-domain'],
    ];
    const agent = connected({ domain: new Set([65002, 65003]) });
    agent.report(...paths.map(([asPath], i) => route(`2001:db8:${i}::/48`, flaggedPath({ asPath }))));
    expect(statuses(agent)).toEqual(paths.map(([, status]) => status));
    expect(agent.learned().filter((row) => row.includes(' - '))).toHaveLength(2);
    expect({ learnOutsideDomain: agent.count('learn.outside-domain'), asPath: rows(agent).at(-1)?.asPath }).toEqual({
      learnOutsideDomain: 2,
      asPath: '65002 {65003,7}',
    });
  });

  test('PNC-1-b: what a neighbor outside the domain advertises is never used, whatever its AS_PATH is; nor what a neighbor of the domain advertises with another AS in front', () => {
    const from = (neighborAs: number, asPath: AsSegment[], rest = {}) => flaggedPath({ neighborAs, asPath, ...rest });
    const paths: readonly (readonly [ReturnType<typeof path>, string])[] = [
      [from(7, sequence()), 'outside-domain'],
      [from(7, sequence(AS)), 'outside-domain'],
      [from(7, sequence(65002)), 'outside-domain'],
      [from(7, sequence(7)), 'outside-domain'],
      [from(0, sequence(65002)), 'outside-domain'],
      [from(65002, sequence()), 'first-as-mismatch'],
      [from(65002, sequence(65003, 65002)), 'first-as-mismatch'],
      [from(65002, [{ type: 'set', numbers: [65002] }]), 'first-as-mismatch'],
      [from(65002, sequence(65002, 7)), 'outside-domain'],
      [from(65002, sequence(65002, 65003)), 'used'],
      [from(65101, [{ type: 'confed-sequence', numbers: [65101, 65102] }]), 'used'],
      [from(65101, [{ type: 'confed-sequence', numbers: [65102] }]), 'first-as-mismatch'],
      [from(65101, [{ type: 'confed-sequence', numbers: [65101] }, ...sequence(7)]), 'outside-domain'],
      [from(AS, sequence(65002)), 'used'],
      [from(AS, sequence(), { mark: 'outside' }), 'outside-domain'],
      [from(AS, sequence(), { mark: 'own' }), 'used'],
      [flaggedPath({ neighbor: undefined, neighborAs: 0 }), 'used'],
    ];
    const agent = connected({ domain: new Set([65002, 65003]) });
    agent.report(...paths.map(([one], i) => route(`2001:db8:${i}::/48`, one)));
    expect(statuses(agent)).toEqual(paths.map(([, status]) => status));
    expect({
      learnFirstAsMismatch: agent.count('learn.first-as-mismatch'),
      learned: agent.learned().filter((row) => !row.includes(' - ')),
    }).toEqual({ learnFirstAsMismatch: 4, learned: expect.objectContaining({ length: 5 }) });
    expect(agent.content.learning.members).toEqual(new Set([65101]));
  });

  test('with learn: all the path that gobgpd does not use is second to the one that it does', () => {
    const agent = connected({ learn: 'all' });
    agent.report(
      route(
        SENDERS,
        flaggedPath(),
        path('2001:db8::3', { neighbor: '2001:db8::eeee', best: false, nhc: nhc('2001:db8::3', pnc('2001:db8::1')) }),
      ),
    );
    expect(
      [...agent.reports.values()].flatMap((r) => byKind(r.advertisements).prefixes.map(({ second = false }) => second)),
    ).toEqual([false, true]);
  });

  test('cnpd’s own paths are never reported, others that were originated at this gobgpd are', () => {
    const agent = connected();
    agent.report(
      route(SENDERS, { ...flaggedPath(), neighbor: undefined, identifier: 0x636e7064 }),
      route('2001:db8:b::/48', { ...flaggedPath(), neighbor: undefined, identifier: 5 }),
    );
    expect(agent.learned()).toEqual(['2001:db8:b::/48 2001:db8::2 2001:db8::2 0']);
  });

  test('learn: best has one source a prefix; learn: all one a path, each with its originator', () => {
    const paths = [flaggedPath(), path('2001:db8::3', { neighbor: '2001:db8::eeee', identifier: 4, best: false })];
    const best = connected();
    best.report(route(SENDERS, ...paths));
    expect(best.learned()).toEqual(['2001:db8:a::/48 2001:db8::2 2001:db8::2 0']);
    const all = connected({ learn: 'all' });
    all.report(route(SENDERS, ...paths));
    expect(all.learned()).toEqual([
      '2001:db8:a::/48 2001:db8::eeee 4 2001:db8::3 - 0',
      '2001:db8:a::/48 2001:db8::ffff 0 2001:db8::2 2001:db8::2 0',
    ]);
    all.report(route(SENDERS, paths[1]!));
    expect(all.learned()).toEqual(['2001:db8:a::/48 2001:db8::eeee 4 2001:db8::3 - 0']);
  });

  test('paths that say the same share a reading, and it is let go with the last of them', () => {
    const agent = connected();
    const many = (paths: readonly ReturnType<typeof path>[]) =>
      Array.from({ length: 100 }, (_, n) => route(`2001:db8:${n.toString(16)}::/48`, ...paths));
    agent.report(...many([flaggedPath()]));
    expect({ readingsSize: agent.content.learning.readings.size, used: agent.content.learning.used }).toEqual({
      readingsSize: 1,
      used: 100,
    });
    agent.report(...many([]));
    expect({
      readingsSize: agent.content.learning.readings.size,
      used: agent.content.learning.used,
      sinceSize: agent.content.learning.since.size,
    }).toEqual({ readingsSize: 0, used: 0, sinceSize: 0 });
  });
});

describe('host routes of nodes', () => {
  const host = (rest = {}) => route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, container('2001:db8:c::1')), ...rest }));

  test('the private characteristic advertises SIDs and of the router’s address on the host route of its own next hop only', () => {
    const agent = connected();
    agent.report(host(), route('2001:db8::3/128', path(LEAF, { nhc: nhc(LEAF, container('2001:db8:c::1')) })));
    const reportOf = (source: string) => byKind(agent.reports.get(source)!.advertisements);
    const advertised = reportOf(`${LEAF}/128`);
    expect({ sids: advertised.sids, routerAddresses: advertised.routerAddresses }).toEqual({
      sids: [{ kind: 'sid', sid: address('2001:db8:c::1'), behavior: 0x8002 }],
      routerAddresses: [address(LEAF)],
    });
    expect(reportOf('2001:db8::3/128').sids).toEqual([]);
    expect({ learnPrivateMisplaced: agent.count('learn.private-misplaced'), statuses: statuses(agent) }).toEqual({
      learnPrivateMisplaced: 1,
      statuses: ['used', 'no-characteristic'],
    });
    expect(rows(agent).map(({ sids }) => sids)).toEqual([['2001:db8:c::1'], []]);
    agent.report(host({ nhc: undefined }));
    expect(reportOf(`${LEAF}/128`).sids).toEqual([]);
  });

  test('an empty container means that the router answers there', () => {
    const agent = connected();
    agent.report(host({ nhc: nhc(LEAF, container()) }));
    expect(byKind(agent.reports.get(`${LEAF}/128`)!.advertisements)).toMatchObject({
      routerAddresses: [address(LEAF)],
      prefixes: [{ pnc: false }],
    });
  });

  test('PNC-5.4-b: via-next-hop: the proxy that the next hop’s host route names is that of the routes through it, whichever is reported first', () => {
    const agent = connected({ viaNextHop: true });
    const own = route('2001:db8:b::/48', path(LEAF, { nhc: nhc(LEAF, pnc('2001:db8::77')) }));
    agent.report(route(SENDERS, path(LEAF, { med: 3 })), own, route('2001:db8:c::/48', path('2001:db8::3')));
    const proxies = (): string[] =>
      agent.learned().map((row) => row.split(' ').slice(0, 1).concat(row.split(' ')[2]!).join(' '));
    agent.report(host({ nhc: nhc(LEAF, pnc('2001:db8::99')) }));
    expect(proxies()).toEqual([
      '2001:db8::2/128 2001:db8::99',
      '2001:db8:a::/48 2001:db8::99',
      '2001:db8:b::/48 2001:db8::77',
      '2001:db8:c::/48 -',
    ]);
    agent.report(route('2001:db8:d::/48', path(LEAF)), route('2001:db8:e::/48', path(LEAF, { asPath: sequence(7) })));
    expect(proxies().slice(-2)).toEqual(['2001:db8:d::/48 2001:db8::99', '2001:db8:e::/48 -']);
    agent.report(host({ nhc: nhc(LEAF, pnc('2001:db8::98')) }));
    expect(proxies()[1]).toBe('2001:db8:a::/48 2001:db8::98');
    agent.report(route(`${LEAF}/128`));
    expect(proxies()).toEqual([
      '2001:db8:a::/48 -',
      '2001:db8:b::/48 2001:db8::77',
      '2001:db8:c::/48 -',
      '2001:db8:d::/48 -',
      '2001:db8:e::/48 -',
    ]);
    expect(agent.learned()[0]).toBe('2001:db8:a::/48 2001:db8::2 - 3');
  });

  test('without via-next-hop a host route is a route like any other', () => {
    const agent = connected();
    agent.report(route(SENDERS, path(LEAF)), host({ nhc: nhc(LEAF, pnc('2001:db8::99')) }));
    expect(agent.learned()[1]).toBe('2001:db8:a::/48 2001:db8::2 - 0');
  });
});

describe('a connection that is lost', () => {
  test('nothing is reachable any more, and what is reported again in time stays as it was', () => {
    const agent = connected();
    agent.report(route(SENDERS, flaggedPath()), route('2001:db8:b::/48', path('2001:db8::3')));
    agent.lose();
    expect({
      reachableSize: agent.reachable.size,
      reportsSize: agent.reports.size,
      learned: agent.learned(),
      state: agent.content.session.state,
    }).toEqual({ reachableSize: 0, reportsSize: 2, learned: [], state: 'waiting' });
    agent.pass(HOLD_MS / 2);
    agent.connect(route(SENDERS, flaggedPath()));
    // The other may be reported when gobgpd has its neighbors again; its originator is not reachable until then, so
    // that the learned table holds it.
    expect({ learned: agent.learned(), reportsSize: agent.reports.size }).toEqual({
      learned: ['2001:db8:a::/48 2001:db8::2 2001:db8::2 0'],
      reportsSize: 2,
    });
    agent.pass(HOLD_MS / 2 - 1);
    expect(agent.reports.size).toBe(2);
    agent.pass(1);
    expect({
      reports: [...agent.reports.keys()],
      learnDropped: agent.count('learn.dropped'),
      paths: agent.content.learning.paths,
    }).toEqual({ reports: [SENDERS], learnDropped: 1, paths: 1 });
  });

  test('what is reported last is not dropped, and each loss has its own time', () => {
    const agent = connected();
    agent.report(route(SENDERS, flaggedPath()), route('2001:db8:b::/48', path(LEAF)));
    agent.lose();
    agent.pass(1000);
    agent.connect(route(SENDERS, flaggedPath()));
    agent.lose();
    agent.pass(HOLD_MS - 1000);
    expect([...agent.reports.keys()]).toEqual([SENDERS]);
    agent.connect();
    agent.report(route('2001:db8:b::/48', path(LEAF)));
    agent.pass(1000);
    expect([...agent.reports.keys()]).toEqual(['2001:db8:b::/48']);
    expect({
      heldLength: agent.content.learning.held.length,
      readingsSize: agent.content.learning.readings.size,
      reachable: agent.reachable,
    }).toEqual({ heldLength: 0, readingsSize: 1, reachable: new Set([LEAF]) });
  });

  test('a proxy behind a next hop is held with its host route', () => {
    const agent = connected({ viaNextHop: true });
    const hostRoute = route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, pnc('2001:db8::99')) }));
    agent.report(hostRoute, route(SENDERS, path(LEAF)));
    agent.lose();
    agent.connect(route(SENDERS, path(LEAF)));
    expect(agent.learned()).toContain('2001:db8:a::/48 2001:db8::2 2001:db8::99 0');
    agent.pass(HOLD_MS);
    expect(agent.learned()).toEqual(['2001:db8:a::/48 2001:db8::2 - 0']);
  });
});

test('50,000 paths: what is left over is done a slice a turn', () => {
  const agent = connected({ viaNextHop: true });
  const advertised = Array.from({ length: 50_000 }, (_, n) =>
    route(`2001:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::/48`, path(LEAF)),
  );
  agent.report(...advertised);
  agent.event({ type: 'routes', routes: [route(`${LEAF}/128`, path(LEAF, { nhc: nhc(LEAF, pnc(PROXY)) }))] });
  expect(agent.settle()).toBeGreaterThanOrEqual(50);
  expect(agent.learned().filter((row) => row.endsWith(`${PROXY} 0`))).toHaveLength(50_001);
  agent.lose();
  agent.now += HOLD_MS;
  expect(agent.settle()).toBeGreaterThanOrEqual(50);
  expect({ reportsSize: agent.reports.size, readingsSize: agent.content.learning.readings.size }).toEqual({
    reportsSize: 0,
    readingsSize: 0,
  });
});
