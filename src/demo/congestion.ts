// The scenes of congestion: the same traffic without congestion control, with CNPs from the receiver, with cnpd. Prints
// a table, and writes report.json and report.html.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Poller } from '../kernel/poller.ts';
import type { Lab } from '../lab/lab.ts';
import type { Check } from './check.ts';
import { drawingOf } from './drawing.ts';
import { htmlReport } from './html.ts';
import { loadNow, machine, watchCpus } from './machine.ts';
import type { DemoReport, DemoRun, Evidence, Machine } from './results.ts';
import { portStates, waitForRoutes } from './routers.ts';
import { makeRun, openObservers } from './run.ts';
import { type Scene, portName } from './scene.ts';
import type { Show, Stage } from './show.ts';
import { textReport } from './text.ts';

async function makeRuns(lab: Lab, scene: Scene, { signal, say, output }: Stage): Promise<DemoRun[]> {
  const poller = Poller.open({ onError: (error) => say(`observer: ${String(error)}`) });
  const kMin = (await portStates(lab, scene.watched)).map((state) => state.kMin ?? 0);
  try {
    const observers = await openObservers(lab, scene, { poller, onError: (error) => say(`capture: ${error.message}`) });
    try {
      const runs: DemoRun[] = [];
      const repetitions = scene.repetitions ?? 1;
      const total = scene.runs.length * repetitions;
      // All runs, and then all again: what the machine does meanwhile hits every kind alike.
      for (let repetition = 1; repetition <= repetitions; repetition++)
        for (const spec of scene.runs) {
          say(`run ${runs.length + 1} of ${total}: ${spec.title}`);
          const progress = (text: string): void => say(`  ${spec.mode}: ${text}`);
          const cpuBusy = watchCpus();
          const run = await makeRun(scene, spec, { lab, observers, kMin, output, signal, progress });
          runs.push({ ...run, repetition, cpuBusy: cpuBusy() });
        }
      return runs;
    } finally {
      observers.close();
    }
  } finally {
    poller.close();
  }
}

interface Outcome {
  readonly learned: Evidence;
  readonly runs: readonly DemoRun[];
  readonly checks: readonly Check[];
  readonly failures: readonly string[];
  readonly machine: Machine;
}

function writeReport(scene: Scene, { output, startedAt }: Stage, outcome: Outcome): void {
  const { learned, runs, checks, failures } = outcome;
  const report: DemoReport = {
    version: 3,
    scene: scene.name,
    title: scene.title,
    path: scene.path,
    drawing: drawingOf(scene.file),
    machine: outcome.machine,
    startedAt: startedAt.toISOString(),
    ok: failures.length === 0,
    failures,
    checks,
    evidence: learned.sentences,
    names: scene.names,
    proxy: scene.proxy ?? null,
    receiver: scene.receiver.node,
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
  process.stdout.write(`\n${textReport(report)}\n`);
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
  const load = loadNow();
  const runs = await makeRuns(lab, scene, stage);
  const failures = [...learned.failures, ...scene.verdict(runs)];
  const learnedCheck: Check = { claim: learned.sentences.join('; '), failures: learned.failures };
  const checks = scene.checks ? [learnedCheck, ...scene.checks(runs)] : [];
  writeReport(scene, stage, { learned, runs, checks, failures, machine: machine(load) });
  return failures;
}

export const congestion = (scene: Scene): Show => ({
  name: scene.name,
  path: scene.path,
  file: scene.file,
  routers: scene.routers,
  play: (lab, stage) => play(scene, lab, stage),
});
