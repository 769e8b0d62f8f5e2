// The carrier with a client that a test moves by hand, and the real learned table behind it.
import { expect, test } from 'vitest';
import { address } from '../../model/address.ts';
import { OPTIONS, fixture } from './carrier.fixture.ts';
import type { BgpCarrierOptions } from './carrier.ts';
import { ABOUT, container, declaration, nhc, path, pnc, route } from './content.fixture.ts';
import { OWN_IDENTIFIER } from './gobgp/gobgp.ts';
import { is, matches, until } from '../../../test/support/until.ts';

/** The path of 2001:db8:a::/48 as gobgpd reports it. */
const heard = route(
  '2001:db8:a::/48',
  path('2001:db8::1', { neighbor: undefined, identifier: OWN_IDENTIFIER, nhc: nhc('2001:db8::1', pnc('2001:db8::1')) }),
);

test('it starts without a gobgpd, puts its paths in when there is one, and takes them out before it closes', async () => {
  const { calls, answers, carrier, counters, listener } = fixture();
  carrier.originate(declaration({ '2001:db8:a::/48': '2001:db8::1', '10.1.0.0/16': '192.0.2.1' }));
  await carrier.start();
  listener.lost({ code: 'not-there', reason: 'connection refused' }, 2000);
  expect(carrier.session()).toMatchObject({
    state: 'waiting',
    reason: 'connection refused; tries again in 2 s',
    since: '2026-01-01T00:00:00.000Z',
  });
  listener.connected(ABOUT);
  listener.listed([]);
  await until('2 calls', () => calls.length, is(2));
  expect({ calls, unplaced: carrier.unplaced(), originated: carrier.session().originated }).toEqual({
    calls: ['start', 'add 2001:db8:a::/48'],
    unplaced: 1,
    originated: 0,
  });
  answers.shift()!();
  await until('bgp.own.added is 1', () => counters.get('bgp.own.added'), is(1));
  expect({ originated: carrier.session().originated, paths: await carrier.paths() }).toEqual({
    originated: 0,
    paths: [],
  });
  listener.routes([heard]);
  expect(carrier.session().originated).toBe(1);
  expect(await carrier.paths()).toMatchObject([
    { prefix: '2001:db8:a::/48', peer: 'local', status: 'originated', proxy: '2001:db8::1' },
  ]);
  const stopped = carrier.stop();
  await until('3 calls', () => calls.length, is(3));
  expect(calls.at(-1)).toBe('withdraw 2001:db8:a::/48');
  answers.shift()!();
  await stopped;
  expect({ calls: calls.at(-1), leavesPaths: carrier.leavesPaths() }).toEqual({ calls: 'close', leavesPaths: false });
  expect(carrier.stop()).toBe(carrier.stop());
  expect({ bgpOwnAdded: counters.get('bgp.own.added'), bgpOwnWithdrawn: counters.get('bgp.own.withdrawn') }).toEqual({
    bgpOwnAdded: 1,
    bgpOwnWithdrawn: 1,
  });
});

test('what gobgpd does not tell of it is asked about, and asked again when that fails', async () => {
  const { clock, calls, answers, carrier, listener } = fixture();
  carrier.originate(declaration({ '2001:db8:a::/48': '2001:db8::1' }));
  listener.connected(ABOUT);
  listener.listed([]);
  await until('an answer', () => answers.length, is(1));
  answers.shift()!();
  for (const failure of [new Error('lost'), undefined]) {
    await until('an answer', () => (clock.advance(1000), answers.length), is(1));
    expect(calls.at(-1)).toBe('look 2001:db8:a::/48');
    answers.shift()!(failure);
  }
  await until('dropped is 1', () => carrier.session().dropped, is(1));
});

