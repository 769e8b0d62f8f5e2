// `npm run demo [-- longhaul | srv6-wan | bgp]`: a scene of containerlab/, three times: without congestion control,
// with CNPs from the receiver, with cnpd. Prints a table, writes report.json and report.html below out/demo/, and ends
// with status 0 only if it showed what it claims (the scene's verdict).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Poller } from '../kernel/poller.ts';
import { LabError } from '../lab/error.ts';
import { type Lab, labDown, labUp } from '../lab/lab.ts';
import { isAlive } from '../lab/processes.ts';
import { packageRoot } from '../lab/program.ts';
import { readState } from '../lab/state.ts';
import { htmlReport } from './html.ts';
import type { DemoReport, Evidence, RunResult } from './results.ts';
import { daemonLogs, portStates, waitForRoutes } from './routers.ts';
import { makeRun, openObservers } from './run.ts';
import { type Scene, portName } from './scene.ts';
import { SCENES, chosenScene } from './scenes.ts';
import { table } from './table.ts';

/** Not the scene's own name: who has the scene up meanwhile keeps it. */
const LAB = 'cnpd-demo';
const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
const outputOf = (scene: Scene): string =>
  join(packageRoot(), 'out/demo', ...(scene === SCENES[0] ? [] : [scene.name]));

const startedAt = new Date();
const say = (text: string): void => {
  const seconds = ((Date.now() - startedAt.getTime()) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`[${seconds} s] ${text}\n`);
};

async function makeRuns(lab: Lab, scene: Scene, signal: AbortSignal): Promise<RunResult[]> {
  const poller = Poller.open({ onError: (error) => say(`observer: ${String(error)}`) });
  const kMin = (await portStates(lab, scene.watched)).map((state) => state.kMin ?? 0);
  try {
    const observers = await openObservers(lab, scene, { poller, onError: (error) => say(`capture: ${error.message}`) });
    try {
      const runs: RunResult[] = [];
      for (const [i, spec] of scene.runs.entries()) {
        say(`run ${i + 1} of ${scene.runs.length}: ${spec.title}`);
        const progress = (text: string): void => say(`  ${spec.mode}: ${text}`);
        runs.push(await makeRun(scene, spec, { lab, observers, kMin, output: outputOf(scene), signal, progress }));
      }
      return runs;
    } finally {
      observers.close();
    }
  } finally {
    poller.close();
  }
}

function writeReport(scene: Scene, learned: Evidence, runs: readonly RunResult[], failures: readonly string[]): void {
  const report: DemoReport = {
    version: 2,
    scene: scene.name,
    title: scene.title,
    path: scene.path,
    startedAt: startedAt.toISOString(),
    ok: failures.length === 0,
    failures,
    evidence: learned.sentences,
    sendingRateBps: scene.sendingRateBps,
    ports: scene.watched.map((port) => ({
      name: portName(port),
      rateBps: port.rateBps,
      queueLimitBytes: port.limitBytes,
    })),
    runs,
  };
  mkdirSync(outputOf(scene), { recursive: true });
  writeFileSync(join(outputOf(scene), 'report.json'), `${JSON.stringify(report)}\n`);
  writeFileSync(join(outputOf(scene), 'report.html'), htmlReport(report));
}

/** What a killed demo may have left. @throws LabError when another one is at work */
async function removeRemains(): Promise<void> {
  const owner = readState(LAB)?.owner;
  if (owner && isAlive(owner)) throw new LabError('already-up', `another demo is running (pid ${owner.pid})`);
  await labDown(LAB);
}

/** @returns what did not go as claimed */
async function showTheScene(scene: Scene, signal: AbortSignal): Promise<readonly string[]> {
  await removeRemains();
  say(`bringing the scene up: ${scene.path}`);
  const lab = await labUp(scene.file, { signal, name: LAB });
  try {
    await waitForRoutes(lab, scene, signal);
    say('the routers have their routes');
    const learned = await scene.learn(lab, signal);
    for (const sentence of learned.sentences) say(sentence);
    say(
      `in the cnpd run ${scene.receiver.node} sends no CNPs, ` +
        `so that every notification on ${scene.sender.node}'s wire is cnpd's`,
    );
    const runs = await makeRuns(lab, scene, signal);
    const failures = [...learned.failures, ...scene.verdict(runs)];
    writeReport(scene, learned, runs, failures);
    process.stdout.write(`\n${table(runs)}\n`);
    return failures;
  } catch (error) {
    if (!signal.aborted) process.stderr.write(`${await daemonLogs(lab, scene.routers)}\n`);
    throw error;
  } finally {
    await lab.down();
  }
}

async function demo(scene: Scene): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) say(`${name}: taking the scene down`);
      controller.abort();
    });
  }
  try {
    const failures = await showTheScene(scene, controller.signal);
    for (const failure of failures) say(`FAILED: ${failure}`);
    say(`${failures.length === 0 ? 'all as it should be; ' : ''}see ${join(outputOf(scene), 'report.html')}`);
    return failures.length === 0 ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (controller.signal.aborted) {
      say('interrupted; nothing is left');
      return EXIT.interrupted;
    }
    if (error instanceof LabError) say(`FAILED: ${error.message}`);
    else say(`FAILED: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return EXIT.failed;
  }
}

const scene = chosenScene(process.argv.slice(2));
if (!scene) process.stderr.write(`usage: npm run demo [-- ${SCENES.map((s) => s.name).join(' | ')}]\n`);
process.exitCode = scene ? await demo(scene) : EXIT.usage;
