// What the package does at an upgrade, and which Node.js it takes, with programs that only write down how they were
// called. `npm run test:package` has the real ones.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
  program('compile', '');
  program('cnpd', `echo 'what is wrong' >&2; exit ${status.check ?? 0}`);
  const script = readFileSync(POSTINST, 'utf8')
    .replaceAll('/etc/cnpd/cnpd.yaml', `${dir}/cnpd.yaml`)
    .replaceAll('/usr/lib/cnpd/compile', `${dir}/compile`)
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
  // Before anything starts with what it makes.
  expect(calls.shift()).toBe('compile ');
  return { status: ended.status, stderr: ended.stderr, calls: calls.map((call) => call.replaceAll(dir, '')) };
}

test('the first configuration is for root alone: keys of protocols will be in it', () => {
  const script = readFileSync(POSTINST, 'utf8')
    .replaceAll('/etc/cnpd', dir)
    .replaceAll('/usr/share/cnpd/cnpd.yaml', join(dir, 'template'))
    .replaceAll('/usr/lib/cnpd/compile', 'true');
  rmSync(join(dir, 'cnpd.yaml'), { force: true });
  writeFileSync(join(dir, 'template'), 'router: { name: ROUTER }\n');
  writeFileSync(join(dir, 'postinst'), script);
  execFileSync('sh', ['-c', `umask 022; sh ${join(dir, 'postinst')} configure`]);
  expect(readFileSync(join(dir, 'cnpd.yaml'), 'utf8')).toMatch(/^router: \{ name: [A-Za-z0-9-]+ \}\n$/);
  expect(statSync(join(dir, 'cnpd.yaml')).mode & 0o777).toBe(0o600);
});

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

describe('the Node.js that is taken', () => {
  const START = 'src/setup/package/debian/lib/node';

  /** @param versions of the package nodejs and of cnpd-nodejs, where they are installed */
  function taken(versions: { nodejs?: string; own?: string }, name = 'cnpd'): string {
    const install = (file: string, version?: string): void => {
      rmSync(join(dir, file), { force: true });
      if (version !== undefined) program(file, `test "$1" != --version || echo v${version}`);
    };
    install('node-of-debian', versions.nodejs);
    install('node-of-cnpd', versions.own);
    const script = readFileSync(START, 'utf8')
      .replace('/usr/bin/node', `${dir}/node-of-debian`)
      .replace('/usr/lib/cnpd-nodejs/bin/node', `${dir}/node-of-cnpd`);
    writeFileSync(join(dir, name), script);
    execFileSync('sh', [join(dir, name), 'check', 'a file']);
    return readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n').at(-1)!;
  }

  test('is that of nodejs alone, that of cnpd-nodejs alone, with the program by its name and its arguments', () => {
    expect(taken({ nodejs: '20.19.0' })).toBe('node-of-debian /usr/lib/cnpd/dist/cnpd.js check a file');
    expect(taken({ own: '24.21.0' }, 'cnpctl')).toBe('node-of-cnpd /usr/lib/cnpd/dist/cnpctl.js check a file');
    expect(taken({ own: '24.21.0' }, 'node')).toBe('node-of-cnpd check a file');
  });

  test.each([
    ['8.9.4', 'cnpd'],
    ['18.20.4', 'cnpd'],
    ['20.9.0', 'cnpd'],
    ['20.18.3', 'cnpd'],
    ['20.19.0', 'debian'],
    ['20.20.2', 'debian'],
    ['21.0.0', 'debian'],
    ['22.23.3', 'debian'],
    ['30.0.0', 'debian'],
    ['100.1.0', 'debian'],
  ])('is, where nodejs %s is beside it, that of %s', (nodejs, expected) => {
    expect(taken({ nodejs, own: '24.21.0' })).toMatch(new RegExp(`^node-of-${expected} `));
  });

  test('is new enough by what package.json and the package ask for', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe('>=20.19');
    expect(readFileSync('src/setup/package/debian/control', 'utf8')).toContain('nodejs (>= 20.19) | cnpd-nodejs');
  });
});

test('what an interrupted compilation leaves is removed as what is compiled', () => {
  const bundle = join(dir, 'program.cjs');
  writeFileSync(bundle, 'exports.later = async () => {};');
  // So that it fails between the two steps.
  mkdirSync(`${bundle}.${process.arch}.compiled`);
  expect(spawnSync(process.execPath, ['src/setup/compile.mjs', bundle]).status).not.toBe(0);
  const left = readdirSync(dir).filter((name) => name !== 'program.cjs');
  expect(left).toHaveLength(2);
  for (const name of left) expect(name).toMatch(/\.compiled$/);
  for (const script of ['cnpd.prerm', 'lib/compile'])
    expect(readFileSync(`src/setup/package/debian/${script}`, 'utf8')).toMatch(/^rm -f .*dist\/chunk\/\*\.compiled$/m);
});
