// PNC between IS-IS levels through real FRR, which leaks nothing of it itself: two agents are in both levels, so that
// one could leak back what the other has leaked. Agents are whole daemons.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { adjacent } from './support/line.ts';
import { Network, type Router, type Row } from './support/network.ts';
import { atLeast, is, moreThan, until } from '../support/until.ts';

const UP = '2001:db8:1::/64';
const DOWN = '2001:db8:3::/64';
/** An ordinary prefix of r1's FRR, without the flag. */
const PLAIN = '2001:db8:77::/64';
const ADDRESS = { r1: '2001:db8:ffff::1', r3: '2001:db8:ffff::3' } as const;
const SYSTEM = { r1: '0000.0000.c001', r2a: '0000.0000.c021', r2b: '0000.0000.c022', r3: '0000.0000.c003' } as const;
type Name = keyof typeof SYSTEM;

let net: Network;
let r: Record<Name, Router>;

const intent = (name: Name, level: string | number, more: object = {}): object => ({
  router: { name },
  isis: {
    'system-id': SYSTEM[name],
    area: name === 'r3' ? '49.0002' : '49.0001',
    level,
    interface: 'cnpd-isis',
    'hello-interval': '1s',
    'hold-unreachable': '1min',
  },
  ...more,
});
const proxying = (address: string, prefix: string): object => ({
  proxy: { address, senders: [{ prefix, format: 'standard-cnp' }], 'accept-from': ['2001:db8:ffff::/48'] },
});
const INTENT = {
  r1: intent('r1', 1, proxying(ADDRESS.r1, UP)),
  r2a: intent('r2a', '1-2'),
  r2b: intent('r2b', '1-2'),
  r3: intent('r3', 2, proxying(ADDRESS.r3, DOWN)),
};

beforeAll(async () => {
  net = await Network.up('levels');
  r = { r1: net.router('r1'), r2a: net.router('r2a'), r2b: net.router('r2b'), r3: net.router('r3') };
  await r.r1.frr('configure', 'interface lo', 'ipv6 address 2001:db8:77::1/64');
});
afterAll(() => net.down());
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

const start = async (...names: Name[]): Promise<void> => {
  await Promise.all(names.map((name) => r[name].start(INTENT[name])));
  await adjacent(net, ...names);
};
/** What a router has learned of a prefix with the flag, as `originator proxy`. */
const flagged = async (at: Name, prefix: string): Promise<string[]> =>
  (await r[at].get('senders'))
    .filter((row) => row['prefix'] === prefix && row['pnc'] === true && row['originator'] !== 'this router')
    .map((row) => `${String(row['originator'])} ${String(row['proxy'])}`);
const leaked = async (): Promise<Record<'r2a' | 'r2b', number>> => ({
  r2a: await r.r2a.counter('isis.carry.carried'),
  r2b: await r.r2b.counter('isis.carry.carried'),
});

test('PNC-5.1-c: FRR alone leaks nothing between levels', async () => {
  await start('r1', 'r3');
  await until(
    'r2a holds both, each in its level',
    async () => (await r.r2a.frr('show isis database detail')).split('Level-2 link-state'),
    ([one, two]) => one!.includes(`${UP} (Metric: 4261412865)`) && two!.includes(`${DOWN} (Metric: 4261412865)`),
  );
  expect(await flagged('r3', UP)).toEqual([]);
  expect(await flagged('r1', DOWN)).toEqual([]);
});

test('PNC-5.1-c A15: an agent in both levels leaks the prefix with flag and proxy address, up and down', async () => {
  await start('r2b');
  await until('up', async () => (await flagged('r3', UP)).length, moreThan(0));
  await until('down', async () => (await flagged('r1', DOWN)).length, moreThan(0));
  expect(await flagged('r3', UP)).toEqual([`L2 ${SYSTEM.r2b} ${ADDRESS.r1}`]);
  expect(await flagged('r1', DOWN)).toEqual([`L1 ${SYSTEM.r2b} ${ADDRESS.r3}`]);
  expect((await r.r3.show<Row>('senders', '2001:db8:1::2'))['proxy']).toBe(ADDRESS.r1);
  expect((await r.r1.show<Row>('senders', '2001:db8:3::2'))['proxy']).toBe(ADDRESS.r3);
});

