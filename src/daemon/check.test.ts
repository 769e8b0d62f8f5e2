import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkFiles } from './check.ts';

let dir: string;
const at = (name: string): string => join(dir, name);
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-check-'));
  writeFileSync(at('good.yaml'), 'router: { name: r1 }\n');
  writeFileSync(at('useless.yaml'), 'router: { name: r1 }\nports: [{ interface: lo, k-min: 50kB }]\n');
});
afterAll(() => rmSync(dir, { recursive: true }));

async function check(files: readonly string[], output: 'table' | 'json' = 'table') {
  let [out, err] = ['', ''];
  const options = { output, out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const isValid = await checkFiles(files, { ...options, stdin: async () => 'router: { name: r1, nmae: r2 }\n' });
  return { isValid, out, err };
}

test('several files, with notes, which are no errors', async () => {
  const { isValid, out, err } = await check([at('good.yaml'), at('useless.yaml')]);
  expect([isValid, err]).toEqual([true, '']);
  expect(out).toMatch(/^\S+good\.yaml: ok\n\S+useless\.yaml: ok\n\S+useless\.yaml: note: lo is watched/);
});

test('a file of TLS that is not there is noted, and is no error: cnpd starts without it', async () => {
  const tls = `certificate: ${at('good.yaml')}, key: ${at('none.key')}, client-ca: ${dir}`;
  writeFileSync(at('tls.yaml'), `router: { name: r1 }\nnorthbound: { ${tls}, rights: [{ name: noc, read: [/] }] }\n`);
  const { isValid, out } = await check([at('tls.yaml')]);
  expect(isValid).toBe(true);
  expect(out.split('\n').slice(1)).toEqual([
    expect.stringMatching(/: note: northbound\.key: \S+none\.key does not exist /),
    expect.stringMatching(/: note: northbound\.client-ca: \S+ is not a file /),
    '',
  ]);
});

test('standard input; one invalid file among valid ones counts', async () => {
  const { isValid, out, err } = await check([at('good.yaml'), '-']);
  expect(isValid).toBe(false);
  expect(out).toContain('good.yaml: ok');
  expect(err).toMatch(/^standard input:1:\d+: router\.nmae: /);
});

test('a pipe, as of `<(command)` in a shell; no more of it than a file may have', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  const [{ isValid, out }] = await Promise.all([check([at('pipe')]), writeFile(at('pipe'), 'router: { name: r1 }\n')]);
  expect([isValid, out]).toEqual([true, `${at('pipe')}: ok\n`]);
  const endless = writeFile(at('pipe'), '#'.repeat(12 * 1024 * 1024)).catch(({ code }: NodeJS.ErrnoException) => code);
  const { err } = await check([at('pipe')]);
  expect([err, await endless]).toEqual([expect.stringMatching(/pipe: more than 8388608 bytes/), 'EPIPE']);
});

test('JSON has each file with its errors and notes', async () => {
  const { isValid, out, err } = await check([at('useless.yaml'), '-', at('none.yaml')], 'json');
  expect([isValid, err]).toEqual([false, '']);
  expect(JSON.parse(out)).toMatchObject([
    { file: at('useless.yaml'), ok: true, errors: [], notes: [{ code: 'ports.loopback', feature: 'ports' }] },
    { file: '-', ok: false, errors: [expect.stringMatching(/nmae/)], notes: [] },
    { file: at('none.yaml'), ok: false, errors: [expect.stringContaining('ENOENT')] },
  ]);
});
