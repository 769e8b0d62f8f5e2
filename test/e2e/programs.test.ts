// The programs of dist/ start from what V8 compiled of them at the build (src/setup/programs.mjs).
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { PROGRAMS } from '../../src/setup/programs.mjs';
import { compiledBeside } from '../../src/setup/start.mjs';

const REPOSITORY = new URL('../..', import.meta.url).pathname;
const FILE = join(REPOSITORY, 'containerlab/proxy/leaf1/cnpd.yaml');
const directory = mkdtempSync(join(tmpdir(), 'cnpd-programs-'));
afterAll(() => rmSync(directory, { recursive: true }));

const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, args, { encoding: 'utf8', cwd: REPOSITORY });

/** Path of a program's bundle. @throws Error when there is not exactly one */
function bundleIn(chunks: string, name: string): string {
  const [file, ...more] = readdirSync(chunks).filter((entry) => new RegExp(`^${name}-[0-9a-f]{8}\\.cjs$`).test(entry));
  if (file === undefined || more.length > 0) throw new Error(`${chunks}: no bundle of ${name}, or several`);
  return join(chunks, file);
}

test.each(Object.keys(PROGRAMS))('%s: V8 takes what it compiled at the build', (name) => {
  const bundle = bundleIn(join(REPOSITORY, 'dist/chunk'), name);
  const { stdout, stderr } = run(
    '--input-type=module',
    '-e',
    `import { readFileSync } from 'node:fs';
     import { load } from './src/setup/start.mjs';
     const { script } = load('${bundle}', readFileSync('${compiledBeside(bundle)}'));
     process.stdout.write(String(script.cachedDataRejected));`,
  );
  expect(stderr).toBe('');
  expect(stdout).toBe('false');
});

test.each<[string, (whole: Buffer) => Buffer | undefined]>([
  ['missing', () => undefined],
  ['empty', () => Buffer.alloc(0)],
  ['cut', (whole) => whole.subarray(0, whole.length / 2)],
  ['of something else', (whole) => Buffer.alloc(whole.length, 0xa5)],
])('a compiled form that is %s is not used: the program works without it', (_, spoil) => {
  const bundle = bundleIn(join(REPOSITORY, 'dist/chunk'), 'cnpd');
  const copy = mkdtempSync(join(directory, 'copy-'));
  const copied = join(copy, 'dist/chunk', basename(bundle));
  mkdirSync(dirname(copied), { recursive: true });
  symlinkSync(join(REPOSITORY, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(REPOSITORY, 'package.json'), join(copy, 'package.json'));
  cpSync(join(REPOSITORY, 'dist/cnpd.js'), join(copy, 'dist/cnpd.js'));
  cpSync(bundle, copied);
  const content = spoil(readFileSync(compiledBeside(bundle)));
  if (content) writeFileSync(compiledBeside(copied), content);
  expect(run(join(copy, 'dist/cnpd.js'), 'check', FILE)).toMatchObject({
    status: 0,
    stdout: `${FILE}: ok\n`,
    stderr: '',
  });
});
