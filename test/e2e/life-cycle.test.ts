// The life of the daemon as a process, in a network namespace without FRR: signals at awkward moments, a reload that
// cannot be carried out.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectNorthbound } from '../../src/northbound/client.ts';
import { readOpenMetrics } from '../../src/northbound/metrics/openmetrics.fixture.ts';
import { program } from './support/network.ts';
import { tokenBucket } from './support/token-bucket.ts';
import { servedState, yanglint } from './support/yanglint.ts';
import { contains, until } from '../support/until.ts';

const NETNS = `t-cycle-${process.pid}`;
let dir: string;
let daemon: ChildProcess;
let log: string;

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' });
const inside = (...args: string[]): string => ip('netns', 'exec', NETNS, 'ip', ...args);

const intent = ({ name = 'r1', interface: veth = 'cnpd-isis' } = {}): string =>
  `router: { name: ${name} }\nisis: { system-id: 0000.0000.c001, area: 49.0001, interface: ${veth} }\n` +
  `gnmi: { socket: ${dir}/gnmi.sock }\n`;
const configure = (text: string): void => writeFileSync(join(dir, 'cnpd.yaml'), text);

function start(stderr: 'pipe' | number = 'pipe', env: Readonly<Record<string, string>> = {}): void {
  const [node, cnpd] = program('cnpd') as [string, string];
  // nsenter becomes what it runs: the process number is cnpd's. The mounts are those of the test: pins outlive the
  // process.
  daemon = spawn(
    'nsenter',
    [`--net=/run/netns/${NETNS}`, node, cnpd, '-c', join(dir, 'cnpd.yaml'), '--run-dir', join(dir, 'run')],
    { stdio: ['ignore', 'ignore', stderr], env: { ...process.env, ...env } },
  );
  log = '';
  daemon.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
}
const logged = (text: string): Promise<unknown> => until(`cnpd logs ${text}`, () => log, contains(text));
const alive = (): boolean => daemon.exitCode === null && daemon.signalCode === null;
const ended = (): Promise<boolean> =>
  until(
    'cnpd has ended',
    () => ({ alive: alive(), log }),
    (seen) => !seen.alive,
  );

interface Status {
  readonly health: string;
  readonly problems?: readonly { readonly feature: string; readonly problem: string }[];
}
async function asked<T>(question: (client: ReturnType<typeof connectNorthbound>) => Promise<T>): Promise<T> {
  const client = connectNorthbound({ socket: join(dir, 'gnmi.sock'), timeoutMs: 10_000 });
  try {
    return await question(client);
  } finally {
    client.close();
  }
}
const status = (): Promise<Status> => asked(async (client) => (await client.get(['cnpd', 'status'])) as Status);
const reload = (): Promise<{ readonly ok: boolean }> => asked((client) => client.reload());

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-cycle-'));
  ip('netns', 'add', NETNS);
  configure(intent());
});
afterEach(async () => {
  if (alive()) {
    const gone = once(daemon, 'exit');
    daemon.kill('SIGKILL');
    await gone;
  }
  ip('netns', 'delete', NETNS);
  try {
    execFileSync('umount', [join(dir, 'run', 'bpf')], { stdio: 'ignore' });
  } catch {
    // A start that did not get that far has mounted nothing.
  }
  rmSync(dir, { recursive: true, force: true });
});

describe('what a running cnpd serves', () => {
  test('is valid for its YANG module', async () => {
    start();
    await logged('"msg":"started"');
    expect(yanglint(await servedState(join(dir, 'gnmi.sock')))).toBe('');
  });
});

