// The file and its reloads, with what they do to the kernel and the network: nothing that was not asked for, nothing
// half applied, and refusals that say where.
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectNorthbound } from '../../src/northbound/client.ts';
import { MAX_FILE_BYTES } from '../../src/intent/yaml-limits.ts';
import { socketOf } from './support/cnpctl.ts';
import { LOOPBACK, SENDERS4, SENDERS6, adjacent, base, proxy, watching } from './support/line.ts';
import { footprint } from './support/footprint.ts';
import { AS_A_SERVICE, Network, type Router, type Row } from './support/network.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { type NotifySocket, listenForStates } from '../support/notify-socket.ts';
import { is, matches, until } from '../support/until.ts';

const FILE = '/etc/cnpd/cnpd.yaml';
const LEAF = { ...base('leaf'), ...proxy('leaf'), ...watching(), 'border-ports': ['eth9'] };

let net: Network;
let leaf: Router, far: Router;
/** Where leaf's cnpd reports to systemd, and what it has reported. */
const NOTIFY_SOCKET = `/tmp/t-notify-${process.pid}`;
const states: string[] = [];
let systemd: NotifySocket;
let draining: NodeJS.Timeout;

beforeAll(async () => {
  systemd = listenForStates(NOTIFY_SOCKET);
  draining = setInterval(() => {
    for (let state = systemd.next(); state !== undefined; state = systemd.next()) states.push(state);
  }, 20);
  net = await Network.up('line');
  [leaf, far] = [net.router('leaf'), net.router('far')];
  await leaf.exec(...tokenBucket('eth2'));
});
afterAll(async () => {
  await net.down();
  clearInterval(draining);
  systemd.close();
  rmSync(NOTIFY_SOCKET);
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.log(net.logs());
});

interface Status {
  readonly health: string;
  readonly problems?: readonly { readonly feature: string; readonly problem: string; readonly remedy: string }[];
  readonly intent: { readonly 'last-reload'?: { readonly ok: boolean; readonly errors?: readonly string[] } };
}

describe('off by default', () => {
  test('PNC-6-e PNC-6-f A13: a file with nothing but `router:` attaches nothing, opens no interface and no socket to the network', async () => {
    const before = await footprint(leaf);
    const env = ['env', `NOTIFY_SOCKET=${NOTIFY_SOCKET}`, 'WATCHDOG_USEC=1000000'];
    await leaf.start({ router: { name: 'leaf' } }, { through: [...AS_A_SERVICE, ...env] });
    expect(await footprint(leaf)).toEqual(before);
    expect(before['hooks']).toEqual([]);
    const status = await leaf.ctl('show', 'status');
    expect(status.code).toBe(0);
    for (const what of [['proxies'], ['senders'], ['ports'], ['flows'], ['isis', 'neighbors'], ['isis', 'database']])
      expect(await leaf.show(...what)).toEqual([]);
  });

  test('systemd hears that the intent is in force, of each reload and its end, and from the event loop', async () => {
    const heard = (pattern: RegExp) => until(String(pattern), () => states.join(' '), matches(pattern));
    await heard(/^READY=1\nSTATUS=running/);
    await heard(/WATCHDOG=1.*WATCHDOG=1/);
    states.length = 0;
    expect(await leaf.ctl('reload')).toMatchObject({ code: 0 });
    await heard(/RELOADING=1\nMONOTONIC_USEC=\d+\n[^]*READY=1\nSTATUS=running/);
    expect(leaf.log).not.toContain('cannot report');
  });

  test('PNC-6-e A13: each feature comes with its section and goes with it, one by one', async () => {
    const reload = async (...sections: object[]): Promise<string[]> => {
      leaf.configure(Object.assign({ router: (LEAF as unknown as { router: object }).router }, ...sections) as object);
      expect(await leaf.ctl('reload')).toMatchObject({ code: 0 });
      return (await footprint(leaf))['hooks']!;
    };
    expect(await reload()).toEqual([]);
    const watched = await reload(watching());
    expect(watched.join()).toMatch(/eth2/);
    const proxied = await reload(proxy('leaf'));
    expect(proxied.join()).toMatch(/eth1/);
    expect(proxied.filter((hook) => watched.includes(hook))).toEqual([]);
    const guarded = await reload({ 'border-ports': ['eth9'] });
    expect(guarded).toHaveLength(2);
    for (const hook of guarded) expect(hook).toMatch(/eth9/);
    expect((await reload(proxy('leaf', { enabled: false }))).join()).toBe('');
    expect((await footprint(leaf))['interfaces']).not.toContain('cnpd-isis');
    await reload({ isis: (base('leaf') as { isis: object }).isis });
    expect((await footprint(leaf))['interfaces']).toContain('cnpd-isis');
    await reload({ isis: { ...(base('leaf') as { isis: object }).isis, enabled: false } });
    expect((await footprint(leaf))['interfaces']).not.toContain('cnpd-isis');
    expect(await reload()).toEqual([]);
  });

  test('a file with errors does not start cnpd: exit code 1, every error with file, line and column', async () => {
    await leaf.stop();
    leaf.configure(
      'router: { name: leaf }\nports:\n  - { interface: eth2, k-max: lots }\n  - { interface: eth2, k-mux: 3 }\n',
    );
    const { code, stderr } = await leaf.cnpd('-c', FILE);
    expect(code).toBe(1);
    expect(stderr).toContain(`${FILE}:3:`);
    expect(stderr).toContain(`${FILE}:4:`);
    expect((await leaf.ctl('show', 'status')).code).toBe(3);
  });
});

