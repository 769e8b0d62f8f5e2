// The scene as the demo uses it: up, converged, p1's cnpd told what to watch, and asked what it has learned.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDocument } from 'yaml';
import type { Lab } from '../lab/lab.ts';
import { packageRoot } from '../lab/program.ts';
import type { ModeSpec } from './modes.ts';
import type { Learned } from './results.ts';
import { EXPECTED } from './verdict.ts';

export const SCENE = join(packageRoot(), 'containerlab/proxy/proxy.clab.yml');
export const OUTPUT = join(packageRoot(), 'out/demo');
const P1_CONFIGURATION = join(packageRoot(), 'containerlab/proxy/p1/cnpd.yaml');
const CNPCTL = '/opt/cnpd/dist/cnpctl.js';

/** Asks again until `ask` has an answer. @throws Error with `what`, and the last reason, after `limitMs` */
export async function until<T>(what: string, limitMs: number, ask: () => Promise<T | string>, isAnswer: (value: T | string) => value is T, signal: AbortSignal): Promise<T> {
  const end = performance.now() + limitMs;
  for (;;) {
    signal.throwIfAborted();
    const answer = await ask();
    if (isAnswer(answer)) return answer;
    if (performance.now() > end) throw new Error(`${what} did not come within ${limitMs / 1000} s: ${answer}`);
    await delay(200);
  }
}

interface SenderRow {
  readonly prefix: string;
  readonly proxy: string | null;
  readonly best: boolean;
  readonly pnc: boolean;
  readonly carrier: string;
  readonly originator: string;
  readonly since: string;
}

/** Asks p1's cnpd which proxy it has for h1's prefix. */
export function waitForMapping(lab: Lab, signal: AbortSignal): Promise<Learned> {
  const ask = async (): Promise<Learned | string> => {
    const result = await lab.exec('p1', [CNPCTL, '-o', 'json', 'show', 'senders']);
    if (result.code !== 0) return result.stderr.trim() || `cnpctl ended with status ${result.code}`;
    const row = (JSON.parse(result.stdout) as SenderRow[]).find((r) => r.prefix === EXPECTED.prefix && r.best && r.proxy);
    if (!row) return `p1's cnpd lists ${result.stdout.trim() || 'nothing'}`;
    return { carrier: row.carrier, prefix: row.prefix, proxy: row.proxy!, at: new Date().toISOString(), originator: row.originator, since: row.since };
  };
  return until('the mapping at p1', 60_000, ask, (a): a is Learned => typeof a !== 'string', signal);
}

/** Until h1 has a path to h2: leaf1 knows h2's prefix and leaf2 h1's. */
export async function waitForRoutes(lab: Lab, signal: AbortSignal): Promise<void> {
  const routes: readonly [string, string][] = [['leaf1', '2001:db8:2::/64'], ['leaf2', '2001:db8:1::/64'], ['leaf1', '2001:db8:ffff::2'], ['p1', '2001:db8:ffff::1']];
  for (const [node, to] of routes) {
    const ask = async (): Promise<true | string> => (await lab.exec(node, ['ip', '-6', 'route', 'show', 'proto', 'isis', to])).stdout.trim() !== '' || `${node} has no IS-IS route to ${to}`;
    await until(`the route from ${node} to ${to}`, 60_000, ask, (a): a is true => a === true, signal);
  }
}

/** Gives p1's cnpd the configuration of this run, as an operator would: a changed file and a reload. The repository's file is covered, not changed. */
export async function configureP1(lab: Lab, spec: ModeSpec): Promise<void> {
  const document = parseDocument(readFileSync(P1_CONFIGURATION, 'utf8'));
  if (spec.port) {
    const { kMin, kMax } = spec.port;
    document.set('ports', document.createNode([{ interface: 'eth2', ...(kMin && { 'k-min': `${kMin / 1000}kB` }), ...(kMax && { 'k-max': `${kMax / 1000}kB` }) }]));
  } else {
    document.delete('ports');
  }
  mkdirSync(OUTPUT, { recursive: true });
  const file = join(OUTPUT, `p1-${spec.mode}.yaml`);
  writeFileSync(file, document.toString());
  await lab.cover('p1', file, '/etc/cnpd/cnpd.yaml');
  await lab.mustExec('p1', [CNPCTL, 'reload']);
}

/** What went wrong is usually in these. */
export async function daemonLogs(lab: Lab): Promise<string> {
  const tail = async (node: string): Promise<string> => `${node}: ${(await lab.exec(node, ['tail', '-n', '5', '/var/log/cnpd.log'])).stdout.trim() || '(nothing)'}`;
  return (await Promise.all(['leaf1', 'p1'].map(tail))).join('\n');
}
