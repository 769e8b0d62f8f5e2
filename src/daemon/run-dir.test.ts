import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunDirBusy, claimRunDir, runDirHolder } from './run-dir.ts';
import { uninstall } from './uninstall.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cnpd-run-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the claim on the run directory', () => {
  test('is held by this process until it is released', () => {
    const release = claimRunDir(dir);
    expect(runDirHolder(dir)).toBe(process.pid);
    release();
    expect(runDirHolder(dir)).toBeUndefined();
  });

  test('waits while another looks at it and takes it: of two that start at once, one is refused', async () => {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const claim = `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
    const other = spawn('flock', [dir, 'sh', '-c', `echo; sleep 0.1; echo "${claim}" > ${join(dir, 'cnpd.claim')}`]);
    await once(other.stdout, 'data');
    expect(() => claimRunDir(dir)).toThrow(RunDirBusy);
  });

  test('is not released by who does not hold it any more', () => {
    const release = claimRunDir(dir);
    writeFileSync(join(dir, 'cnpd.claim'), '1 1\n');
    release();
    expect(readFileSync(join(dir, 'cnpd.claim'), 'utf8')).toBe('1 1\n');
  });

  test('the pid file is the number alone, and nothing is left of an earlier claim', () => {
    for (const name of ['cnpd.claim', 'cnpd.pid']) writeFileSync(join(dir, name), '1 1\n2 2\n');
    const release = claimRunDir(dir);
    expect(readFileSync(join(dir, 'cnpd.pid'), 'utf8')).toBe(`${process.pid}\n`);
    release();
    expect(readdirSync(dir)).toEqual([]);
  });

  // Up to 0.4.0 the pid file was the claim.
  describe.each(['cnpd.claim', 'cnpd.pid'])('in %s', (file) => {
    test('is refused while the process that wrote it is alive', () => {
      const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
      writeFileSync(join(dir, file), `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}\n`);
      expect(() => claimRunDir(dir)).toThrow(RunDirBusy);
    });

    test('is no pipe that is waited for', () => {
      execFileSync('mkfifo', [join(dir, file)]);
      expect(runDirHolder(dir)).toBeUndefined();
      claimRunDir(dir)();
    });

    test('is not held by a later process with the same number', () => {
      writeFileSync(join(dir, file), `${process.ppid} 1\n`);
      expect(runDirHolder(dir)).toBeUndefined();
      claimRunDir(dir);
      expect(runDirHolder(dir)).toBe(process.pid);
    });
  });
});

describe('the run directory', () => {
  test.each(['/proc/cnpd', '/sys/fs/bpf/cnpd', 'relative', '/run/../proc/x'])(
    'is not made at %s, where Node.js would try for ever or nobody would look',
    (path) => {
      expect(() => claimRunDir(path)).toThrow(RangeError);
    },
  );

  test.each([0o000, 0o022, 0o077])(
    'has the same modes under the umask %o: nobody else writes, everybody passes',
    (mask) => {
      const before = process.umask(mask);
      try {
        const made = join(dir, 'run');
        claimRunDir(made);
        expect(
          [statSync(made).mode & 0o7777, statSync(join(made, 'cnpd.pid')).mode & 0o7777].map((mode) =>
            mode.toString(8),
          ),
        ).toEqual(['755', '644']);
      } finally {
        process.umask(before);
      }
    },
  );

  test.each([
    [0o777, 0o755],
    [0o750, 0o750],
    [0o700, 0o700],
    [0o1777, 0o1777],
  ])(
    'that was there with mode %o has %o: others lose the right to write, unless it is made for that',
    (before, after) => {
      chmodSync(dir, before);
      claimRunDir(dir);
      expect(statSync(dir).mode & 0o7777).toBe(after);
    },
  );

  test('a symbolic link in place of a file of the claim is replaced, not followed', () => {
    writeFileSync(join(dir, 'precious'), 'data');
    for (const name of ['cnpd.claim', 'cnpd.pid']) symlinkSync(join(dir, 'precious'), join(dir, name));
    claimRunDir(dir);
    expect(readFileSync(join(dir, 'precious'), 'utf8')).toBe('data');
  });
});

/** Where the tests run another cnpd may run. */
const unlocked = () => () => {};

describe('uninstall', () => {
  test('removes the folder on the disk below an unmounted file system', async () => {
    claimRunDir(dir)();
    mkdirSync(join(dir, 'bpf', 'links'), { recursive: true });
    expect(await uninstall(dir, () => {}, unlocked)).toBe(0);
    expect(existsSync(dir)).toBe(false);
  });

  test('without the pid file is refused while the socket in the run directory answers, then succeeds', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(dir, 'gnmi.sock'), resolve));
    const warnings: string[] = [];
    expect(await uninstall(dir, (line) => warnings.push(line), unlocked)).toBe(1);
    expect(warnings).toEqual([`cnpd is running (${join(dir, 'gnmi.sock')} answers): stop it first`]);
    await new Promise((resolve) => server.close(resolve));
    expect(await uninstall(dir, (line) => warnings.push(line), unlocked)).toBe(0);
  });

  test("removes what is cnpd's, and the directory", async () => {
    claimRunDir(dir)();
    mkdirSync(join(dir, 'bpf'));
    expect(await uninstall(dir, () => {}, unlocked)).toBe(0);
    expect(existsSync(dir)).toBe(false);
  });

  test('removes nothing from a directory named by mistake, and reports that', async () => {
    mkdirSync(join(dir, 'sub'));
    writeFileSync(join(dir, 'sub', 'file'), 'data');
    const warnings: string[] = [];
    expect(await uninstall(dir, (line) => warnings.push(line), unlocked)).toBe(1);
    expect(existsSync(join(dir, 'sub', 'file'))).toBe(true);
    expect(warnings.join()).toContain('sub');
  });

  test('reports a missing run directory', async () => {
    const warnings: string[] = [];
    expect(await uninstall(join(dir, 'absent'), (line) => warnings.push(line), unlocked)).toBe(0);
    expect(warnings).toEqual([`${join(dir, 'absent')} does not exist: nothing to remove`]);
  });
});