describe('signals', () => {
  test('SIGHUP during the start is a reload after it', async () => {
    start();
    await logged('northbound listens');
    daemon.kill('SIGHUP');
    await logged('"msg":"reloaded"');
    expect(log.indexOf('"msg":"started"')).toBeLessThan(log.indexOf('"msg":"reloaded"'));
    expect(alive()).toBe(true);
  });

  test('SIGTERM during the start: what was made is taken away', async () => {
    start();
    await logged('northbound listens');
    daemon.kill('SIGTERM');
    await ended();
    expect(daemon.exitCode).toBe(0);
    expect(inside('-br', 'link')).not.toContain('cnpd-isis');
  });

  test.each([6, 8, 10, 12, 14, 16, 18, 20])(
    'a reload %i ms after SIGTERM, during a stop of about 30 ms, builds nothing up again',
    async (ms) => {
      start();
      await logged('"msg":"started"');
      configure(intent({ name: 'r2' }));
      daemon.kill('SIGTERM');
      // Not a wait for a state: each delay is an input, and reaches stopping at another step.
      await new Promise((resolve) => setTimeout(resolve, ms));
      daemon.kill('SIGHUP');
      await ended();
      expect(daemon.exitCode).toBe(0);
      expect(inside('-br', 'link')).not.toContain('cnpd-isis');
    },
  );

  test('reloads that come in until the process is gone do not make its end a failure', async () => {
    start();
    await logged('"msg":"started"');
    daemon.kill('SIGTERM');
    await logged('stopping');
    while (alive()) {
      daemon.kill('SIGHUP');
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(daemon).toMatchObject({ exitCode: 0, signalCode: null });
    expect(inside('-br', 'link')).not.toContain('cnpd-isis');
  });
});

describe('a reload that cannot be carried out', () => {
  test("an IS-IS interface that another program has created: status reports it, and a reload after its removal creates cnpd's, though the file is the same", async () => {
    start();
    await logged('"msg":"started"');
    inside('link', 'add', 'taken', 'type', 'veth', 'peer', 'name', 'other');
    configure(intent({ interface: 'taken' }));
    await expect(reload()).rejects.toThrow("interface taken exists and is not cnpd's");
    expect(await status()).toMatchObject({
      health: 'degraded',
      problems: [{ feature: 'isis', problem: expect.stringContaining('taken exists') as string }],
    });
    inside('link', 'delete', 'taken');
    expect(await reload()).toMatchObject({ ok: true });
    expect(inside('-br', 'link')).toContain('taken');
    // There is no FRR.
    expect((await status()).health).toBe('starting');
  });
});

describe('metrics and health', () => {
  /** Status and text of an answer, asked for in the namespace. */
  const fetched = (path: string): { readonly status: number; readonly text: string } => {
    const script = `fetch('http://[::1]:9464${path}').then(async (r) => console.log(JSON.stringify({ status: r.status, text: await r.text() })))`;
    return JSON.parse(
      execFileSync('ip', ['netns', 'exec', NETNS, process.execPath, '-e', script], {
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    ) as ReturnType<typeof fetched>;
  };

  test('are served as the file says, during the start too; a problem is one line when it appears and when it clears', async () => {
    inside('link', 'set', 'lo', 'up');
    const metrics = 'metrics: { address: "[::1]:9464" }\n';
    configure(intent() + metrics);
    start();
    await logged('"msg":"started"');
    expect(fetched('/livez')).toEqual({ status: 200, text: 'alive\n' });
    expect(fetched('/readyz')).toEqual({
      status: 503,
      text: 'starting\nkernel: done\nplan: done\nisis: waiting: no neighbor is up yet on cnpd-isis\n',
    });
    const families = readOpenMetrics(fetched('/metrics').text);
    expect(families.get('cnpd_carrier_adjacency_up')!.samples).toMatchObject([
      { labels: { carrier: 'isis', interface: 'cnpd-isis' }, value: 0 },
    ]);
    expect(families.get('cnpd_metrics_health')).toMatchObject({ type: 'counter', samples: [{ value: 2 }] });
    expect(families.get('cnpd_scrape_section_read')!.samples.every(({ value }) => value === 1)).toBe(true);
    const router = `router: { name: r1, loopback: { ipv6: 2001:db8:ffff::2 } }\ngnmi: { socket: ${dir}/gnmi.sock }\n`;
    configure(`${router}${metrics}ports: [{ interface: gone, k-max: 50kB }]\n`);
    await reload();
    await logged('"event":"problem.appeared","code":"interface.missing","feature":"ports"');
    await until('the metric', () => fetched('/metrics').text, contains('cnpd_problems{code="interface.missing",'));
    expect(fetched('/readyz')).toMatchObject({ status: 200, text: expect.stringContaining('interface.missing') });
    expect(log).toContain('"event":"daemon.running","health":"degraded"');
    configure(router);
    await reload();
    await logged('"event":"problem.cleared","code":"interface.missing","feature":"ports"');
    expect(() => fetched('/livez')).toThrow('ECONNREFUSED');
  });
});

describe('the log', () => {
  test('a component gets another level at run time, and that of the file again', async () => {
    start();
    await logged('"msg":"started"');
    const levelOf = (component: string, levels: readonly { component: string; level: string }[]) =>
      levels.find((one) => one.component === component)?.level;
    const change = (level: string) => asked((client) => client.logLevels([{ component: 'daemon', level }]));
    expect(levelOf('daemon', await change('error'))).toBe('error');
    const before = log.length;
    configure(intent({ name: 'r2' }));
    await reload();
    expect(levelOf('daemon', await change('file'))).toBe('info');
    configure(intent({ name: 'r3' }));
    await reload();
    await logged('"msg":"reloaded"');
    expect(log.slice(before).split('"msg":"reloaded"')).toHaveLength(2);
    await expect(asked((client) => client.logLevels([{ component: 'x', level: 'info' }]))).rejects.toThrow(
      'no component',
    );
  });

  test('journald gets the severity of each line', async () => {
    const file = openSync(join(dir, 'journal'), 'w+');
    const { dev, ino } = fstatSync(file);
    start(file, { JOURNAL_STREAM: `${dev}:${ino}` });
    const written = (): string => readFileSync(join(dir, 'journal'), 'utf8');
    await until('cnpd has started', written, contains('"msg":"started"'));
    closeSync(file);
    expect(
      written()
        .trimEnd()
        .split('\n')
        .filter((line) => !/^<6>\{"level":"info"/.test(line)),
    ).toEqual([]);
  });
});

describe('what an earlier run left in the kernel', () => {
  test('a sender that no router advertises is forgotten also when ports are configured long after the start', async () => {
    inside('link', 'add', 'port', 'type', 'veth', 'peer', 'name', 'far');
    execFileSync('ip', ['netns', 'exec', NETNS, ...tokenBucket('port', { rate: '10mbit' })]);
    const router = `router: { name: r1, loopback: { ipv6: 2001:db8:ffff::2 } }\ngnmi: { socket: ${dir}/gnmi.sock }\n`;
    const watching = `${router}ports: [{ interface: port, k-max: 50kB }]\n`;
    const map = join(dir, 'run', 'bpf', 'sender_proxies');
    const entries = (): string => execFileSync('bpftool', ['-j', 'map', 'dump', 'pinned', map], { encoding: 'utf8' });
    configure(watching);
    start();
    await logged('"msg":"started"');
    daemon.kill('SIGTERM');
    await ended();
    const stale = ['20', '00', '00', '00', '20', '01', '0d', 'b8', ...new Array<string>(12).fill('00')];
    execFileSync('bpftool', [
      'map',
      'update',
      'pinned',
      map,
      'key',
      'hex',
      ...stale,
      'value',
      'hex',
      ...new Array<string>(24).fill('00'),
    ]);
    expect(entries()).toContain('0xb8');
    configure(router);
    start();
    await logged('"msg":"started"');
    configure(watching);
    expect(await reload()).toMatchObject({ ok: true });
    await until(
      'the entry is gone',
      () => entries(),
      (all) => !all.includes('0xb8'),
    );
  });
});
