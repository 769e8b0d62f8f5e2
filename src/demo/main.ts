// `npm run demo [-- longhaul | srv6-wan | bgp | multicast | arn …]`: brings a scene of containerlab/ up, shows what it
// is for, and writes report.json and report.html below out/demo/. Ends with status 0 only if it showed what it claims.
import { join } from 'node:path';
import { LabError } from '../lab/error.ts';
import { labDown, labUp } from '../lab/lab.ts';
import { isAlive } from '../lab/processes.ts';
import { packageRoot } from '../lab/program.ts';
import { readState } from '../lab/state.ts';
import { daemonLogs } from './routers.ts';
import type { Show } from './show.ts';
import { SHOWS, chosenShow } from './shows.ts';

/** Not the scene's own name: who has the scene up meanwhile keeps it. */
const LAB = 'cnpd-demo';
const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
const outputOf = (show: Show): string => join(packageRoot(), 'out/demo', ...(show === SHOWS[0] ? [] : [show.name]));

const startedAt = new Date();
const say = (text: string): void => {
  const seconds = ((Date.now() - startedAt.getTime()) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`[${seconds} s] ${text}\n`);
};

/** What a killed demo may have left. @throws LabError when another one is at work */
async function removeRemains(): Promise<void> {
  const owner = readState(LAB)?.owner;
  if (owner && isAlive(owner)) throw new LabError('already-up', `another demo is running (pid ${owner.pid})`);
  await labDown(LAB);
}

/** @returns what did not go as claimed */
async function upAndDown(show: Show, signal: AbortSignal): Promise<readonly string[]> {
  await removeRemains();
  say(`bringing the scene up: ${show.path}`);
  const lab = await labUp(show.file, { signal, name: LAB });
  try {
    return await show.play(lab, { signal, say, output: outputOf(show), startedAt });
  } catch (error) {
    if (!signal.aborted) process.stderr.write(`${await daemonLogs(lab, show.routers)}\n`);
    throw error;
  } finally {
    await lab.down();
  }
}

async function demo(show: Show): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) say(`${name}: taking the scene down`);
      controller.abort();
    });
  }
  try {
    const failures = await upAndDown(show, controller.signal);
    for (const failure of failures) say(`FAILED: ${failure}`);
    say(`${failures.length === 0 ? 'all as it should be; ' : ''}see ${join(outputOf(show), 'report.html')}`);
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

const show = chosenShow(process.argv.slice(2));
if (!show) process.stderr.write(`usage: npm run demo [-- ${SHOWS.map(({ name }) => name).join(' | ')}]\n`);
process.exitCode = show ? await demo(show) : EXIT.usage;
