// What the quick start and the tutorial tell to do is done, command by command, and shows what they show.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { labDown } from '../../src/lab/lab.ts';
import { packageRoot } from '../../src/lab/program.ts';
import { follow, shownBy, stepsOf } from '../support/follow.ts';
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

/** @returns what a terminal would show, with the names of the page. Commands of a lab end with it. */
async function terminal(script: string): Promise<string> {
  const own = script.replaceAll(...LAB).replaceAll(TOPOLOGY, OWN_TOPOLOGY);
  const output = await shownBy(['bash', '-c', own], directory, packageRoot());
  return output.replaceAll(NAME, 'proxy').replaceAll(OWN_TOPOLOGY, TOPOLOGY);
}

async function followPage(page: string): Promise<void> {
  const steps = stepsOf(join(packageRoot(), page));
  expect(steps.length).toBeGreaterThan(5);
  await follow(page, steps, terminal);
}

test('the quick start of README.md does what it says', () => followPage('README.md'));

test('the tutorial does what it says', () => followPage('docs/tutorial/lab.md'));
