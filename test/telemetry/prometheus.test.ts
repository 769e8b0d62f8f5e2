// Debian's Prometheus scrapes a router with real FRR, and promtool judges the metrics and the alert rules.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOpenMetrics } from '../../src/northbound/metrics/openmetrics.fixture.ts';
import { adjacent, base, proxy } from '../e2e/support/line.ts';
import { Network, type Router } from '../e2e/support/network.ts';
import { contains, is, until } from '../support/until.ts';
import { asker, fetching, show } from './dashboard.ts';
import { unpackPrometheus } from './prometheus-package.ts';

const RULES = join(import.meta.dirname, '../../contrib/prometheus/cnpd-alerts.yml');
const RULE_TESTS = RULES.replace('.yml', '.test.yml');
const CNPD = '127.0.0.1:9464';
const PROMETHEUS = '127.0.0.1:9465';

const { prometheus, promtool } = unpackPrometheus();
let net: Network;
let leaf: Router;
let directory: string;
let pid: string | undefined;

const judge = (args: readonly string[], input = ''): { status: number | null; text: string } => {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8', input });
  return { status, text: stdout + stderr };
};

/** The text of an answer, asked for on the router. */
function fetched(url: string, accept?: string): Promise<string> {
  const [program, ...args] = fetching(url, accept);
  return leaf.exec(program!, ...args);
}

const ask = asker(PROMETHEUS, fetched);
/** The value of the first series; undefined: there is none. */
async function query(expression: string): Promise<string | undefined> {
  const { result } = (await ask('/api/v1/query', { query: expression })) as {
    result: { value: readonly [number, string] }[];
  };
  return result[0]?.value[1];
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cnpd-prometheus-'));
  net = await Network.up('line');
  leaf = net.router('leaf');
  await Promise.all([
    leaf.start({ ...base('leaf'), ...proxy('leaf'), metrics: { address: CNPD } }),
    net.router('far').start(base('far')),
  ]);
  const file = join(directory, 'prometheus.yml');
  writeFileSync(
    file,
    `global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [${RULES}]\n` +
      `scrape_configs: [{ job_name: cnpd, static_configs: [{ targets: ['${CNPD}'] }] }]\n`,
  );
  const options = `--config.file=${file} --storage.tsdb.path=${directory}/data --web.listen-address=${PROMETHEUS}`;
  pid = (await leaf.exec('sh', '-c', `${prometheus} ${options} >${directory}/log 2>&1 & echo $!`)).trim();
});
afterAll(async () => {
  if (pid !== undefined) process.kill(Number(pid), 'SIGKILL');
  await net.down();
  rmSync(directory, { recursive: true, force: true });
});

test('promtool takes the alert rules, and each fires when its test says so', () => {
  expect(judge(['check', 'rules', RULES])).toMatchObject({ status: 0, text: expect.stringContaining('SUCCESS') });
  expect(judge(['test', 'rules', RULE_TESTS])).toMatchObject({ status: 0, text: expect.stringContaining('SUCCESS') });
});

test('promtool takes the metrics of a router', async () => {
  await adjacent(net, 'leaf');
  expect(judge(['check', 'metrics'], await fetched(`${CNPD}/metrics`, 'text/plain'))).toEqual({ status: 0, text: '' });
  const text = await fetched(`${CNPD}/metrics`);
  expect(readOpenMetrics(text).size).toBeGreaterThan(100);
  // The alert on errors sees the first one, too.
  expect(text).toContain('\ncnpd_daemon_unexpected_error_total 0\n');
});

test('Prometheus scrapes OpenMetrics: what it has is what cnpd says', async () => {
  await until('it is scraped', () => query('up{job="cnpd"}'), is('1'));
  await until('the adjacency', () => query('cnpd_carrier_adjacency_up{carrier="isis"}'), is('1'));
  const families = readOpenMetrics(await fetched(`${CNPD}/metrics`));
  expect(await query('cnpd_start_time_seconds')).toBe(
    String(families.get('cnpd_start_time_seconds')!.samples[0]!.value),
  );
  expect(await query('count({__name__=~"cnpd_.*"}) > 200')).toBeDefined();
  // No series but those of a scrape: restarts and time add none.
  expect(Number(await query('count(cnpd_scrape_section_read)'))).toBe(
    families.get('cnpd_scrape_section_read')!.samples.length,
  );
});

test('Prometheus answers each panel of the dashboard', async () => {
  const shown = await show(ask, Date.now() / 1000);
  expect(shown.length).toBeGreaterThan(20);
  const [scraped] = shown.filter(({ title }) => title === 'Routers that are scraped');
  expect(scraped!.series[0]!.values.at(-1)![1]).toBe('1');
  await expect(show(ask, Date.now() / 1000, { instance: ['192.0.2.1:9464'] })).rejects.toThrow(`but ${CNPD}`);
});

test('a lost adjacency becomes an alert', async () => {
  await until('the adjacency', () => query('cnpd_carrier_adjacency_up{carrier="isis"}'), is('1'));
  await leaf.frr('configure terminal', 'interface cnpd-isis', 'shutdown');
  await until('Prometheus sees it', () => query('cnpd_carrier_adjacency_up{carrier="isis"}'), is('0'), 60_000);
  await until('the alert', () => fetched(`${PROMETHEUS}/api/v1/alerts`), contains('CnpdAdjacencyDown'));
  expect(leaf.log).toMatch(/"level":"warn"[^\n]*"event":"isis\.adjacency\.down"/);
  await leaf.frr('configure terminal', 'interface cnpd-isis', 'no shutdown');
  await until('Prometheus sees it', () => query('cnpd_carrier_adjacency_up{carrier="isis"}'), is('1'), 60_000);
});
