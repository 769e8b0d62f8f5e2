// BGP with everything real: cnpd – gobgpd – FRR as route reflector – gobgpd – cnpd. What leaf declares reaches p byte
// for byte and its kernel; every way in which it goes away, comes back or must not be used; daemons that end at either
// side. What gobgpd holds is asked with its own command (topologies/bgp, support/bgp.ts).
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BOTH, BgpNetwork, type Gobgpath, LEAF_PNC, NHC, type SenderPrefix, pathsOf, speaker } from './support/bgp.ts';
import { KEY, LOOPBACK, SENDERS4, SENDERS6, SYSTEM, adjacent, proxy, watching } from './support/line.ts';
import type { Router, Row } from './support/network.ts';
import { LEARNED, replaysAsShown } from './support/replayed.ts';
import { contains, is, until } from '../support/until.ts';

const RR = { leaf: '2001:db8:0:1::2', p: '2001:db8:0:2::1' } as const;
const NEXT_HOP = { [SENDERS6]: LOOPBACK.leaf.ipv6, [SENDERS4]: LOOPBACK.leaf.ipv4 } as const;

/**
 * Optional and transitive, and those with Partial, which routers set that do not know the attribute (RFC 4271 §4.3).
 */
const AS_SENT = 0xc0;
const AS_ARRIVED = [0xc0, 0xe0];

const LEAF = { ...speaker('leaf', { domain: [65020, 65003] }), ...proxy('leaf') };
/** Without a domain all ASes but the own one are outside. Held for so long that no test sees it end. */
const P = { ...speaker('p', { 'hold-unreachable': '10min' }), ...watching() };

let bgp: BgpNetwork;
let leaf: Router, p: Router;

beforeAll(async () => {
  bgp = await BgpNetwork.up('frr', 'leaf', 'p');
  [leaf, p] = [bgp.router('leaf'), bgp.router('p')];
});
afterAll(() => bgp.down());

beforeEach(async () => {
  await Promise.all([leaf.running || leaf.start(LEAF), p.running || p.start(P)]);
  await Promise.all([leaf.reload(LEAF), p.reload(P)]);
  await Promise.all(BOTH.map(inForce));
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log(bgp.net.logs());
  await bgp.net.stopAll();
});

const atP = async (prefix: SenderPrefix): Promise<Gobgpath | undefined> => (await bgp.gobgpd.p.paths(prefix))[0];
const inKernel = async (prefix: SenderPrefix): Promise<boolean> =>
  (await p.mapEntries('sender_proxies'))?.some(
    (entry) => entry.startsWith(KEY[prefix]) && entry.includes('20010db8ffff00000000000000000001'),
  ) ?? false;
/** What p's table and p's kernel know of a prefix. */
const atTable = async (prefix: SenderPrefix): Promise<object> => {
  const row = await p.sender(prefix);
  return { proxy: row?.['proxy'], heldUntil: row?.['held-until'], inKernel: await inKernel(prefix) };
};
/** p's table and p's kernel have leaf as the proxy, and nothing is held. */
const inForce = (prefix: SenderPrefix): Promise<unknown> =>
  until(
    `p uses ${prefix}`,
    () => atTable(prefix),
    is({ proxy: LOOPBACK.leaf.ipv6, heldUntil: undefined, inKernel: true }),
  );
const forgotten = (prefix: SenderPrefix): Promise<unknown> =>
  until(
    `p has no proxy for ${prefix}`,
    async () => ({ proxy: (await p.sender(prefix))?.['proxy'], inKernel: await inKernel(prefix) }),
    is({ proxy: undefined, inKernel: false }),
  );

