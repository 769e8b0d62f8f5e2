// A Debian with a booted systemd, in namespaces of this machine: processes, mounts, network, host name, cgroups. Its
// kernel is this machine's. What a test changes in it is in memory, and gone with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { type Result, run, tryRun } from '../support/run.ts';

export interface System {
  readonly suite: string;
  /** Of debootstrap. */
  readonly options: readonly string[];
  /** What the tests install, as arguments of apt. The machine has no network, so it all waits in apt's cache. */
  readonly fetched: readonly (readonly string[])[];
}
/** Of its packages, cnpd needs nodejs and libbpf1; the others are for the tests. */
export const TRIXIE: System = {
  suite: 'trixie',
  options: [
    '--variant=minbase',
    '--include=systemd,systemd-sysv,dbus,nodejs,libbpf1,iproute2,iputils-ping,ethtool,procps,man-db,zsh,fish',
  ],
  fetched: [],
};
/** As Debian's installer leaves it, with nothing chosen. */
export const FRESH_BOOKWORM: System = {
  suite: 'bookworm',
  options: [],
  fetched: [
    ['libbpf1', 'libstdc++6', 'frr', 'prometheus'],
    ['--no-install-recommends', 'nodejs'],
  ],
};
const BOOT_LIMIT_MS = 60_000;

/** Makes the system once, in `folder`. @returns its root */
export function prepareSystem(folder: string, { suite, options, fetched }: System): string {
  const root = join(folder, suite);
  if (existsSync(root)) return root;
  if (!existsSync('/usr/sbin/debootstrap')) {
    run('apt-get', 'update', '-qq');
    run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'debootstrap');
  }
  const unfinished = `${root}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  run('debootstrap', ...options, suite, unfinished);
  const apt = (...args: readonly string[]): string => run('chroot', unfinished, 'apt-get', '-y', '-qq', ...args);
  if (fetched.length > 0) apt('update');
  for (const packages of fetched) apt('install', '--download-only', ...packages);
  renameSync(unfinished, root);
  return root;
}

/** As the first process of the new namespaces: an overlay over the system in `$ROOT`, then systemd. */
const BOOT = `
set -e
mount -t tmpfs tmpfs "$ROOT/../top"
cd "$ROOT/../top"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=upper,workdir=work" root
mkdir -p root/packages
mount --bind "$SHARED" root/packages
cd root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 dev/\${node%:*} c 1 \${node#*:}; done
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
echo r1 > etc/hostname
mkdir old
pivot_root . old
umount -l /old
exec env -i container=test PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --show-status=false
`;

export class Machine {
  readonly #process: ChildProcess;
  readonly #cgroup: string;
  readonly #init: number;

  private constructor(process: ChildProcess, cgroup: string, init: number) {
    [this.#process, this.#cgroup, this.#init] = [process, cgroup, init];
  }

  /** @param shared is under /packages in the machine */
  static async boot(root: string, shared: string): Promise<Machine> {
    mkdirSync(join(root, '../top'), { recursive: true });
    const cgroup = join(
      run('findmnt', '-n', '-o', 'TARGET', '-t', 'cgroup2').split('\n')[0]!,
      `cnpd-test-${process.pid}`,
    );
    mkdirSync(cgroup, { recursive: true });
    const namespaces = ['--pid', '--mount', '--uts', '--ipc', '--net', '--cgroup'];
    const child = spawn(
      'sh',
      [
        '-c',
        'echo $$ > "$1/cgroup.procs" && shift && exec "$@"',
        'sh',
        cgroup,
        ...['unshare', '--fork', '--kill-child', ...namespaces, '--propagation', 'private', 'sh', '-c', BOOT],
      ],
      { stdio: 'ignore', env: { ...process.env, ROOT: root, SHARED: shared } },
    );
    const children = `/proc/${child.pid}/task/${child.pid}/children`;
    const init = await until(
      'the first process of the machine',
      () => Number(readFileSync(children, 'utf8').trim()) || false,
    );
    const machine = new Machine(child, cgroup, init);
    // "degraded": a unit that this kernel has no use for.
    await until(
      'systemd has booted',
      () => machine.try('systemctl', 'is-system-running').output,
      (state) => /^(running|degraded)$/m.test(state),
      BOOT_LIMIT_MS,
    );
    return machine;
  }

  /** What runs a command in some of its namespaces, by the options of nsenter. */
  entering(...options: string[]): string[] {
    return ['nsenter', '-t', String(this.#init), ...options, '--'];
  }

  /** @throws Error unless it ends with 0 */
  run(...argv: string[]): string {
    const [nsenter, ...options] = this.entering('-a');
    return run(nsenter!, ...options, ...argv);
  }

  try(...argv: string[]): Result {
    const [nsenter, ...options] = this.entering('-a');
    return tryRun(nsenter!, ...options, ...argv);
  }

  shell(script: string): string {
    return this.run('sh', '-euc', script);
  }

  async off(): Promise<void> {
    process.kill(this.#init, 'SIGKILL');
    await until('the machine is off', () => this.#process.exitCode !== null || this.#process.signalCode !== null);
    await until('its cgroups are empty', () => tryRemove(this.#cgroup));
  }
}

/** Cgroups go from the innermost out, each when its last process has ended. */
function tryRemove(cgroup: string): boolean {
  run(
    'find',
    cgroup,
    '-mindepth',
    '1',
    '-depth',
    '-type',
    'd',
    '-exec',
    'rmdir',
    '--ignore-fail-on-non-empty',
    '{}',
    ';',
  );
  try {
    rmdirSync(cgroup);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw error;
  }
}
