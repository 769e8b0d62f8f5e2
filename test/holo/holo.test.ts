// cnpd beside Holo (holo-routing/holo), on a line of three routers that run nothing else: what is advertised at one end
// is learned at the other, a sender is notified, and both again after either daemon was restarted. `npm run test:holo`.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../src/model/address.ts';
import { H1, H2, LOOPBACK, SENDERS4, SENDERS6, base, proxy, watching } from '../e2e/support/line.ts';
import { Network, type Router } from '../e2e/support/network.ts';
import { Flow, type Port, rocePackets } from '../e2e/support/port.ts';
import { atLeast, is, until } from '../support/until.ts';
import { Holod, type RouterName, isis, missing, ospf } from './holod.ts';

const NAMES = ['leaf', 'p', 'far'] as const;
const CONFIGURE = { args: ['--configure'] };

let net: Network;
let h1: Port, h2: Port;
const routers = {} as Record<RouterName, Router>;
const holods = {} as Record<RouterName, Holod>;

beforeAll(async () => {
  if (missing !== undefined) throw new Error(`${missing}: test/holo/build.sh makes it`);
  net = await Network.up('holo');
  for (const name of NAMES) [routers[name], holods[name]] = [net.router(name), new Holod(net.lab, name)];
  h1 = await net.port('h1:eth1', 'leaf:eth1');
  h2 = await net.port('h2:eth1', 'far:eth1');
});
afterAll(async () => {
  await Promise.all(Object.values(holods).map((holod) => holod.stop()));
  await net?.down();
});
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log(net.logs());
  for (const name of NAMES) console.log(`--- holod of ${name}\n${holods[name].log.slice(-3000)}`);
});

const beside = (intent: object): object => {
  const { router } = intent as { router: object };
  return { ...intent, router: { ...router, suite: 'holo' } };
};
const ofIsis = (name: RouterName, section: object = {}, more: object = {}): object =>
  beside({ ...base(name, section), ...more });
const ROUTER_ID = { leaf: '192.0.2.201', p: '192.0.2.202', far: '192.0.2.203' } as const;
const ofOspf = (name: RouterName, areas: readonly object[] = [{ area: 0 }], more: object = {}): object => {
  const section = { 'router-id': ROUTER_ID[name], 'hello-interval': '1s', 'dead-interval': '4s', areas };
  // YAML aliases are not allowed in cnpd.yaml.
  const ospfv3 = structuredClone(section);
  return beside({ router: { name, loopback: LOOPBACK[name] }, ospfv2: section, ospfv3, ...more });
};

async function stopAll(): Promise<void> {
  await net.stopAll();
  await Promise.all(NAMES.map((name) => holods[name].stop()));
}

/** What a router has learned of who notifies the hosts behind leaf. */
const proxies = async (router: Router): Promise<object> => ({
  v6: (await router.sender(SENDERS6))?.['proxy'],
  v4: (await router.sender(SENDERS4))?.['proxy'],
});
const LEARNED = { v6: LOOPBACK.leaf.ipv6, v4: LOOPBACK.leaf.ipv6 };
/** OSPFv2 carries IPv4 addresses. */
const BOTH = { v6: LOOPBACK.leaf.ipv6, v4: LOOPBACK.leaf.ipv4 };
const PROXY_OF_BOTH = proxy('leaf', { address: [BOTH.v6, BOTH.v4] });
const learns = (name: RouterName, expected: object = LEARNED): Promise<unknown> =>
  until(`${name} has learned the proxy`, () => proxies(routers[name]), is(expected), 90_000);
const forgets = (name: RouterName): Promise<unknown> =>
  until(`${name} has forgotten the proxy`, () => proxies(routers[name]), is({ v6: undefined, v4: undefined }));

/** What `cnpctl doctor` finds of Holo that is not right. */
async function findings(name: RouterName): Promise<unknown[]> {
  const { stdout } = await routers[name].cnpctl('-o', 'json', 'doctor');
  const { items } = JSON.parse(stdout) as { items: { id: string; state: string; problem?: string }[] };
  expect(items.filter(({ id }) => id.startsWith('holo.')).length).toBeGreaterThan(5);
  return items.filter(({ id, state }) => id.startsWith('holo.') && state !== 'ok' && id !== 'holo.isis.database');
}

const ifindex = (name: RouterName, link: string): Promise<string> =>
  routers[name].exec('cat', `/sys/class/net/${link}/ifindex`);

/** A sender behind leaf sends more than p forwards, and gets a CNP. */
async function isNotified(): Promise<void> {
  net.clearPorts();
  const ends = { source: address(H1.v6), destination: address(H2.v6), senderQpn: 0x1000, receiverQpn: 0x1001 };
  const flow = new Flow(h1, h2, ends, 1024);
  flow.connect();
  await until(
    'leaf has learned the Queue Pair',
    () => routers.leaf.get('flows'),
    (rows) => rows.some((row) => row['port'] === 'proxy' && row['source-qpn'] === ends.senderQpn),
  );
  await until(
    'the sender is notified',
    () => {
      flow.send(30);
      return h1.packets.filter((packet) => rocePackets([packet]).some(flow.isNotification)).length;
    },
    atLeast(1),
  );
}