describe('through a route reflector', () => {
  test('PNC-5.4-a PNC-5-a PNC-5-b: attribute 39 arrives byte for byte in both families, and p has leaf as the proxy in its table and its kernel', async () => {
    for (const prefix of BOTH) {
      const own = (await bgp.gobgpd.leaf.paths(prefix)).map(({ nextHop, nhc }) => ({ nextHop, nhc }));
      expect(own).toEqual([{ nextHop: NEXT_HOP[prefix], nhc: { flags: AS_SENT, value: NHC[prefix] } }]);
      const arrived = (await atP(prefix))!;
      expect(arrived).toMatchObject({ nextHop: NEXT_HOP[prefix], nhc: { value: NHC[prefix] } });
      expect(AS_ARRIVED).toContain(arrived.nhc!.flags);
    }
    expect(await leaf.show('proxies')).toEqual([
      { address: LOOPBACK.leaf.ipv6, prefixes: [...BOTH], format: 'standard-cnp', 'advertised-in': ['bgp'] },
    ]);
    const senders = await p.show('senders');
    expect(senders.map((row) => row['prefix']).sort()).toEqual([...BOTH].sort());
    for (const row of senders)
      expect(row).toMatchObject({
        carrier: 'bgp',
        proxy: LOOPBACK.leaf.ipv6,
        originator: NEXT_HOP[row['prefix'] as SenderPrefix],
        pnc: true,
        best: true,
      });
  });

  test('cnpctl show bgp: the session, gobgpd’s neighbors, and each path with what came of it', async () => {
    expect(await leaf.show('bgp', 'session')).toMatchObject([
      {
        target: '127.0.0.1:50051',
        state: 'ready',
        api: expect.stringMatching(/^v[34]$/),
        as: 65001,
        'router-id': '192.0.2.1',
        originated: 2,
        wanted: 2,
      },
    ]);
    expect(await p.show('bgp', 'session')).toMatchObject([
      { state: 'ready', 'router-id': '192.0.2.2', originated: 0, wanted: 0, learned: 2, 'with-proxy': 2 },
    ]);
    const peer = (await leaf.show('bgp', 'peers')).find((row) => row['address'] === RR.leaf);
    expect(peer).toMatchObject({ as: 65001, state: 'established', advertised: 2 });
    expect([...(peer!['families'] as string[])].sort()).toEqual(['ipv4-unicast', 'ipv6-unicast']);
    for (const prefix of BOTH) {
      expect(await pathsOf(leaf, prefix)).toMatchObject([{ status: 'originated', 'next-hop': NEXT_HOP[prefix] }]);
      expect(await pathsOf(p, prefix)).toMatchObject([
        {
          status: 'used',
          peer: RR.p,
          'next-hop': NEXT_HOP[prefix],
          'header-next-hop': NEXT_HOP[prefix],
          proxy: LOOPBACK.leaf.ipv6,
        },
      ]);
    }
    expect((await p.ctl('show', 'bgp', 'paths')).stdout).toContain(SENDERS6);
  });
});

test('a carrier that begins anew is recorded; the replay ends with the session, paths and senders that p has', async () => {
  const session = ['target', 'state', 'api', 'as', 'router-id', 'originated', 'wanted', 'learned', 'with-proxy'];
  const path = ['prefix', 'peer', 'next-hop', 'header-next-hop', 'proxy', 'as-path', 'best', 'status'];
  const { replayed } = await replaysAsShown(p, ['bgp'], () => Promise.all(BOTH.map(inForce)), [
    { view: ['bgp', 'session'], fields: session },
    { view: ['bgp', 'paths'], fields: path },
    LEARNED,
  ]);
  expect(replayed.map((rows) => rows.length)).toEqual([1, 2, 2]);
});

describe('what is declared no more', () => {
  test('a reload without a sender withdraws its path and leaves the other where it is', async () => {
    const { age } = (await atP(SENDERS6))!;
    await leaf.reload({ ...LEAF, ...proxy('leaf', { senders: [{ prefix: SENDERS6, format: 'standard-cnp' }] }) });
    await forgotten(SENDERS4);
    expect(await bgp.gobgpd.p.paths(SENDERS4)).toEqual([]);
    expect((await atP(SENDERS6))!.age).toBe(age);
  });

  test('a clean stop takes every path out of gobgpd', async () => {
    expect(await leaf.stop('SIGTERM')).toBe(0);
    for (const prefix of BOTH) expect(await bgp.gobgpd.leaf.paths(prefix)).toEqual([]);
    await Promise.all(BOTH.map(forgotten));
  });
});

