// Capabilities: cnpd gives up what it does not need, in all its threads, and does everything with what is left, beside
// a real FRR.
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from './support/frr.ts';
import { footprint } from './support/footprint.ts';
import { SENDERS4, SENDERS6, adjacent, base, proxy, watching } from './support/line.ts';
import { Network, type Router } from './support/network.ts';

const LEAF = {
  ...base('leaf'),
  ...proxy('leaf'),
  ...watching(),
  'border-ports': ['eth9'],
  stamp: { reflector: true, 'accept-from': ['2001:db8:ffff::/48'] },
};
const SMALLEST = ['net_admin', 'net_bind_service', 'net_raw', 'sys_admin'];
/** Bits of capability.h. */
const BITS: Readonly<Record<string, bigint>> = {
  chown: 0n,
  dac_override: 1n,
  net_bind_service: 10n,
  net_admin: 12n,
  net_raw: 13n,
  sys_admin: 21n,
};
const maskOf = (names: readonly string[]): string =>
  names
    .reduce((mask, name) => mask | (1n << BITS[name]!), 0n)
    .toString(16)
    .padStart(16, '0');

let net: Network;
let leaf: Router, far: Router;
let before: unknown;

beforeAll(async () => {
  net = await Network.up('line', 'privileges');
  [leaf, far] = [net.router('leaf'), net.router('far')];
  await leaf.exec(
    'tc',
    'qdisc',
    'replace',
    'dev',
    'eth2',
    'root',
    'tbf',
    'rate',
    '20mbit',
    'burst',
    '3000',
    'limit',
    '400000',
  );
  before = await footprint(leaf);
  await far.start(base('far'));
});
afterAll(() => net.down());
beforeEach(() => void (leaf.log = ''));
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
  await leaf.stop();
});

/** What each thread of cnpd has: the three sets that it can use or get, of all threads together. */
const setsOfThreads = (): string[] => {
  const threads = readdirSync(`/proc/${leaf.pid}/task`).map((thread) =>
    readFileSync(`/proc/${leaf.pid}/task/${thread}/status`, 'utf8'),
  );
  expect(threads.length).toBeGreaterThan(1);
  return [
    ...new Set(
      threads.flatMap((status) =>
        ['CapPrm', 'CapEff', 'CapBnd'].map((set) => new RegExp(`^${set}:\\s*(\\w+)`, 'm').exec(status)![1]!),
      ),
    ),
  ];
};

const farKnows = (prefix: string): Promise<unknown> =>
  eventually(`far knows ${prefix}`, async () => (await far.sender(prefix)) !== undefined);

async function everythingWorks(): Promise<void> {
  await adjacent(net, 'leaf', 'far');
  await Promise.all([SENDERS6, SENDERS4].map(farKnows));
  const hooks = (await footprint(leaf))['hooks']!.join();
  for (const port of ['eth1', 'eth2', 'eth9']) expect(hooks).toContain(port);
  expect(await leaf.show('status')).toMatchObject({ health: 'running' });
  await leaf.reload({ ...LEAF, 'border-ports': [] });
  expect(
    (await footprint(leaf))['hooks']!.filter((hook) => hook.includes('eth9') && !hook.startsWith('proxy')),
  ).toEqual([]);
  await leaf.reload(LEAF);
  expect(
    (await footprint(leaf))['hooks']!.filter((hook) => hook.includes('eth9') && !hook.startsWith('proxy')),
  ).not.toEqual([]);
}

test('SIGUSR1 opens no inspector, through which every local user would have what cnpd has', async () => {
  await leaf.start(LEAF);
  leaf.signal('SIGUSR1');
  await eventually('it is told', () => Promise.resolve(leaf.log.includes('this signal does nothing here')));
  await leaf.reload(LEAF);
  // Node's inspector says where it listens as soon as it does, on standard error.
  expect(leaf.log).not.toContain('Debugger listening');
  expect(await leaf.exec('ss', '-Hltn')).not.toContain(':9229');
});

