// FRR's zebra and routing daemons in a network namespace of a test's own, with a private mount namespace, so that the
// machine's /etc/frr and /run/frr are neither read nor written.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { frrMounts, otherFrr } from '../../src/lab/frr.ts';
import { until } from './until.ts';

export type Daemon = 'zebra' | 'mgmtd' | 'staticd' | 'isisd' | 'ospfd' | 'ospf6d';

/**
 * Of a daemon whose configuration, sockets and process ID are files of this directory. Static routes are in
 * etc/staticd.conf, which is /etc/frr/staticd.conf inside. FRR 8's staticd looks there by itself; in FRR 10 mgmtd does,
 * and neither daemon takes `-f`.
 */
export const daemonArguments = (daemon: Daemon, directory: string): string[] => [
  ...(daemon === 'staticd' || daemon === 'mgmtd' ? [] : ['-f', join(directory, `${daemon}.conf`)]),
  '-i',
  join(directory, `${daemon}.pid`),
  '-z',
  join(directory, 'zserv.api'),
  '--vty_socket',
  directory,
];

/** Whether FRR of a namespace has mgmtd, without which staticd of its version gets no route. */
export const hasMgmtd = (namespace: string): boolean => {
  const other = otherFrr(namespace, process.env);
  return existsSync(other === undefined ? '/usr/lib/frr/mgmtd' : `${other}/started/mgmtd`);
};

/** What `cnpctl doctor` finds. */
interface Diagnosis {
  readonly status: number | null;
  readonly items: readonly { readonly id: string; readonly state: string; readonly remedy?: string }[];
}

export class FrrNamespace {
  readonly name: string;
  readonly vtyDir: string;
  readonly #daemons: readonly Daemon[];

  /**
   * Makes the namespace, a veth `cnpd-isis` in it, and starts the daemons with empty configurations.
   * @param name carries the test's prefix
   */
  constructor(name: string, daemons: readonly Daemon[] = ['zebra', 'isisd']) {
    // zebra is the first, and staticd connects to mgmtd.
    this.#daemons = daemons.flatMap((daemon): Daemon[] =>
      daemon === 'staticd' && hasMgmtd(name) ? ['mgmtd', daemon] : [daemon],
    );
    this.name = name;
    this.vtyDir = mkdtempSync(join(tmpdir(), `${name}-`));
    execFileSync('ip', ['netns', 'add', name]);
    this.ip('link', 'set', 'lo', 'up');
    this.ip('link', 'add', 'cnpd-isis', 'type', 'veth', 'peer', 'name', 'peer');
    for (const link of ['cnpd-isis', 'peer']) this.ip('link', 'set', link, 'up');
    for (const directory of ['etc', 'run']) mkdirSync(join(this.vtyDir, directory));
    for (const daemon of daemons) writeFileSync(join(this.vtyDir, `${daemon}.conf`), '');
    execFileSync('chown', ['-R', 'frr:frr', this.vtyDir]);
    for (const daemon of this.#daemons) this.start(daemon);
  }

  ip(...args: string[]): void {
    execFileSync('ip', ['-n', this.name, ...args]);
  }

  /** The command line that runs a program inside, with the private /etc/frr and /run/frr. */
  inside(command: string, args: readonly string[]): [string, string[]] {
    const other = otherFrr(this.name, process.env);
    const script = [
      ...(other === undefined ? [] : frrMounts(other)),
      'mount --bind "$0/etc" /etc/frr && mkdir -p /run/frr && mount --bind "$0/run" /run/frr && exec "$@"',
    ].join(' && ');
    return [
      'unshare',
      ['--mount', 'ip', 'netns', 'exec', this.name, 'sh', '-c', script, this.vtyDir, command, ...args],
    ];
  }

  run(command: string, args: readonly string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(...this.inside(command, args), { encoding: 'utf8', timeout: 20_000 });
    return { status, output: stdout + stderr };
  }

  start(daemon: Daemon): void {
    const { status, output } = this.run(`/usr/lib/frr/${daemon}`, ['-d', ...daemonArguments(daemon, this.vtyDir)]);
    if (status !== 0) throw new Error(`${daemon} does not start: ${output}`);
  }

  /** Ends a daemon and waits until it is gone. */
  async stop(daemon: Daemon): Promise<void> {
    const pid = Number(readFileSync(join(this.vtyDir, `${daemon}.pid`), 'utf8'));
    if (!alive(pid)) return;
    process.kill(pid, 'SIGTERM');
    const insist = setTimeout(() => alive(pid) && process.kill(pid, 'SIGKILL'), 5000);
    await until(`${daemon} ${pid} is gone`, () => !alive(pid)).finally(() => clearTimeout(insist));
  }

  vtysh(...commands: string[]): { status: number | null; output: string } {
    return this.run('vtysh', ['--vty_socket', this.vtyDir, ...commands.flatMap((command) => ['-c', command])]);
  }

  /** The compiled `cnpctl doctor` inside, without a running cnpd. @param yaml the text of cnpd.yaml */
  doctor(yaml: string): Diagnosis {
    const file = join(this.vtyDir, 'cnpd.yaml');
    writeFileSync(file, yaml);
    const { status, output } = this.run(process.execPath, [
      'dist/cnpctl.js',
      '--socket',
      join(this.vtyDir, 'none.sock'),
      '-o',
      'json',
      'doctor',
      '-c',
      file,
      '--vty-dir',
      this.vtyDir,
    ]);
    const { items } = JSON.parse(output) as Pick<Diagnosis, 'items'>;
    return { status, items };
  }

  /**
   * From now on `write memory` writes one file for all daemons, as Debian's package is set up. Before, there is no
   * vtysh.conf at all.
   */
  integrateConfig(): void {
    writeFileSync(join(this.vtyDir, 'etc/vtysh.conf'), 'service integrated-vtysh-config\n');
  }

  /** The startup configuration as `write memory` left it; undefined when it was never written. */
  startupConfig(): string | undefined {
    try {
      return readFileSync(join(this.vtyDir, 'etc/frr.conf'), 'utf8');
    } catch {
      return undefined;
    }
  }

  async remove(): Promise<void> {
    try {
      for (const daemon of this.#daemons.toReversed()) await this.stop(daemon);
    } finally {
      execFileSync('ip', ['netns', 'del', this.name]);
      rmSync(this.vtyDir, { recursive: true, force: true });
    }
  }
}

/** Zombies are gone as far as a test is concerned: the daemons are not our children. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