describe('IS-IS, one level', () => {
  beforeAll(async () => {
    for (const name of NAMES) await holods[name].start(isis(name));
    await routers.leaf.start(ofIsis('leaf', {}, proxy('leaf')), CONFIGURE);
    await routers.p.start(ofIsis('p', {}, watching({ 'per-flow-interval': '5ms' })), CONFIGURE);
    await routers.far.start(ofIsis('far'), CONFIGURE);
  });
  afterAll(stopAll);

  test('--configure was all that Holo needed; a proxy is learned, and a sender notified', async () => {
    await Promise.all([learns('p'), learns('far')]);
    for (const name of NAMES) expect(await findings(name)).toEqual([]);
    await holods.p.hasRoute('2001:db8:2::/64');
    await holods.leaf.hasRoute('2001:db8:2::/64');
    await isNotified();
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'after a restart of cnpd (%s) Holo has the interface as before',
    async (signal) => {
      const before = await ifindex('leaf', 'cnpd-isis');
      await routers.leaf.stop(signal);
      if (signal === 'SIGTERM') await forgets('far');
      await routers.leaf.start();
      await Promise.all([learns('p'), learns('far')]);
      expect(await ifindex('leaf', 'cnpd-isis')).toBe(before);
      expect(await findings('leaf')).toEqual([]);
      await isNotified();
    },
  );

  test('after a restart of holod, with its configuration loaded while cnpd runs', async () => {
    const config = await holods.leaf.config();
    await holods.leaf.start(config);
    await until('leaf is a neighbor of Holo', () => routers.leaf.isUp(), is(true));
    await Promise.all([learns('p'), learns('far')]);
    await isNotified();
  });
});

describe('OSPFv2 and OSPFv3, one area', () => {
  afterEach(stopAll);

  test.each([false, true])('a proxy is learned, again after restarts (extended LSAs: %s)', async (extended) => {
    for (const name of NAMES) await holods[name].start(ospf(name, { extended }));
    await routers.leaf.start(ofOspf('leaf', [{ area: 0 }], PROXY_OF_BOTH), CONFIGURE);
    await routers.far.start(ofOspf('far'), CONFIGURE);
    await learns('far', BOTH);
    for (const name of ['leaf', 'far'] as const) expect(await findings(name)).toEqual([]);
    await routers.leaf.stop();
    await forgets('far');
    await routers.leaf.start();
    await learns('far', BOTH);
    await holods.far.start(await holods.far.config());
    await learns('far', BOTH);
  });
});

describe('a border between levels or areas', () => {
  afterEach(stopAll);

  test('IS-IS: Holo loses the P-flag there, and the router behind says so; with cnpd there it arrives', async () => {
    await holods.leaf.start(isis('leaf', 'level-1'));
    await holods.p.start(isis('p', 'level-all', '49.0001', { eth1: 'level-1', eth2: 'level-2' }));
    await holods.far.start(isis('far', 'level-2', '49.0002'));
    // A part of what Holo advertises itself: else Holo leaks its own route, and nothing of cnpd's.
    const part = '2001:db8:1:0:8000::/65';
    const senders = [{ prefix: part, format: 'standard-cnp' }];
    await routers.leaf.start(ofIsis('leaf', { level: 1 }, proxy('leaf', { senders })), CONFIGURE);
    await routers.far.start(ofIsis('far', { area: '49.0002' }), CONFIGURE);
    const lost = async (): Promise<boolean> => {
      const { problems = [] } = await routers.far.get<{ problems?: { problem: string }[] }>('status');
      return problems.some(({ problem }) => problem.includes('without the P-flag'));
    };
    await until('far reports that the flag was lost', lost, is(true), 90_000);
    expect(await routers.far.sender(part)).not.toHaveProperty('proxy');
    await routers.p.start(ofIsis('p', { level: '1-2' }), CONFIGURE);
    await until('far has learned the proxy', async () => (await routers.far.sender(part))?.['proxy'], is(LEARNED.v6));
    await until('far reports it no more', lost, is(false));
  });

  test('OSPF: with cnpd at the area border router', async () => {
    const areas = { leaf: { lo: '0.0.0.1', eth1: '0.0.0.1', eth2: '0.0.0.1' }, p: { eth1: '0.0.0.1' }, far: {} };
    for (const name of NAMES) await holods[name].start(ospf(name, { areas: areas[name] }));
    await routers.leaf.start(ofOspf('leaf', [{ area: 1 }], PROXY_OF_BOTH), CONFIGURE);
    await routers.far.start(ofOspf('far'), CONFIGURE);
    await routers.p.start(ofOspf('p', [{ area: 0 }, { area: 1 }]), CONFIGURE);
    await learns('far', BOTH);
  });
});