test('a client that fails is asked again, and a stop does not wait for one that is silent', async () => {
  const { clock, calls, answers, carrier, counters, listener } = fixture();
  carrier.originate(declaration({ '2001:db8:a::/48': '2001:db8::1' }));
  await carrier.start();
  listener.connected(ABOUT);
  listener.listed([]);
  await until('an answer', () => answers.length, is(1));
  answers.shift()!(new Error('table is full'));
  await until('bgp.own.refused is 1', () => counters.get('bgp.own.refused'), is(1));
  clock.advance(5000);
  await until('3 calls', () => calls.length, is(3));
  expect(calls.slice(1)).toEqual(['add 2001:db8:a::/48', 'add 2001:db8:a::/48']);
  const stopped = carrier.stop();
  expect(carrier.leavesPaths()).toBe(false);
  await until('it is closed', () => (clock.advance(1000), calls.at(-1)), matches(/^close/));
  await stopped;
  expect({ calls: calls.at(-1), leavesPaths: carrier.leavesPaths() }).toEqual({
    calls: 'close, policies stay',
    leavesPaths: true,
  });
});

test.each<[string, Partial<BgpCarrierOptions>, string]>([
  ['at the same gobgpd: the policies stay for it', { advertise: 'proxy-host' }, 'close, policies stay'],
  ['without policies', { policy: false }, 'close'],
  ['at another gobgpd', { gobgp: { ...OPTIONS.gobgp, target: 'unix:/x' } }, 'close'],
])('a carrier that takes its place %s', async (_, change, last) => {
  const { calls, carrier, listener } = fixture();
  listener.connected(ABOUT);
  listener.listed([]);
  await carrier.stop({ ...OPTIONS, ...change });
  expect({ calls, leavesPaths: carrier.leavesPaths() }).toEqual({ calls: [last], leavesPaths: false });
});

test('a gobgpd that cannot be asked may have our paths: its policies stay', async () => {
  const { calls, carrier } = fixture();
  await carrier.stop();
  expect({ calls, leavesPaths: carrier.leavesPaths() }).toEqual({ calls: ['close, policies stay'], leavesPaths: true });
});

test('RFC 5065: members of the confederation are reported to the client as soon as a path shows them, and once', () => {
  const { calls, listener } = fixture();
  const from = (as: number) =>
    path('2001:db8::2', { neighborAs: as, asPath: [{ type: 'confed-sequence', numbers: [as] }] });
  listener.connected(ABOUT);
  listener.routes([route('2001:db8:b::/48', path('2001:db8::2'))]);
  expect(calls).toEqual([]);
  listener.routes([route('2001:db8:c::/48', from(65101))]);
  listener.routes([route('2001:db8:d::/48', from(65101))]);
  listener.routes([route('2001:db8:e::/48', from(65102))]);
  expect(calls).toEqual(['members 65101', 'members 65101 65102']);
});

test('gobgpd’s neighbors, with whether they are of the domain; undefined while that is not known', async () => {
  const neighbor = { address: '192.0.2.7', state: 'established' as const, families: [], received: 0, advertised: 0 };
  const { carrier, listener } = fixture([7, ABOUT.as].map((as) => ({ ...neighbor, as })));
  listener.connected(ABOUT);
  expect((await carrier.peers())?.map(({ as, inDomain }) => [as, inDomain])).toEqual([
    [7, false],
    [ABOUT.as, true],
  ]);
  expect(await fixture().carrier.peers()).toBeUndefined();
});

test('a client that removes our paths again and again is named', async () => {
  const { answers, carrier, logged, listener } = fixture();
  carrier.originate(declaration({ '2001:db8:a::/48': '2001:db8::1' }));
  listener.connected(ABOUT);
  listener.listed([]);
  for (let round = 0; round < 11; round++) {
    await until('an answer', () => answers.length, is(1));
    answers.shift()!();
    await until('wanted is 1', () => carrier.session().wanted, is(1));
    listener.routes([heard]);
    expect({ disputed: carrier.disputed(), logged }).toEqual({ disputed: false, logged: [] });
    listener.routes([{ ...heard, paths: [] }]);
  }
  expect(carrier.disputed()).toBe(true);
  expect(logged).toEqual([
    [
      expect.objectContaining({ carrier: 'bgp', counter: 'bgp.own.disputed' }),
      expect.stringContaining('another client'),
    ],
  ]);
});

