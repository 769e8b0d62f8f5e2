// A new user on a fresh Debian 12: installs the packages, does what the tutorial says, and finds the notification in
// the dashboard of contrib/, whose panels Debian's Prometheus answers. Grafana itself does not run here.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { follow, shownBy, stepsOf } from '../support/follow.ts';
import { run } from '../support/run.ts';
import { until } from '../support/until.ts';
import { type Shown, asker, fetching, show } from '../telemetry/dashboard.ts';
import { FRESH_BOOKWORM, Machine, prepareSystem } from './machine.ts';
import { programOf, takesCompiled } from './node-in-use.ts';

const FOLDER = resolve('out/package-test');
/** What the machine sees under /packages: the two packages, and nothing else. */
const PACKAGES = join(FOLDER, 'debian12');
const TUTORIAL = 'docs/tutorial/router.md';
const [STEPS, CLEAN_UP] = (() => {
  const steps = stepsOf(TUTORIAL);
  const end = steps.findIndex(({ command }) => command.startsWith('apt purge'));
  return [steps.slice(0, end), steps.slice(end)];
})();
const ENVIRONMENT = ['env', '-i', 'HOME=/root', 'LANG=C.UTF-8', 'TERM=dumb', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin'];
const ROUTER = { instance: '127.0.0.1:9464', job: 'cnpd' };
const PORT = { ...ROUTER, port: 'to-h2' };

let machine: Machine;
let output: string;

beforeAll(async () => {
  output = mkdtempSync(join(tmpdir(), 'cnpd-debian12-'));
  rmSync(PACKAGES, { recursive: true, force: true });
  mkdirSync(PACKAGES, { recursive: true });
  const made = run('node', 'src/setup/package/package.mjs');
  for (const [, deb] of made.matchAll(/^package: (\/.*\.deb)$/gm)) copyFileSync(deb!, join(PACKAGES, basename(deb!)));
  machine = await Machine.boot(prepareSystem(FOLDER, FRESH_BOOKWORM), PACKAGES);
});
afterAll(async () => {
  await machine?.off();
  rmSync(output, { recursive: true });
});

/** As root logs in, in the folder of the packages. */
const terminal = (script: string): Promise<string> =>
  shownBy([...machine.entering('-a'), ...ENVIRONMENT, 'bash', '-c', `cd /packages\n${script}`], output);

/** Over the machine's loopback, with this machine's Node.js. */
function fetched(url: string): string {
  const [nsenter, ...options] = machine.entering('-n');
  return run(nsenter!, ...options, ...fetching(url));
}
const ask = asker('127.0.0.1:9090', fetched);
const dashboard = (choice = {}): Promise<readonly Shown[]> => show(ask, Date.now() / 1000, choice);
const panel = (shown: readonly Shown[], title: string): Shown => shown.find((one) => one.title === title)!;
const peaks = ({ series }: Shown): { metric: unknown; peak: number }[] =>
  series.map(({ metric, values }) => ({ metric, peak: Math.max(...values.map(([, value]) => Number(value))) }));

test('has a Node.js that is too old, and none installed', () => {
  expect(machine.run('apt-cache', 'policy', 'nodejs')).toMatch(/Installed: \(none\)\n +Candidate: 18\./);
});

test('the tutorial does what it says, from the installation to the rate of notifications', async () => {
  expect(STEPS.length).toBeGreaterThan(10);
  expect(STEPS[0]!.command).toMatch(/^apt install/);
  expect(readFileSync('docs/how-to/install.md', 'utf8')).toContain(`\n${STEPS[0]!.command.replace(' -y', '')} `);
  await follow(TUTORIAL, STEPS, terminal);
});

test('Prometheus answers each panel of the dashboard, and "Notifications" shows the notification', async () => {
  const shown = await until(
    'the notification in the dashboard',
    () => dashboard(),
    (all) => peaks(panel(all, 'Notifications')).some(({ peak }) => peak > 0) && all,
    120_000,
  );
  expect(peaks(panel(shown, 'Notifications'))).toEqual([{ metric: PORT, peak: expect.any(Number) }]);
  // What else this router has to show.
  const withSomething = new Set(shown.filter(({ series }) => series.length > 0).map(({ title }) => title));
  for (const title of ['Routers that are scraped', 'Queue and K_max', 'Traffic', 'Memory'])
    expect([...withSomething]).toContain(title);
  expect(peaks(panel(shown, 'Routers that are scraped'))).toEqual([{ metric: {}, peak: 1 }]);
  expect(peaks(panel(shown, 'Open problems'))).toEqual([]);
  console.log(`panels with series: ${[...withSomething].join(', ')}`);
});

test('a router and a port may be chosen', async () => {
  const chosen = await dashboard({ instance: [ROUTER.instance], port: [PORT.port] });
  expect(panel(chosen, 'Notifications').expr).toContain('instance=~"127\\\\.0\\\\.0\\\\.1:9464",port=~"to-h2"');
  expect(peaks(panel(chosen, 'Notifications'))).toMatchObject([{ metric: PORT }]);
  await expect(dashboard({ port: ['to-h1'] })).rejects.toThrow('to-h2');
});

test('cnpd runs with cnpd-nodejs, also where the old Node.js of Debian is installed beside it', () => {
  expect(programOf(machine)).toBe('/usr/lib/cnpd-nodejs/bin/node');
  machine.run('apt-get', 'install', '-y', '--no-install-recommends', 'nodejs');
  expect(machine.run('/usr/bin/node', '--version')).toMatch(/^v18\./);
  machine.run('systemctl', 'restart', 'cnpd');
  expect(programOf(machine)).toBe('/usr/lib/cnpd-nodejs/bin/node');
  for (const name of ['cnpd', 'cnpctl']) expect(takesCompiled(machine, name), name).toBe(true);
});

test('the last section of the tutorial leaves nothing of cnpd', async () => {
  await follow(TUTORIAL, CLEAN_UP, terminal);
  for (const path of ['/usr/lib/cnpd', '/usr/lib/cnpd-nodejs', '/etc/cnpd', '/run/cnpd'])
    expect(machine.try('ls', path).status, path).not.toBe(0);
  expect(machine.try('findmnt', '-n', '-t', 'bpf').output).toBe('');
});