test('PNC-5.1-c A15: a prefix with a clear flag stays clear: it gains no flag and no proxy in the other level', async () => {
  await until(
    'the agent in both levels sees it',
    () => r.r2b.get('senders'),
    (all) => all.some((row) => row['prefix'] === PLAIN && row['pnc'] === false),
  );
  expect(await flagged('r3', PLAIN)).toEqual([]);
  expect((await r.r3.ctl('show', 'senders', '2001:db8:77::2')).code).toBe(1);
  // Neither agent has taken it into a level of its own.
  for (const name of ['r2b', 'r3'] as const)
    expect(
      (await r[name].get('senders')).filter((row) => row['prefix'] === PLAIN && row['proxy'] !== undefined),
    ).toEqual([]);
});

test('PNC-5.1-c A15: a second agent in both levels takes over by its lower system ID, and neither leaks back what the other has leaked', async () => {
  await start('r2a');
  await until('r2a leaks up', async () => (await flagged('r3', UP)).join(), is(`L2 ${SYSTEM.r2a} ${ADDRESS.r1}`));
  await until('r2a leaks down', async () => (await flagged('r1', DOWN)).join(), is(`L1 ${SYSTEM.r2a} ${ADDRESS.r3}`));
  // No echo: where a prefix comes from, no other router claims it.
  expect(await flagged('r1', UP)).toEqual([]);
  expect(await flagged('r3', DOWN)).toEqual([]);
  expect(await leaked()).toEqual({ r2a: 2, r2b: 2 });
  expect(await r.r2b.counter('isis.carry.withdrawn')).toBe(2);
  const settled = async (): Promise<string> =>
    JSON.stringify([await r.r2a.counter('isis.own.issued'), await r.r2b.counter('isis.own.issued'), await leaked()]);
  const before = await settled();
  // A change elsewhere passes through both: would they answer each other, they would not come to rest.
  r.r1.configure(
    intent('r1', 1, {
      proxy: {
        address: ADDRESS.r1,
        senders: [UP, '2001:db8:1:1::/64'].map((prefix) => ({ prefix, format: 'standard-cnp' })),
        'accept-from': ['2001:db8:ffff::/48'],
      },
    }),
  );
  expect((await r.r1.ctl('reload')).code).toBe(0);
  await until('the new one is leaked', async () => (await flagged('r3', '2001:db8:1:1::/64')).length, moreThan(0));
  r.r1.configure(INTENT.r1);
  expect((await r.r1.ctl('reload')).code).toBe(0);
  await until('the new one is gone again', async () => (await flagged('r3', '2001:db8:1:1::/64')).length, is(0));
  expect(await flagged('r3', UP)).toEqual([`L2 ${SYSTEM.r2a} ${ADDRESS.r1}`]);
  expect(await settled()).not.toBe(before);
  const after = await settled();
  const csnps = await r.r2b.counter('isis.rx.hello');
  await until('five hellos later', () => r.r2b.counter('isis.rx.hello'), atLeast(csnps + 5));
  expect(await settled()).toBe(after);
});

test('PNC-5.1-c: the leaking agent is killed: the other goes on, and the proxy is never lost', async () => {
  await r.r2a.stop('SIGKILL');
  await until(
    'r2b leaks',
    async () => {
      const now = await flagged('r3', UP);
      expect(now.join()).toContain(ADDRESS.r1);
      return now;
    },
    (now) => now.some((each) => each.startsWith(`L2 ${SYSTEM.r2b} `)),
  );
});

test('PNC-5.1-c: when the proxy withdraws, nothing of it is left in the other level: no two copies keep each other alive', async () => {
  await start('r2a');
  await until('r2a leaks up', async () => (await flagged('r3', UP)).join(), is(`L2 ${SYSTEM.r2a} ${ADDRESS.r1}`));
  await r.r1.stop('SIGTERM');
  await until('gone from level 2', async () => (await flagged('r3', UP)).length, is(0));
  for (const name of ['r2a', 'r2b'] as const) expect(await flagged(name, UP)).toEqual([]);
});