test('SIDs whose behavior is that of END.CON are learned', () => {
  const { sids, listener } = fixture();
  listener.connected(ABOUT);
  listener.routes([
    route('2001:db8::2/128', path('2001:db8::2', { nhc: nhc('2001:db8::2', container('2001:db8:c::1')) })),
  ]);
  expect(sids.get('2001:db8::2/128')).toMatchObject([{ sid: address('2001:db8:c::1') }]);
});

test('what gobgpd reports goes to the learned table, originators first', () => {
  const { carrier, reports, reachable, listener } = fixture();
  listener.connected(ABOUT);
  listener.routes([
    route('2001:db8:b::/48', path('2001:db8::2', { nhc: nhc('2001:db8::2', pnc('2001:db8::2')) })),
    route('2001:db8:c::/48', path('2001:db8::3')),
  ]);
  listener.listed([]);
  expect([...reports]).toEqual([
    ['2001:db8:b::/48', '2001:db8::2'],
    ['2001:db8:c::/48', '-'],
  ]);
  expect(reachable).toEqual([['2001:db8::2', '2001:db8::3']]);
  expect(carrier.session()).toMatchObject({ state: 'ready', learned: 2, withProxy: 1 });
  listener.lost({ code: 'other', reason: 'gone' }, 1);
  expect(reachable.at(-1)).toEqual([]);
});

test('a reload: what and how it advertises and the hold time are taken over, the rest needs a new carrier', async () => {
  const { calls, answers, carrier, listener } = fixture();
  carrier.originate(declaration({ '2001:db8:a::/48': '2001:db8::1' }));
  listener.connected(ABOUT);
  listener.listed([]);
  await until('an answer', () => answers.length, is(1));
  answers.shift()!();
  listener.routes([heard]);
  await until('originated is 1', () => carrier.session().originated, is(1));
  expect(carrier.update({ ...OPTIONS, communities: [7], holdUnreachableMs: 1 })).toBe(true);
  await until('2 calls', () => calls.length, is(2));
  expect(calls).toEqual(['add 2001:db8:a::/48', 'add 2001:db8:a::/48']);
  for (const change of [
    { domain: [7] },
    { learn: 'all' as const },
    { viaNextHop: true },
    { gobgp: { ...OPTIONS.gobgp, target: 'unix:/x' } },
  ])
    expect(carrier.update({ ...OPTIONS, ...change })).toBe(false);
});

test('50,000 paths are shown a slice a turn, each once, while gobgpd reports changes', async () => {
  const { carrier, listener } = fixture();
  await carrier.start();
  listener.connected(ABOUT);
  const heard = (n: number) =>
    route(
      `2001:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::/48`,
      path('2001:db8::2', { nhc: nhc('2001:db8::2', pnc('2001:db8::2')) }),
    );
  const routes = Array.from({ length: 50_000 }, (_, n) => heard(n + 0x1_0000));
  listener.routes(routes);
  let rows: readonly { readonly prefix: string }[] | undefined;
  let turns = 0;
  void carrier.paths().then((all) => (rows = all));
  for (; !rows; turns++) {
    // Gone and back: at another place of the table.
    if (turns === 5) listener.routes([{ ...routes[0]!, paths: [] }, routes[0]!]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect({ rowsLength: rows.length, rowsSize: new Set(rows.map(({ prefix }) => prefix)).size }).toEqual({
    rowsLength: 50_000,
    rowsSize: 50_000,
  });
  expect(turns).toBeGreaterThanOrEqual(50);
  expect(turns).toBeLessThan(1000);
});