describe('many reloads at once', () => {
  test('those that wait are one: each asker is answered, and the last version of the file is in force', async () => {
    const { router } = base('leaf') as { router: object };
    await leaf.stop();
    await leaf.start({ router });
    const client = connectNorthbound({ socket: socketOf(leaf.pid), timeoutMs: 60_000 });
    try {
      expect(await client.listening()).toBe(true);
      const done = await leaf.counter('intent.reload.done');
      leaf.configure({ router, ...watching() });
      // What arrives while cnpd is stopped it finds all together.
      process.kill(leaf.pid, 'SIGSTOP');
      const answers = Array.from({ length: 20 }, () => client.reload());
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
      process.kill(leaf.pid, 'SIGCONT');
      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: true, errors: [] });
      expect((await leaf.counter('intent.reload.done')) - done).toBeLessThan(10);
      expect((await footprint(leaf))['hooks']!.join()).toContain('eth2');
    } finally {
      client.close();
      await leaf.stop();
    }
  });
});

describe('a reload with a broken file', () => {
  beforeAll(async () => {
    await Promise.all([leaf.running || leaf.start(LEAF), far.running || far.start(base('far'))]);
    await adjacent(net, 'leaf', 'far');
  });
  beforeEach(async () => {
    leaf.configure(LEAF);
    expect((await leaf.ctl('reload')).code).toBe(0);
    await until('far knows the proxy', proxiesAtFar, is(LEAF_FOR_BOTH));
  });
  const proxiesAtFar = async (): Promise<object> => ({
    [SENDERS6]: (await far.sender(SENDERS6))?.['proxy'],
    [SENDERS4]: (await far.sender(SENDERS4))?.['proxy'],
  });
  const LEAF_FOR_BOTH = { [SENDERS6]: LOOPBACK.leaf.ipv6, [SENDERS4]: LOOPBACK.leaf.ipv6 };
  /** All of what the intent in force has made. */
  const inForce = async (): Promise<unknown> => [
    await footprint(leaf),
    await leaf.get('proxies'),
    (await leaf.get('ports')).map((row) => [row['interface'], row['attached'], row['k-max']]),
    (await leaf.get('isis', 'database'))
      .filter((row) => row['own'] === true)
      .map((row) => [row['lsp-id'], row['sequence']]),
  ];

  const BROKEN = [
    [
      'a value that is none',
      'router: { name: leaf }\nproxy:\n  address: 2001:db8:ffff::1\n' +
        '  senders: [{ prefix: 2001:db8:1::/64, format: smoke-signals }]\n  accept-from: [2001:db8:ffff::/48]\n',
      /:4:\d+: .*smoke-signals/,
    ],
    ['an unknown key', 'router: { name: leaf }\nprxy: {}\n', /:2:1: .*prxy/],
    ['no YAML', 'router: { name: leaf\n', /:\d+:\d+: /],
    [
      'a proxy that accepts from no source',
      'router: { name: leaf }\nproxy:\n  address: 2001:db8:ffff::1\n' +
        '  senders: [{ prefix: 2001:db8:1::/64, format: standard-cnp }]\n',
      /:\d+:\d+: .*accept-from/,
    ],
    [
      'a group that there is not',
      'router: { name: leaf }\ngnmi: { socket-group: nosuchgroup }\n',
      /:2:23: .*no group nosuchgroup \(`getent group nosuchgroup`/,
    ],
    ['bytes of anything', `\u0000\u0001\u0002${'\u00ff'.repeat(40)}`, /cnpd\.yaml/],
    ['nothing', '', /cnpd\.yaml/],
    ['more than is read', `router: { name: leaf }\n${'#'.repeat(MAX_FILE_BYTES)}`, /more than 8388608 bytes/],
  ] as const;

  test.each(BROKEN)(
    'PNC-6-e: with %s in it `cnpctl reload` shows where and exits with 4; the old intent is in force, status shows it and exits with 1',
    async (_name, text, where) => {
      const before = await inForce();
      leaf.configure(text);
      const refused = await leaf.ctl('reload');
      expect(refused.code).toBe(4);
      expect(refused.stderr).toMatch(where);
      const status = await leaf.ctl('show', 'status');
      expect(status.code).toBe(1);
      expect(status.stdout).toMatch(where);
      expect(status.stdout).toContain('refused, the configuration above stays in force');
      const { health, problems, intent } = await leaf.get<Status>('status');
      expect({ health, lastReloadOk: intent['last-reload']?.ok }).toEqual({ health: 'degraded', lastReloadOk: false });
      expect(problems?.[0]?.remedy).toContain(`cnpd check ${FILE}`);
      expect(intent['last-reload']?.errors?.join('\n')).toMatch(where);
      expect(await inForce()).toEqual(before);
      expect(await proxiesAtFar()).toEqual(LEAF_FOR_BOTH);
      expect((await leaf.cnpd('check', FILE)).code).toBe(1);
    },
  );

  test('PNC-6-a: `cnpd check` takes a file whose proxy listens at a border port, and notes what that lets in', async () => {
    const file = { ...LEAF, proxy: { ...(LEAF as unknown as { proxy: object }).proxy, interfaces: ['eth1', 'eth9'] } };
    leaf.configure(file);
    const { code, stdout } = await leaf.cnpd('check', FILE);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^\S+: ok\n\S+: note: eth9 is a border port and under proxy\.interfaces: .*remove eth9 from proxy\.interfaces/,
      ),
    });
  });

  test('SIGHUP is refused the same way; a file that is gone as well; mended, it is loaded and all is well', async () => {
    const before = await inForce();
    const count = await leaf.counter('intent.reload.refused');
    leaf.configure(BROKEN[1][1]);
    leaf.signal('SIGHUP');
    await until('refused', () => leaf.counter('intent.reload.refused'), is(count + 1));
    await leaf.exec('rm', FILE);
    expect((await leaf.ctl('reload')).code).toBe(4);
    expect((await leaf.ctl('show', 'status')).stdout).toContain('ENOENT');
    expect(await inForce()).toEqual(before);
    leaf.configure(LEAF);
    expect(await leaf.cnpd('check', FILE)).toMatchObject({ code: 0, stdout: `${FILE}: ok\n` });
    expect((await leaf.ctl('reload')).code).toBe(0);
    const status = await leaf.ctl('show', 'status');
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/^health +running$/m) });
    expect(await inForce()).toEqual(before);
  });

  test('a reload that changes nothing touches nothing: same hooks, same LSPs', async () => {
    const before = await inForce();
    for (let i = 0; i < 5; i++) expect((await leaf.ctl('reload')).code).toBe(0);
    expect(await inForce()).toEqual(before);
  });

  test('a reload that changes of `router` what IS-IS does not read leaves its adjacency and its LSPs alone', async () => {
    const before = await inForce();
    const { router } = LEAF as unknown as { router: object };
    for (const more of [{ 'reverse-path-check': false }, { 'core-ports': ['eth2'] }, {}]) {
      leaf.configure({ ...LEAF, router: { ...router, ...more } });
      expect(await leaf.ctl('reload')).toMatchObject({ code: 0, stdout: expect.stringContaining('router') as unknown });
      expect(await leaf.isUp()).toBe(true);
      expect(await inForce()).toEqual(before);
    }
  });

  test('fifty reloads at once, good and broken, are done one after another; the last one counts', async () => {
    const other = { ...LEAF, ...proxy('leaf', { senders: [{ prefix: SENDERS4, format: 'standard-cnp' }] }) };
    for (let i = 0; i < 50; i++) {
      leaf.configure([LEAF, other, 'no: {'][i % 3]!);
      leaf.signal('SIGHUP');
    }
    leaf.configure(other);
    expect((await leaf.ctl('reload')).code).toBe(0);
    await until(
      'far knows of one prefix only',
      proxiesAtFar,
      is({ [SENDERS6]: undefined, [SENDERS4]: LOOPBACK.leaf.ipv6 }),
    );
    expect(await leaf.get<Row>('status')).toMatchObject({ health: 'running' });
    expect(await leaf.counter('daemon.unexpected-error')).toBe(0);
  });
});

