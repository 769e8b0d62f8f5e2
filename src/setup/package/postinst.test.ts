// What the package does at an upgrade, with programs that only write down how they were called. `npm run test:package`
// has the real ones.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const POSTINST = 'src/setup/package/debian/cnpd.postinst';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-postinst-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const program = (name: string, script: string): void => {
  const file = join(dir, name);
  writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> ${dir}/calls\n${script}\n`);
  chmodSync(file, 0o755);
};

/** @param status of `cnpd check`, and of `systemctl kill` */
function upgrade(status: { check?: number; kill?: number }) {
  writeFileSync(join(dir, 'calls'), '');
  writeFileSync(join(dir, 'cnpd.yaml'), '');
  // Active until it is killed.
  const kill = `touch ${dir}/killed; exit ${status.kill ?? 0}`;
  program('systemctl', `case "$*" in *is-active*) test ! -e ${dir}/killed;; kill*) ${kill};; esac`);
  program('deb-systemd-invoke', '');
  program('cnpd', `echo 'what is wrong' >&2; exit ${status.check ?? 0}`);
  const script = readFileSync(POSTINST, 'utf8')
    .replaceAll('/etc/cnpd/cnpd.yaml', `${dir}/cnpd.yaml`)
    .replaceAll('/run/systemd/system', dir);
  writeFileSync(join(dir, 'postinst'), script);
  const ended = spawnSync('sh', [join(dir, 'postinst'), 'configure', '0.4.0'], {
    encoding: 'utf8',
    env: { PATH: `${dir}:${process.env['PATH']}` },
  });
  const calls = readFileSync(join(dir, 'calls'), 'utf8')
    .trim()
    .split('\n')
    .filter((call) => !call.includes('is-active'));
  return { status: ended.status, stderr: ended.stderr, calls: calls.map((call) => call.replaceAll(dir, '')) };
}

describe('an upgrade of the package', () => {
  const [check, kill] = ['cnpd check /cnpd.yaml', 'systemctl kill --kill-whom=main --signal=KILL cnpd.service'];

  test('kills the former version and starts the new one', () => {
    execFileSync('sh', ['-n', POSTINST]);
    expect(upgrade({})).toMatchObject({ status: 0, calls: [check, kill, 'deb-systemd-invoke start cnpd.service'] });
  });

  test('leaves the former version running where the new one refuses the file, and says so', () => {
    const { status, stderr, calls } = upgrade({ check: 1 });
    expect([status, calls]).toEqual([0, [check]]);
    expect(stderr).toMatch(/what is wrong\n.*refuses .*cnpd\.yaml.*\n.*correct the file, then: systemctl kill/);
  });

  test('goes on where the former version has ended by itself', () => {
    expect(upgrade({ kill: 1 })).toMatchObject({ status: 0, calls: [check, kill, expect.stringContaining('start')] });
  });
});
