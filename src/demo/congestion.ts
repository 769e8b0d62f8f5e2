// The scenes of congestion: the same traffic three times, without congestion control, with CNPs from the receiver, with
// cnpd. Prints a table, and writes report.json and report.html.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Poller } from '../kernel/poller.ts';
import type { Lab } from '../lab/lab.ts';
import { htmlReport } from './html.ts';
import type { DemoReport, Evidence, RunResult } from './results.ts';
import { portStates, waitForRoutes } from './routers.ts';
import { makeRun, openObservers } from './run.ts';
import { type Scene, portName } from './scene.ts';
import type { Show, Stage } from './show.ts';
import { table } from './table.ts';

async function makeRuns(lab: Lab, scene: Scene, { signal, say, output }: Stage): Promise<RunResult[]> {
  const poller = Poller.open({ onError: (error) => say(`observer: ${String(error)}`) });
  const kMin = (await portStates(lab, scene.watched)).map((state) => state.kMin ?? 0);
  try {
    const observers = await openObservers(lab, scene, { poller, onError: (error) => say(`capture: ${error.message}`) });
    try {
      const runs: RunResult[] = [];
      for (const [i, spec] of scene.runs.entries()) {
        say(`run ${i + 1} of ${scene.runs.length}: ${spec.title}`);
        const progress = (text: string): void => say(`  ${spec.mode}: ${text}`);
        runs.push(await makeRun(scene, spec, { lab, observers, kMin, output, signal, progress }));
      }
      return runs;
    } finally {
      observers.close();
    }
  } finally {
    poller.close();
  }
}

function writeReport(
  scene: Scene,
  { output, startedAt }: Stage,
  learned: Evidence,
  runs: readonly RunResult[],
  failures: readonly string[],
): void {
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
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'report.json'), `${JSON.stringify(report)}\n`);
  writeFileSync(join(output, 'report.html'), htmlReport(report));
}

async function play(scene: Scene, lab: Lab, stage: Stage): Promise<readonly string[]> {
  const { say, signal } = stage;
  await waitForRoutes(lab, scene, signal);
  say('the routers have their routes');
  const learned = await scene.learn(lab, signal);
  for (const sentence of learned.sentences) say(sentence);
  say(
    `in the cnpd run ${scene.receiver.node} sends no CNPs, ` +
      `so that every notification on ${scene.sender.node}'s wire is cnpd's`,
  );
  const runs = await makeRuns(lab, scene, stage);
  const failures = [...learned.failures, ...scene.verdict(runs)];
  writeReport(scene, stage, learned, runs, failures);
  process.stdout.write(`\n${table(runs)}\n`);
  return failures;
}

export const congestion = (scene: Scene): Show => ({
  name: scene.name,
  path: scene.path,
  file: scene.file,
  routers: scene.routers,
  play: (lab, stage) => play(scene, lab, stage),
});