describe('a change of the configuration', () => {
  const NEW = '/tmp/new.yaml';
  const SMALLER = { ...LEAF, ...proxy('leaf', { senders: [{ prefix: SENDERS4, format: 'standard-cnp' }] }) };
  const hooksAndProxies = async (): Promise<unknown> => [(await footprint(leaf))['hooks'], await leaf.get('proxies')];
  const onDisk = (): Promise<string> => leaf.exec('cat', FILE);
  /** As a file beside the one that cnpd was started with. */
  const write = (content: object): Promise<string> =>
    leaf.exec('sh', '-c', `cat > ${NEW} <<'EOF'\n${JSON.stringify(content)}\nEOF`);
  const json = (stdout: string): { planes: { plane: string; removed: number }[] } =>
    JSON.parse(stdout) as ReturnType<typeof json>;
  let before: unknown;
  let text: string;

  beforeAll(async () => {
    if (!leaf.running) await leaf.start(LEAF);
  });
  beforeEach(async () => {
    leaf.configure(LEAF);
    expect((await leaf.ctl('reload')).code).toBe(0);
    [before, text] = [await hooksAndProxies(), await onDisk()];
    await write(SMALLER);
  });

  test('plan says what apply then does, and changes nothing; diff and reload find nothing left to do', async () => {
    expect(await leaf.ctl('diff')).toMatchObject({ code: 0, stdout: 'nothing would change\n' });
    const planned = await leaf.cnpctl('plan', NEW, '-o', 'json');
    expect([planned.code, await hooksAndProxies(), await onDisk()]).toEqual([2, before, text]);
    expect(json(planned.stdout).planes.map(({ removed }) => removed)).toEqual([1, 0, 1, 0]);
    const applied = await leaf.cnpctl('apply', NEW, '-o', 'json');
    expect(applied.code).toBe(0);
    expect(json(applied.stdout).planes).toEqual(json(planned.stdout).planes);
    expect((await leaf.get('proxies'))[0]).toMatchObject({ prefixes: [SENDERS4] });
    expect(await onDisk()).toBe(await leaf.exec('cat', NEW));
    expect((await leaf.ctl('diff')).code).toBe(0);
    expect(await leaf.ctl('reload')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^reloaded: nothing changed\nhealth: /),
    });
    const shown = await leaf.ctl('show', 'config');
    expect(shown.stdout).toMatch(/^ {2}rate: 10000\/s # default$/m);
  });

  test('on trial a reload is refused; rolled back; and taken back by cnpd, which nobody asks again', async () => {
    const applied = await leaf.cnpctl('apply', NEW, '--confirm', '1h');
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('on trial until') });
    expect((await leaf.get('proxies'))[0]).toMatchObject({ prefixes: [SENDERS4] });
    const refused = await leaf.counter('intent.reload.refused');
    leaf.signal('SIGHUP');
    await until('refused', () => leaf.counter('intent.reload.refused'), is(refused + 1));
    const reloaded = await leaf.ctl('reload');
    expect([reloaded.code, reloaded.stderr]).toEqual([4, expect.stringContaining('waits for its confirmation')]);
    expect(await leaf.ctl('rollback')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^rolled back: changed proxy$/m),
    });
    expect([await hooksAndProxies(), await onDisk()]).toEqual([before, text]);
    const rolledBack = await leaf.counter('intent.apply.rolled-back');
    expect((await leaf.cnpctl('apply', NEW, '--confirm', '1s')).code).toBe(0);
    await until('taken back', () => leaf.counter('intent.apply.rolled-back'), is(rolledBack + 1));
    await until('all is as before', hooksAndProxies, is(before));
    expect(await onDisk()).toBe(text);
    expect(await leaf.ctl('confirm')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no configuration waits'),
    });
  });

  test('killed on trial, cnpd comes up with what was confirmed', async () => {
    expect((await leaf.cnpctl('apply', NEW, '--confirm', '1h')).code).toBe(0);
    await leaf.stop('SIGKILL');
    await leaf.start();
    await until('all is as before', hooksAndProxies, is(before));
    expect((await leaf.get<{ intent: object }>('status')).intent).not.toHaveProperty('confirm-by');
  });

  test('with the disk full nothing is half done: no trial begins, and a confirmation is refused and can come again', async () => {
    const DIRECTORY = FILE.replace(/\/[^/]*$/, '');
    await leaf.exec('sh', '-c', `cp ${FILE} /tmp/kept.yaml && mount -t tmpfs -o size=16k tmpfs ${DIRECTORY}`);
    try {
      const fill = (): Promise<unknown> => leaf.exec('sh', '-c', `cat /dev/zero > ${DIRECTORY}/full || true`);
      await leaf.exec('sh', '-c', `cp /tmp/kept.yaml ${FILE}; chmod 640 ${FILE}`);
      await fill();
      for (const terms of [[], ['--confirm', '1h']]) {
        const applied = await leaf.cnpctl('apply', NEW, ...terms);
        expect([applied.code, applied.stderr]).toEqual([
          4,
          expect.stringMatching(/cnpd\.yaml cannot be written and is as it was: ENOSPC/),
        ]);
      }
      expect([await hooksAndProxies(), await onDisk()]).toEqual([before, text]);
      await leaf.exec('rm', `${DIRECTORY}/full`);
      expect((await leaf.cnpctl('apply', NEW, '--confirm', '1h')).code).toBe(0);
      await fill();
      const refused = await leaf.ctl('confirm');
      expect([refused.code, refused.stderr]).toEqual([4, expect.stringMatching(/ENOSPC.*still waits/)]);
      await leaf.exec('rm', `${DIRECTORY}/full`);
      expect(await leaf.ctl('confirm')).toMatchObject({ code: 0 });
      expect(await onDisk()).toBe(await leaf.exec('cat', NEW));
      expect(await leaf.exec('sh', '-c', `stat -c %a ${FILE}; ls -A ${DIRECTORY}`)).toBe('640\ncnpd.yaml\n');
    } finally {
      await leaf.exec('umount', DIRECTORY);
    }
  });
});