describe('the smallest set', () => {
  test('cnpd gives up all other capabilities in every thread, says so, and does its work beside FRR until uninstall', async () => {
    await leaf.start(LEAF);
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    expect(leaf.log).toMatch(/"kept":\{\},"msg":"giving up the capabilities that are not needed"/);
    expect(leaf.log).toContain(
      '"used":["CAP_NET_BIND_SERVICE","CAP_NET_ADMIN","CAP_NET_RAW","CAP_SYS_ADMIN"],"others":0',
    );
    await everythingWorks();
    await leaf.stop('SIGKILL');
    await leaf.start();
    expect(leaf.log).toContain('"adopted":true');
    await everythingWorks();
    expect(await leaf.stop()).toBe(0);
    expect(await leaf.ctl('uninstall')).toMatchObject({ code: 0 });
    expect(await footprint(leaf)).toEqual(before);
  });

  test('what a service manager has taken away already is not asked for: nothing is given up, and everything works, uninstall with it', async () => {
    const through = ['setpriv', `--bounding-set=-all,${SMALLEST.map((name) => `+${name}`).join()}`, '--inh-caps=-all'];
    await leaf.start(LEAF, { through });
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    expect(leaf.log).not.toContain('giving up');
    await everythingWorks();
    expect(await leaf.stop()).toBe(0);
    expect(await leaf.ctl('uninstall')).toMatchObject({ code: 0 });
    expect(await footprint(leaf)).toEqual(before);
  });
});

describe('what a configuration needs besides', () => {
  test('gnmi.socket-group: CAP_CHOWN stays, and the socket is of that group', async () => {
    await leaf.start({ router: { name: 'leaf' }, gnmi: { 'socket-group': 'daemon' } });
    expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'chown'])]);
    expect(leaf.log).toContain('"kept":{"CAP_CHOWN":"gnmi.socket-group"}');
    expect((await leaf.exec('stat', '-c', '%U %G %a', '/run/cnpd/gnmi.sock')).trim()).toBe('root daemon 660');
    // Who is in the group is answered, who is not is refused.
    const as = (group: string): Promise<string> =>
      leaf.exec(
        'sh',
        '-c',
        `setpriv --reuid=65534 --regid=${group} --clear-groups ${process.execPath} ${new URL('../../dist/cnpctl.js', import.meta.url).pathname} show status -o json || true`,
      );
    expect(await as('daemon')).toContain('"health": "running"');
    expect(await as('nogroup')).not.toContain('running');
  });

  test('a file that only another user may read: CAP_DAC_OVERRIDE stays, and the log says for which', async () => {
    await leaf.configure({ router: { name: 'leaf' } });
    await leaf.exec('sh', '-c', 'chown nobody /etc/cnpd/cnpd.yaml && chmod 600 /etc/cnpd/cnpd.yaml');
    try {
      await leaf.start();
      expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'dac_override'])]);
      expect(leaf.log).toContain('"kept":{"CAP_DAC_OVERRIDE":"/etc/cnpd/cnpd.yaml"}');
      expect(await leaf.ctl('reload')).toMatchObject({ code: 0 });
    } finally {
      await leaf.exec('sh', '-c', 'chown root /etc/cnpd/cnpd.yaml && chmod 644 /etc/cnpd/cnpd.yaml');
    }
  });

  test("gobgpd's UNIX socket: CAP_DAC_OVERRIDE stays while it is not there, and not for one of root's", async () => {
    const intent = { router: { name: 'leaf' }, bgp: { gobgp: { target: 'unix:/run/gobgpd/api.sock' } } };
    await leaf.start(intent);
    expect(leaf.log).toContain('"kept":{"CAP_DAC_OVERRIDE":"/run/gobgpd/api.sock"}');
    await leaf.stop();
    leaf.log = '';
    await leaf.exec('sh', '-c', 'mkdir -p /run/gobgpd && touch /run/gobgpd/api.sock && chmod 600 /run/gobgpd/api.sock');
    await leaf.start(intent);
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    await leaf.stop();
    await leaf.exec('chown', '-R', 'nobody', '/run/gobgpd');
    await leaf.start(intent);
    expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'dac_override'])]);
    await leaf.exec('rm', '-r', '/run/gobgpd');
  });

  test('--configure-frr runs vtysh before anything is given up, and once', async () => {
    await leaf.frr('configure terminal', 'interface cnpd-isis', 'no isis network point-to-point').catch(() => '');
    await leaf.start(LEAF, { args: ['--configure-frr'] });
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    await adjacent(net, 'leaf', 'far');
    expect(await leaf.frr('show running-config')).toMatch(/interface cnpd-isis[^!]* isis network point-to-point/);
  });

  test('without CAP_SETPCAP nothing can be given up: cnpd says so and works', async () => {
    await leaf.start(LEAF, { through: ['setpriv', '--bounding-set=-setpcap', '--inh-caps=-all'] });
    expect(leaf.log).toContain('it has no CAP_SETPCAP');
    expect(leaf.log).toMatch(/"others":[1-9]/);
    await adjacent(net, 'leaf');
  });
});