describe('a next hop that changes on the way', () => {
  test('FRR passes the attribute on as it was: it is disregarded and counted, until the next hop is right again', async () => {
    const before = await p.counter('bgp.learn.next-hop-mismatch');
    await bgp.nextHopSelf();
    try {
      await forgotten(SENDERS6);
      expect(await atP(SENDERS6)).toMatchObject({ nextHop: RR.p, nhc: { value: NHC[SENDERS6] } });
      expect(await pathsOf(p, SENDERS6)).toMatchObject([
        { status: 'next-hop-mismatch', 'next-hop': RR.p, 'header-next-hop': LOOPBACK.leaf.ipv6 },
      ]);
      expect(await p.counter('bgp.learn.next-hop-mismatch')).toBeGreaterThan(before);
      // The path itself is there: an unflagged prefix means that there is no proxy (decision D5).
      expect(await p.sender(SENDERS6)).toMatchObject({ carrier: 'bgp', pnc: false });
      expect(await inKernel(SENDERS4)).toBe(true);
    } finally {
      await bgp.nextHopSelf('no ');
    }
    await inForce(SENDERS6);
  });
});

describe('own paths in gobgpd', () => {
  test('a change of leaf’s path by an operator of gobgpd is undone, and p has its proxy again', async () => {
    const before = await leaf.counter('bgp.own.overwritten');
    await bgp.gobgpd.leaf.gobgp(
      'global',
      'rib',
      'add',
      SENDERS6,
      'identifier',
      String(0x636e_7064),
      'nexthop',
      LOOPBACK.leaf.ipv6,
      '-a',
      'ipv6',
    );
    await until('leaf notices', () => leaf.counter('bgp.own.overwritten'), is(before + 1));
    await until(
      'the attribute is back',
      async () => (await bgp.gobgpd.leaf.paths(SENDERS6))[0]?.nhc?.value,
      is(NHC[SENDERS6]),
    );
    await inForce(SENDERS6);
    await until('both are there', async () => (await leaf.get('bgp', 'session'))[0]!['originated'], is(2));
  });
});

describe('gobgpd ends and starts again', () => {
  test('beside leaf: its paths go with it, as BGP has it, and cnpd puts them back', async () => {
    await bgp.gobgpd.leaf.stop('SIGKILL');
    await Promise.all(BOTH.map(forgotten));
    await until(
      'leaf waits',
      async () => (await leaf.get('bgp', 'session'))[0]!['state'],
      (text) => text !== 'ready',
    );
    expect({
      originated: (await leaf.get('bgp', 'session'))[0]!['originated'],
      paths: await leaf.get('bgp', 'paths'),
    }).toEqual({ originated: 0, paths: [] });
    await bgp.gobgpd.leaf.start();
    await Promise.all(BOTH.map(inForce));
    expect(await leaf.counter('bgp.session.lost')).toBeGreaterThan(0);
  });

  test('beside p: what was learned is held meanwhile and never leaves the kernel', async () => {
    const kept = async (): Promise<void> => {
      for (const prefix of BOTH) expect(await inKernel(prefix)).toBe(true);
    };
    await bgp.gobgpd.p.stop('SIGKILL');
    for (const prefix of BOTH)
      await until(
        `${prefix} is held`,
        () => p.sender(prefix),
        (row) => row?.['held-until'],
      );
    await kept();
    await bgp.gobgpd.p.start();
    await until(
      'p hears of both again',
      async () => {
        await kept();
        return p.get('senders');
      },
      (all) => all.every((row) => row['held-until'] === undefined),
    );
    await kept();
  });
});

