// Capabilities: cnpd gives up what it does not need, in all its threads, and does everything with what is left, beside
// a real FRR.
import { readFileSync, readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { footprint } from './support/footprint.ts';
import { SENDERS4, SENDERS6, adjacent, base, proxy, watching } from './support/line.ts';
import { AS_ROOT, Network, type Router, program } from './support/network.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { contains, until } from '../support/until.ts';

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
  await leaf.exec(...tokenBucket('eth2'));
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
  until(
    `far knows ${prefix}`,
    () => far.get('senders'),
    (all) => all.some((row) => row['prefix'] === prefix && row['best'] === true),
  );

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
  await leaf.start(LEAF, { through: AS_ROOT });
  leaf.signal('SIGUSR1');
  await until('it is logged', () => leaf.log, contains('this signal does nothing here'));
  await leaf.reload(LEAF);
  // Node's inspector says where it listens as soon as it does, on standard error.
  expect(leaf.log).not.toContain('Debugger listening');
  expect(await leaf.exec('ss', '-Hltn')).not.toContain(':9229');
});

describe('the smallest set', () => {
  test('cnpd gives up all other capabilities in every thread, logs it, and does its work beside FRR until uninstall', async () => {
    await leaf.start(LEAF, { through: AS_ROOT });
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    // Its threads share one pool of malloc.
    expect(readFileSync(`/proc/${leaf.pid}/environ`, 'latin1').split('\0')).toContain('MALLOC_ARENA_MAX=1');
    expect(leaf.log).toMatch(/"kept":\{\},"msg":"giving up the capabilities that are not needed"/);
    expect(leaf.log).toContain(
      '"used":["CAP_NET_BIND_SERVICE","CAP_NET_ADMIN","CAP_NET_RAW","CAP_SYS_ADMIN"],"others":0',
    );
    await everythingWorks();
    await leaf.stop('SIGKILL');
    await leaf.start(undefined, { through: AS_ROOT });
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

describe('too few capabilities', () => {
  const REMEDY = 'run cnpd as root, or with CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN';
  const only = (...names: string[]): string[] => [
    'setpriv',
    `--bounding-set=${['-all', ...names.map((name) => `+${name}`)].join()}`,
    '--inh-caps=-all',
  ];
  const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all'];
  const once = (through: readonly string[]): Promise<{ code: number; stderr: string }> =>
    net.lab.exec('leaf', [...through, ...program('cnpd'), '-c', '/etc/cnpd/cnpd.yaml']);

  test.each([
    ['nobody', NOBODY, 'CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN'],
    ['root without any', only(), 'CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN'],
    ['NET_RAW and NET_ADMIN', only('net_raw', 'net_admin'), 'CAP_SYS_ADMIN'],
  ])('%s: cnpd reports once what is missing and the remedy, and makes nothing', async (_who, through, missing) => {
    leaf.configure({ router: { name: 'leaf' } });
    await leaf.exec('rm', '-rf', '/run/cnpd');
    const { code, stderr } = await once(through);
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 1, lines: 1 });
    expect(JSON.parse(stderr)).toMatchObject({
      error: `this process lacks ${missing}: ${REMEDY}`,
      msg: 'cannot start',
    });
    expect(await leaf.exec('ls', '/run')).not.toContain('cnpd');
  });

  test('BPF and PERFMON in place of SYS_ADMIN: cnpd reports why they are not enough', async () => {
    leaf.configure({ router: { name: 'leaf' } });
    const { code, stderr } = await once(only('net_raw', 'net_admin', 'bpf', 'perfmon', 'net_bind_service'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('CAP_BPF and CAP_PERFMON do not replace CAP_SYS_ADMIN'),
    });
  });

  test('without NET_BIND_SERVICE cnpd starts', async () => {
    await leaf.start({ router: { name: 'leaf' } }, { through: only('net_raw', 'net_admin', 'sys_admin') });
    expect(await leaf.show('status')).toMatchObject({ health: 'running' });
  });
});

describe('modes', () => {
  test.each(['000', '022', '777'])('of what cnpd makes are the same under the umask %s', async (mask) => {
    await leaf.ctl('uninstall');
    await leaf.start(LEAF, { through: ['sh', '-c', `umask ${mask}; exec "$@"`, 'sh'] });
    const names = '. cnpd.claim cnpd.pid gnmi.sock bpf bpf/links bpf/counters bpf/links/*';
    const modes = async (): Promise<string[]> =>
      (await leaf.exec('sh', '-c', `cd /run/cnpd && stat -c "%a %n" ${names}`)).trim().split('\n');
    const found = await modes();
    expect(found.slice(0, 7)).toEqual([
      '755 .',
      '644 cnpd.claim',
      '644 cnpd.pid',
      '660 gnmi.sock',
      '700 bpf',
      '700 bpf/links',
      '600 bpf/counters',
    ]);
    expect(new Set(found.slice(7).map((line) => line.split(' ')[0]))).toEqual(new Set(['600']));
    // What it left it takes over.
    await leaf.stop('SIGKILL');
    await leaf.start(undefined, { through: AS_ROOT });
    expect(leaf.log).toContain('"adopted":true');
    expect(await modes()).toEqual(found);
  });
});

describe('what a configuration needs besides', () => {
  test('gnmi.socket-group: CAP_CHOWN stays, and the socket is of that group', async () => {
    await leaf.start({ router: { name: 'leaf' }, gnmi: { 'socket-group': 'daemon' } }, { through: AS_ROOT });
    expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'chown'])]);
    expect(leaf.log).toContain('"kept":{"CAP_CHOWN":"gnmi.socket-group"}');
    expect((await leaf.exec('stat', '-c', '%U %G %a', '/run/cnpd/gnmi.sock')).trim()).toBe('root daemon 660');
    // Who is in the group is answered, who is not is refused.
    const as = (group: string): Promise<string> =>
      leaf.exec(
        'sh',
        '-c',
        `setpriv --reuid=65534 --regid=${group} --clear-groups ${process.execPath} ` +
          `${new URL('../../dist/cnpctl.js', import.meta.url).pathname} show status -o json || true`,
      );
    expect(await as('daemon')).toContain('"health": "running"');
    expect(await as('nogroup')).not.toContain('running');
  });

  test('gnmi.socket-group on reload: with CAP_CHOWN the socket is given away and taken back; without it that is a problem, with the remedy', async () => {
    const router = { name: 'leaf' };
    const owner = async (): Promise<string> =>
      (await leaf.exec('stat', '-c', '%U %G %a', '/run/cnpd/gnmi.sock')).trim();
    await leaf.start({ router, gnmi: { 'socket-group': 'adm' } }, { through: AS_ROOT });
    for (const [group, gnmi] of [
      ['daemon', { 'socket-group': 'daemon' }],
      ['root', {}],
      ['adm', { 'socket-group': 'adm' }],
    ] as const) {
      await leaf.reload({ router, gnmi });
      expect(await owner()).toBe(`root ${group} 660`);
    }
    await leaf.stop();

    await leaf.start({ router }, { through: AS_ROOT });
    leaf.configure({ router, gnmi: { 'socket-group': 'adm' } });
    const late = await leaf.ctl('reload');
    expect(late).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^reloaded: changed gnmi\nhealth: degraded\n/),
    });
    expect(late.stderr).toMatch(
      /gnmi\.socket-group takes effect at the next start: .*CAP_CHOWN.*: systemctl restart cnpd/,
    );
    const status = await leaf.ctl('show', 'status');
    expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining('gnmi.socket-group takes effect') });
    expect(await owner()).toBe('root root 660');
    await leaf.reload({ router });
    expect(await leaf.show('status')).toMatchObject({ health: 'running' });
  });

  test('gnmi.socket on reload: cnpd goes on listening where it does, and reports that the new path waits for the next start', async () => {
    const router = { name: 'leaf' };
    await leaf.start({ router }, { through: AS_ROOT });
    leaf.configure({ router, gnmi: { socket: '/run/cnpd/other.sock' } });
    const { code, stderr } = await leaf.ctl('reload');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'cnpctl: not in force: gnmi.socket: cnpd listens on /run/cnpd/gnmi.sock; ' +
        '/run/cnpd/other.sock takes effect at the next start: systemctl restart cnpd\n',
    });
    expect((await leaf.ctl('show', 'status')).stdout).toContain('/run/cnpd/other.sock takes effect at the next start');
    expect((await leaf.ctl('doctor')).stdout).toContain('systemctl restart cnpd');
    await leaf.reload({ router });
    expect(await leaf.show('status')).toMatchObject({ health: 'running' });
  });

  test('a file that only another user may read: CAP_DAC_OVERRIDE stays, and the log shows for which', async () => {
    leaf.configure({ router: { name: 'leaf' } });
    await leaf.exec('sh', '-c', 'chown nobody /etc/cnpd/cnpd.yaml && chmod 600 /etc/cnpd/cnpd.yaml');
    try {
      await leaf.start(undefined, { through: AS_ROOT });
      expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'dac_override'])]);
      expect(leaf.log).toContain('"kept":{"CAP_DAC_OVERRIDE":"/etc/cnpd/cnpd.yaml"}');
      expect(await leaf.ctl('reload')).toMatchObject({ code: 0 });
    } finally {
      await leaf.exec('sh', '-c', 'chown root /etc/cnpd/cnpd.yaml && chmod 644 /etc/cnpd/cnpd.yaml');
    }
  });

  test('a key of gNMI over TCP that only another user may read: CAP_DAC_OVERRIDE stays', async () => {
    const [certificate, key] = ['/etc/cnpd/router.pem', '/etc/cnpd/router.key'];
    await leaf.exec(
      'sh',
      '-c',
      `mkdir -p /etc/cnpd && touch ${certificate} ${key} && chmod 600 ${key} && chown nobody ${key}`,
    );
    const rights = [{ name: 'collector.example', read: ['/cnpd'] }];
    const northbound = { address: '::1', certificate, key, 'client-ca': certificate, rights };
    await leaf.start({ router: { name: 'leaf' }, northbound }, { through: AS_ROOT });
    expect(leaf.log).toContain(`"kept":{"CAP_DAC_OVERRIDE":"${key}"}`);
  });

  test("gobgpd's UNIX socket: CAP_DAC_OVERRIDE stays while it is not there, and not for one of root's", async () => {
    const intent = { router: { name: 'leaf' }, bgp: { gobgp: { target: 'unix:/run/gobgpd/api.sock' } } };
    await leaf.start(intent, { through: AS_ROOT });
    expect(leaf.log).toContain('"kept":{"CAP_DAC_OVERRIDE":"/run/gobgpd/api.sock"}');
    await leaf.stop();
    leaf.log = '';
    await leaf.exec('sh', '-c', 'mkdir -p /run/gobgpd && touch /run/gobgpd/api.sock && chmod 600 /run/gobgpd/api.sock');
    await leaf.start(intent, { through: AS_ROOT });
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    await leaf.stop();
    await leaf.exec('chown', '-R', 'nobody', '/run/gobgpd');
    await leaf.start(intent, { through: AS_ROOT });
    expect(setsOfThreads()).toEqual([maskOf([...SMALLEST, 'dac_override'])]);
    await leaf.exec('rm', '-r', '/run/gobgpd');
  });

  test('--configure-frr runs vtysh before anything is given up, and once', async () => {
    await leaf.frr('configure terminal', 'interface cnpd-isis', 'no isis network point-to-point').catch(() => '');
    await leaf.start(LEAF, { through: AS_ROOT, args: ['--configure-frr'] });
    expect(setsOfThreads()).toEqual([maskOf(SMALLEST)]);
    await adjacent(net, 'leaf', 'far');
    expect(await leaf.frr('show running-config')).toMatch(/interface cnpd-isis[^!]* isis network point-to-point/);
  });

  test('without CAP_SETPCAP nothing can be given up: cnpd logs it and works', async () => {
    await leaf.start(LEAF, { through: ['setpriv', '--bounding-set=-setpcap', '--inh-caps=-all'] });
    expect(leaf.log).toContain('it has no CAP_SETPCAP');
    expect(leaf.log).toMatch(/"others":[1-9]/);
    await adjacent(net, 'leaf');
  });
});
