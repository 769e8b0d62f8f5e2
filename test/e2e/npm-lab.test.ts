// `npm run lab` on a fresh clone: the script of package.json, as npm runs it, with a set-up of the test's own that
// takes no time.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../src/lab/program.ts';

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 't-clone-'));
  const { name, type, scripts } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    name: string;
    type: string;
    scripts: Record<string, string>;
  };
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ name, type, scripts }));
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** What setup.sh does here. */
const setUp = (script: string): void => {
  mkdirSync(join(clone, 'src/setup'), { recursive: true });
  writeFileSync(join(clone, 'src/setup/setup.sh'), `echo 'setup: here'\n${script}\n`);
};
const BUILDS =
  "mkdir dist && echo 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 7' > dist/lab.js";
const lab = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync('npm', ['run', '--silent', 'lab', '--', ...args], { cwd: clone, encoding: 'utf8', timeout: 60_000 });

test('without a build it sets itself up first, beside what the lab prints; the lab has the words and gives the exit code; the next time nothing is set up', () => {
  setUp(BUILDS);
  const first = lab('exec', 'x y.clab.yml', 'a', '--', 'sh', '-c', 'exit 7');
  expect(first).toMatchObject({
    status: 7,
    stdout: '["exec","x y.clab.yml","a","--","sh","-c","exit 7"]\n',
    stderr: expect.stringContaining('setup: here') as unknown,
  });
  const second = lab('status');
  expect(second).toMatchObject({ status: 7, stdout: '["status"]\n' });
  expect(second.stderr).not.toContain('setup');
});

test('a set-up that fails is the end of it: its reason and its exit code, and no lab', () => {
  setUp("echo 'setup: needs root'; exit 1");
  expect(lab('status')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('setup: needs root') as unknown,
  });
});
