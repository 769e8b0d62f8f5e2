// The routers of the scene `arn`: configured for a run as an operator would, and asked through cnpctl.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseDocument } from 'yaml';
import type { Lab } from '../../lab/lab.ts';
import { show, until } from '../routers.ts';
import type { RouterCounts } from './results.ts';
import { ARN, type ArnRun, HOLD_PORTS, ROUTERS, type RunName } from './scene.ts';

/** A router's cnpd.yaml in the repository, in the mode of this run. */
export function configuration(text: string, name: RunName): string {
  const document = parseDocument(text);
  if (name === 'none') document.delete('flow-control');
  else document.setIn(['flow-control', 'mode'], name);
  return document.toString();
}

/** Gives every router the configuration of this run, and waits until all are ready for it. */
export async function configureArn(lab: Lab, run: ArnRun, output: string, signal: AbortSignal): Promise<void> {
  mkdirSync(output, { recursive: true });
  for (const node of ROUTERS) {
    const original = readFileSync(join(dirname(ARN.file), node, 'cnpd.yaml'), 'utf8');
    const file = join(output, `${node}-${run.name}.yaml`);
    writeFileSync(file, configuration(original, run.name));
    await lab.cover(node, file, '/etc/cnpd/cnpd.yaml');
    await lab.mustExec(node, ['cnpctl', 'reload']);
  }
  for (const node of ROUTERS) await waitForMode(lab, node, run.name, signal);
  for (const { node, interface: port } of HOLD_PORTS) await waitForQueue(lab, node, port, run.name !== 'none', signal);
}

/** Until the router's cnpd pauses what it is to pause. @throws Error when it does not */
async function waitForMode(lab: Lab, node: string, name: RunName, signal: AbortSignal): Promise<void> {
  const wanted = name === 'none' ? undefined : name;
  await until(`${node}: flow control of this run`, signal, async () => {
    const { stdout } = await lab.exec(node, ['cnpctl', '-o', 'json', 'show', 'flow-control']);
    const shown = (stdout === '' ? {} : JSON.parse(stdout)) as { mode?: string; problems?: { problem: string }[] };
    const problems = (shown.problems ?? []).map(({ problem }) => problem).join('; ');
    return shown.mode === wanted && problems === '' ? shown : `mode ${shown.mode ?? 'none'} ${problems}`;
  });
}

/** Until the port has classes for what is paused, or none any more. @throws Error when that does not happen */
async function waitForQueue(lab: Lab, node: string, port: string, holds: boolean, signal: AbortSignal): Promise<void> {
  await until(`${node}: the queue of ${port}`, signal, async () => {
    const { stdout } = await lab.exec(node, ['tc', 'qdisc', 'show', 'dev', port, 'root']);
    return stdout.startsWith('qdisc htb') === holds ? {} : `it is ${stdout.trim()}`;
  });
}

/** What each router has counted so far. @throws Error when cnpd does not answer */
export async function routerCounts(lab: Lab): Promise<readonly RouterCounts[]> {
  return Promise.all(
    ROUTERS.map(async (node) => {
      const rows = await show(lab, node, 'counters');
      if (typeof rows === 'string') throw new Error(`${node}: ${rows}`);
      const value = (name: string): number => Number(rows.find((row) => row['name'] === name)?.['value'] ?? 0);
      return {
        node,
        asked: value('flow-control.ask.sent'),
        paused: value('flow-control.pause.paused'),
        extended: value('flow-control.pause.extended'),
      };
    }),
  );
}

/** How much the counts grew. */
export const grown = (before: readonly RouterCounts[], after: readonly RouterCounts[]): RouterCounts[] =>
  after.map(({ node, asked, paused, extended }, i) => ({
    node,
    asked: asked - before[i]!.asked,
    paused: paused - before[i]!.paused,
    extended: extended - before[i]!.extended,
  }));
