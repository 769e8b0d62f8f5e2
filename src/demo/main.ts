// `npm run demo`: the scene of containerlab/proxy, three times: without congestion control, with CNPs from the receiver, with cnpd. Prints a table, writes
// out/demo/report.json and report.html, and ends with status 0 only if it showed what it claims (verdict.ts).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Poller } from '../kernel/poller.ts';
import { LabError } from '../lab/error.ts';
import { type Lab, labDown, labUp } from '../lab/lab.ts';
import { isAlive } from '../lab/processes.ts';
import { readState } from '../lab/state.ts';
import { htmlReport } from './html.ts';
import { MODES, QUEUE_LIMIT, SENDING_RATE, WAN_RATE } from './modes.ts';
import { type QueueObserver, type WireTap, observeQueue, tapCnps } from './observers.ts';
import type { DemoReport, Learned, RunResult } from './results.ts';
import { makeRun } from './run.ts';
import { OUTPUT, SCENE, daemonLogs, waitForMapping, waitForRoutes } from './scene.ts';
import { table } from './table.ts';
import { verdict } from './verdict.ts';

/** Not the scene's own name: who has the scene up meanwhile keeps it. */
const LAB = 'cnpd-demo';
const QUEUE_SAMPLE_MS = 2;
const WAN_DELAY_MS = 10;

const startedAt = new Date();
const say = (text: string): void => {
  const seconds = ((Date.now() - startedAt.getTime()) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`[${seconds} s] ${text}\n`);
};

async function makeRuns(lab: Lab, signal: AbortSignal): Promise<RunResult[]> {
  const poller = Poller.open({ onError: (error) => say(`observer: ${String(error)}`) });
  let queue: QueueObserver | undefined;
  let tap: WireTap | undefined;
  try {
    queue = await observeQueue(lab.netnsPath('p1'), 'eth2', QUEUE_SAMPLE_MS, poller);
    tap = tapCnps(lab.netnsPath('h1'), 'eth1', poller, (error) => say(`capture on h1: ${error.message}`));
    const runs: RunResult[] = [];
    for (const [i, spec] of MODES.entries()) {
      say(`run ${i + 1} of ${MODES.length}: ${spec.title}`);
      runs.push(await makeRun(spec, { lab, queue, tap, signal, progress: (text) => say(`  ${spec.mode}: ${text}`) }));
    }
    return runs;
  } finally {
    tap?.close();
    queue?.close();
    poller.close();
  }
}

function writeReport(learned: Learned, runs: readonly RunResult[], failures: readonly string[]): void {
  const report: DemoReport = {
    version: 1,
    startedAt: startedAt.toISOString(),
    ok: failures.length === 0,
    failures,
    learned,
    scene: { sendingRateBps: SENDING_RATE, wanRateBps: WAN_RATE, wanDelayMs: WAN_DELAY_MS, queueLimitBytes: QUEUE_LIMIT },
    runs,
  };
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, 'report.json'), `${JSON.stringify(report)}\n`);
  writeFileSync(join(OUTPUT, 'report.html'), htmlReport(report));
}

/** What a killed demo may have left. @throws LabError when another one is at work */
async function removeRemains(): Promise<void> {
  const owner = readState(LAB)?.owner;
  if (owner && isAlive(owner)) throw new LabError('already-up', `another demo is running (pid ${owner.pid})`);
  await labDown(LAB);
}

async function showTheScene(signal: AbortSignal): Promise<readonly string[]> {
  await removeRemains();
  say('bringing the scene up: h1 – leaf1 – p1 ═ WAN 40 Mbit/s, 10 ms ═ p2 – leaf2 – h2');
  const lab = await labUp(SCENE, { signal, name: LAB });
  try {
    await waitForRoutes(lab, signal);
    say('IS-IS has converged');
    const learned = await waitForMapping(lab, signal);
    say(`p1's cnpd has learned over ${learned.carrier}: the proxy for ${learned.prefix} is ${learned.proxy} (from ${learned.originator})`);
    say(`in the cnpd run h2 sends no CNPs, so that every CNP on h1's wire is cnpd's`);
    const runs = await makeRuns(lab, signal);
    const failures = verdict(learned, runs);
    writeReport(learned, runs, failures);
    process.stdout.write(`\n${table(runs)}\n`);
    return failures;
  } catch (error) {
    if (!signal.aborted) process.stderr.write(`${await daemonLogs(lab)}\n`);
    throw error;
  } finally {
    await lab.down();
  }
}

async function main(): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) say(`${name}: taking the scene down`);
      controller.abort();
    });
  }
  try {
    const failures = await showTheScene(controller.signal);
    for (const failure of failures) say(`FAILED: ${failure}`);
    say(`${failures.length === 0 ? 'all as it should be; ' : ''}see ${join(OUTPUT, 'report.html')}`);
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (controller.signal.aborted) {
      say('interrupted; nothing is left');
      return 130;
    }
    if (error instanceof LabError) say(`FAILED: ${error.message}`);
    else say(`FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return 1;
  }
}

process.exitCode = await main();