describe('cnpd is killed', () => {
  test('leaf’s next run withdraws the paths that are no longer desired, keeps those that are, and touches no paths of others', async () => {
    const gobgpd = bgp.gobgpd.leaf;
    // Two paths of an operator's: of a prefix of his own, and of one that cnpd advertises too.
    const OWN = '2001:db8:77::/64';
    const family = ['-a', 'ipv6'];
    await gobgpd.gobgp('global', 'rib', 'add', OWN, 'nexthop', LOOPBACK.leaf.ipv6, ...family);
    await gobgpd.gobgp('global', 'rib', 'add', SENDERS6, 'nexthop', LOOPBACK.leaf.ipv6, 'med', '100', ...family);
    try {
      await until('both paths of the prefix are there', async () => (await gobgpd.paths(SENDERS6)).length, is(2));
      await inForce(SENDERS6);
      const { age } = (await atP(SENDERS6))!;
      await leaf.stop('SIGKILL');
      expect(await gobgpd.paths(SENDERS4)).toHaveLength(1);
      await leaf.start({ ...LEAF, ...proxy('leaf', { senders: [{ prefix: SENDERS6, format: 'standard-cnp' }] }) });
      await forgotten(SENDERS4);
      expect(await gobgpd.paths(SENDERS4)).toEqual([]);
      expect((await atP(SENDERS6))!.age).toBe(age);
      expect(await leaf.counter('bgp.own.withdrawn')).toBe(1);
      expect(await leaf.stop('SIGTERM')).toBe(0);
      expect(await gobgpd.paths(SENDERS6)).toMatchObject([{ nhc: undefined }]);
      expect(await gobgpd.paths(OWN)).toHaveLength(1);
    } finally {
      await gobgpd.gobgp('global', 'rib', 'del', OWN, ...family);
      await gobgpd.gobgp('global', 'rib', 'del', SENDERS6, ...family);
    }
  });

  test('p’s kernel goes on without it, and its next run adopts the entries', async () => {
    const programs = await p.mapEntries('sender_proxies');
    await p.stop('SIGKILL');
    expect(await p.mapEntries('sender_proxies')).toEqual(programs);
    await p.start();
    await until(
      'p has learned both',
      async () => {
        for (const prefix of BOTH) expect(await inKernel(prefix)).toBe(true);
        return [await p.sender(SENDERS6), await p.sender(SENDERS4)];
      },
      (rows) => rows.every((row) => row?.['proxy'] !== undefined),
    );
    expect(await p.show<Row>('status')).toMatchObject({ adopted: true });
  });
});

