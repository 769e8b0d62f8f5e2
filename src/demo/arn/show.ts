// `npm run demo -- arn`: one of two services fills its receiver's port. Nothing is paused, the priority, the service.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Poller } from '../../kernel/poller.ts';
import type { Lab } from '../../lab/lab.ts';
import { until, waitForRoutes } from '../routers.ts';
import type { Show, Stage } from '../show.ts';
import { evaluateArn } from './evaluate.ts';
import { arnHtml, arnTable } from './report.ts';
import type { ArnReport, ArnResult } from './results.ts';
import { ARN, ROUTERS, ROUTES, RUNS } from './scene.ts';
import { headline } from './sentences.ts';
import { makeArnRun, openArnObservers } from './traffic.ts';
import { arnChecks, dropsOf, keptOf, mbit, percent } from './verdict.ts';

/** Until every router's cnpd answers. @throws Error when one does not */
export async function waitForRouters(lab: Lab, signal: AbortSignal): Promise<void> {
  await waitForRoutes(lab, { routes: ROUTES }, signal);
  for (const node of ROUTERS)
    await until(`cnpd of ${node}`, signal, async () => {
      const { code, stderr } = await lab.exec(node, ['cnpctl', 'show', 'flow-control']);
      return code === 0 ? {} : stderr.trim();
    });
}

/** Who is asked: what routing says, since no neighbor is declared. */
async function evidence(lab: Lab): Promise<string[]> {
  const routes = await Promise.all(
    ['pe2', 'p'].map(async (node) => {
      const route = await lab.mustExec(node, ['ip', '-6', 'route', 'show', '2001:db8:ffff::1']);
      const [, via, port] = /via (\S+) dev (\S+)/.exec(route) ?? [];
      return `${node} asks ${via ?? 'nobody'} at ${port ?? 'no port'}`;
    }),
  );
  return [`the upstream neighbors are the next hops of IS-IS's routes back: ${routes.join(', ')}`];
}

const line = (run: ArnResult): string =>
  `  ${run.name}: A got ${mbit(run.services.A.received.togetherBps)}, B delivered ${percent(keptOf(run.services.B))}, ` +
  `${dropsOf(run)} drops, ARNs ${run.wires.map(({ wire, asks, ends }) => `${wire}: ${asks + ends}`).join(', ')}`;

async function runAll(lab: Lab, { signal, say, output }: Stage): Promise<ArnResult[]> {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const poller = Poller.open({ onError });
  try {
    const observers = await openArnObservers(lab, { poller, onError });
    const results: ArnResult[] = [];
    try {
      for (const [i, run] of RUNS.entries()) {
        say(`run ${i + 1} of ${RUNS.length}: ${run.title}`);
        const result = evaluateArn(run, await makeArnRun(run, { lab, observers, output, signal }));
        say(line(result));
        results.push(result);
      }
    } finally {
      observers.close();
    }
    if (errors[0]) throw errors[0];
    return results;
  } finally {
    poller.close();
  }
}

async function play(lab: Lab, stage: Stage): Promise<readonly string[]> {
  await waitForRouters(lab, stage.signal);
  const learned = await evidence(lab);
  for (const sentence of learned) stage.say(sentence);
  const runs = await runAll(lab, stage);
  const checks = arnChecks(runs);
  const failures = checks.flatMap((check) => check.failures);
  const report: ArnReport = {
    version: 1,
    scene: ARN.name,
    title: ARN.title,
    path: ARN.path,
    startedAt: stage.startedAt.toISOString(),
    ok: failures.length === 0,
    failures,
    checks,
    evidence: learned,
    runs,
  };
  mkdirSync(stage.output, { recursive: true });
  writeFileSync(join(stage.output, 'report.json'), `${JSON.stringify(report)}\n`);
  writeFileSync(join(stage.output, 'report.html'), arnHtml(report));
  process.stdout.write(`\n${arnTable(runs)}\n${headline(runs)}\n`);
  return failures;
}

export const arn: Show = { ...ARN, routers: ROUTERS, play };
