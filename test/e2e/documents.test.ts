// What the quick start and the tutorial tell to do is done, command by command, and shows what they show.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { labDown } from '../../src/lab/lab.ts';
import { packageRoot } from '../../src/lab/program.ts';
import { type Step, consoleSteps, isDefinition, missing, mayRepeat } from '../docs/console.ts';
import { until } from '../support/until.ts';
import { ownLabName } from './support/network.ts';

/** As npm would, which takes as long again as the command itself; npm-lab.test.ts is about the script. */
const LAB = ['npm run --silent lab --', 'node dist/lab.js'] as const;
const TOPOLOGY = 'containerlab/proxy/proxy.clab.yml';
const NAME = await ownLabName('t-documents');
/**
 * Beside the original, because its paths are relative. Its port is narrower, so that hosts fill it on a busy machine
 * too.
 */
const OWN_TOPOLOGY = `containerlab/proxy/.${process.pid}.clab.yml`;
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 't-documents-'));
  const text = readFileSync(join(packageRoot(), TOPOLOGY), 'utf8');
  const own = text.replace('name: proxy\n', `name: ${NAME}\n`).replace('tbf rate 40mbit', 'tbf rate 10mbit');
  expect(own).toContain('rate 10mbit');
  writeFileSync(join(packageRoot(), OWN_TOPOLOGY), own);
});
afterEach(async () => {
  await labDown(NAME);
  rmSync(join(packageRoot(), OWN_TOPOLOGY));
  rmSync(directory, { recursive: true });
});

/**
 * @returns what a terminal would show, with the names of the page. Commands in the background go on; those of a lab end
 *   with it.
 */
async function terminal(script: string): Promise<string> {
  // Of this command alone: one in the background may still write to its own.
  const file = join(mkdtempSync(join(directory, 'command-')), 'output');
  const output = openSync(file, 'w');
  const shell = spawn('bash', ['-c', script.replaceAll(...LAB).replaceAll(TOPOLOGY, OWN_TOPOLOGY)], {
    cwd: packageRoot(),
    stdio: ['ignore', output, output],
  });
  await once(shell, 'exit');
  closeSync(output);
  return readFileSync(file, 'utf8').replaceAll(NAME, 'proxy').replaceAll(OWN_TOPOLOGY, TOPOLOGY);
}

async function follow(page: string): Promise<void> {
  const definitions: string[] = [];
  const run = async (step: Step): Promise<string | undefined> => {
    const output = await terminal([...definitions, step.command].join('\n'));
    const line = missing(step.output, output);
    return line === undefined ? undefined : `${page}:${step.line}: ${step.command}\n  lacks: ${line}\n${output}`;
  };
  const steps = consoleSteps(readFileSync(join(packageRoot(), page), 'utf8'));
  expect(steps.length).toBeGreaterThan(5);
  for (const step of steps) {
    if (isDefinition(step)) definitions.push(step.command);
    else if (mayRepeat(step))
      await until(
        page,
        () => run(step),
        (wrong) => wrong === undefined || undefined,
        60_000,
      );
    else expect(await run(step)).toBeUndefined();
  }
}

test('the quick start of README.md does what it says', () => follow('README.md'));

test('the tutorial does what it says', () => follow('docs/tutorial/lab.md'));