describe('with other things that cnpd advertises', () => {
  test('PNC-5.4-b: the proxy’s own host prefix alone has the characteristic, and a sender’s path of the operator’s has the proxy of its next hop', async () => {
    const gobgpd = bgp.gobgpd.leaf;
    const HOST = `${LOOPBACK.leaf.ipv6}/128`;
    await gobgpd.gobgp('global', 'rib', 'add', SENDERS6, 'nexthop', LOOPBACK.leaf.ipv6, '-a', 'ipv6');
    try {
      await p.reload({ ...P, ...speaker('p', { 'via-next-hop': 'on' }) });
      // A new session begins. A prefix that leaf withdrew before gobgpd had listed it there would be held for its time.
      await inForce(SENDERS4);
      await leaf.reload({ ...LEAF, ...speaker('leaf', { advertise: 'proxy-host' }) });
      await until(
        'the host prefix arrives',
        async () => (await bgp.gobgpd.p.paths(HOST))[0]?.nhc?.value,
        (text) => text?.endsWith(LEAF_PNC),
      );
      await until(
        'the sender’s path is the operator’s',
        () => bgp.gobgpd.p.paths(SENDERS6),
        ([path]) => path !== undefined && path.nhc === undefined,
      );
      await inForce(SENDERS6);
      expect(await pathsOf(p, HOST)).toMatchObject([{ status: 'used', proxy: LOOPBACK.leaf.ipv6 }]);
      // Nobody has a route for the other prefix, so there is nothing to take its next hop from.
      await forgotten(SENDERS4);
    } finally {
      await gobgpd.gobgp('global', 'rib', 'del', SENDERS6, '-a', 'ipv6');
    }
  });

  test('RMC-5.1-d: members of a group arrive on leaf’s host routes, and go when they are configured no more', async () => {
    const members = async (): Promise<string[]> =>
      (await p.get('groups', 'members')).map(({ role, address, qpn, node, status }) =>
        [role, address, qpn, node, status].join(),
      );
    await leaf.reload({
      ...LEAF,
      srv6: { 'core-ports': ['eth1'], replication: { locator: '2001:db8:e::/48' } },
      groups: [
        {
          name: 'g',
          'proxy-address': '2001:db8:aa::1',
          'designated-qpn': 4096,
          source: { address: '2001:db8:1::1' },
          receivers: [{ address: '2001:db8:b::1', qpn: 201, edge: '2001:db8:f::1' }],
        },
      ],
    });
    await until('p knows them', members, contains('receiver,2001:db8:b::1,201,2001:db8:f::1,in force'));
    expect(await members()).toContain('source,2001:db8:1::1,4096,2001:db8:e::c2:0:0,in force');
    await leaf.reload(LEAF);
    await until('p has forgotten them', async () => (await members()).length, is(0));
  });

  test('FCN-4.2.2-a: END.CON arrives on leaf’s host route, and goes when it is configured no more', async () => {
    const sid = '2001:db8:c::1';
    const learned = async (): Promise<Row | undefined> => ofSid(await p.get('sids'));
    const ofSid = (rows: readonly Row[]): Row | undefined => rows.find((row) => row['sid'] === sid);
    await leaf.reload({
      ...LEAF,
      srv6: { 'end-con': [{ sid, locator: '2001:db8:c::/48', table: 'main' }], 'core-ports': ['eth1'] },
    });
    const row = await until('p knows the SID', () => p.get('sids'), ofSid);
    expect(row).toMatchObject({
      behavior: 'END.CON',
      origin: 'learned',
      carrier: 'bgp',
      status: 'no route to it from this router',
    });
    // The locator's route is the network's business; a static one will do.
    const [way] = JSON.parse(await p.exec('ip', '-j', '-6', 'route', 'get', LOOPBACK.leaf.ipv6)) as {
      gateway: string;
      dev: string;
    }[];
    await p.exec('ip', '-6', 'route', 'add', '2001:db8:c::/48', 'via', way!.gateway, 'dev', way!.dev);
    expect(await learned()).toMatchObject({ status: 'reachable' });
    await p.exec('ip', '-6', 'route', 'delete', '2001:db8:c::/48');
    // Both of leaf's host routes say so.
    expect(Object.values(LOOPBACK.leaf)).toContain(row['originator']);
    await leaf.reload(LEAF);
    await until('p has forgotten the SID', () => learned(), is(undefined));
  });

  test('where an IGP advertises the same, the IGP comes first, and BGP counts when it is silent', async () => {
    const isis = (name: 'leaf' | 'p'): object => ({
      isis: { 'system-id': SYSTEM[name], area: '49.0001', level: 2, interface: 'cnpd-isis', 'hello-interval': '1s' },
    });
    const carriers = async (): Promise<unknown[]> =>
      (await p.show('senders', '--all'))
        .filter((row) => row['prefix'] === SENDERS6)
        .map((row) => [row['carrier'], row['proxy'], row['best']]);
    await Promise.all([leaf.reload({ ...LEAF, ...isis('leaf') }), p.reload({ ...P, ...isis('p') })]);
    await adjacent(bgp.net, 'leaf', 'p');
    await until('IS-IS is in force', async () => (await p.sender(SENDERS6))?.['carrier'], is('isis'));
    expect(await carriers()).toEqual(
      expect.arrayContaining([
        ['isis', LOOPBACK.leaf.ipv6, true],
        ['bgp', LOOPBACK.leaf.ipv6, false],
      ]),
    );
    await leaf.reload(LEAF);
    await until('BGP is in force', async () => (await p.sender(SENDERS6))?.['carrier'], is('bgp'));
    expect(await carriers()).toEqual([['bgp', LOOPBACK.leaf.ipv6, true]]);
  });
});
