// `npm run containerlab` up to the programs that it calls, which stand in here and write down their arguments. With
// the real ones: `npm run test:containerlab`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../src/lab/program.ts';

const ROOT = packageRoot();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 't-containerlab-'));
  for (const name of ['containerlab', 'npm']) standIn(name, '');
  standIn('docker', dockerWithImage(version));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CALLS = 'calls';
function standIn(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> "${join(folder, CALLS)}"\n${script}\n`, {
    mode: 0o755,
  });
}
const dockerWithImage = (label: string): string => `[ "$1" = image ] && echo ${label} || true`;

function containerlab(...args: string[]): { status: number | null; stderr: string; called: string[] } {
  writeFileSync(join(folder, CALLS), '');
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, CONTAINERLAB: join(folder, 'containerlab') };
  const command = [join(ROOT, 'dist/containerlab.js'), ...args];
  const { status, stderr } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
  return { status, stderr, called: readFileSync(join(folder, CALLS), 'utf8').trim().split('\n') };
}
const topology = join(ROOT, 'containerlab/proxy/proxy.clab.yml');

test('a scene is deployed and destroyed; an image of this version is not built again', () => {
  const up = containerlab('up', 'proxy');
  expect(up).toMatchObject({ status: 0, stderr: '' });
  expect(up.called.filter((call) => /^npm|^docker build/.test(call))).toEqual([]);
  expect(up.called.at(-1)).toBe(`containerlab deploy --topo ${topology}`);
  expect(containerlab('down', topology).called.at(-1)).toBe(`containerlab destroy --cleanup --topo ${topology}`);
});

test('an image of another version, or none, is built from a new package first', () => {
  for (const script of [dockerWithImage('0.0.1'), '[ "$1" != image ]']) {
    standIn('docker', script);
    const { status, called } = containerlab('up', 'proxy');
    expect(status).toBe(0);
    expect(called.slice(-3)).toEqual([
      'npm run --silent package',
      expect.stringMatching(`^docker build .*version=${version} -t cnpd-frr:latest `),
      expect.stringContaining('containerlab deploy'),
    ]);
  }
});

test('what is missing or fails is said, and nothing is deployed', () => {
  expect(containerlab('up', 'prox')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/prox is neither .*: bgp, /),
  });
  standIn('docker', 'echo "is the daemon running?" >&2; exit 1');
  const silent = containerlab('up', 'proxy');
  expect(silent).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/Docker does not answer: is the daemon running/),
  });
  expect(silent.called.join()).not.toContain('deploy');
  standIn('containerlab', 'exit 3');
  expect(containerlab('up', 'proxy').stderr).toMatch(/How to install it/);
  expect(containerlab().status).toBe(2);
});
