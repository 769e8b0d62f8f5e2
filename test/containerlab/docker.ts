// A Docker of a test's own: socket, images and containers in one folder, no bridge, no firewall rules, no forwarding
// switched on in this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import { run, tryRun } from '../support/run.ts';

const BASE_IMAGE = 'debian:trixie-slim';
const LIMIT_MS = 120_000;

export class Docker {
  readonly host: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, host: string, process: ChildProcess) {
    [this.#folder, this.host, this.#process] = [folder, host, process];
  }

  /**
   * @param folder images are kept in it
   * @param netns path of the network namespace in which bridges are made, if not this one
   */
  static async start(folder: string, netns?: string): Promise<Docker> {
    mkdirSync(folder, { recursive: true });
    const socket = join(folder, 'docker.sock');
    rmSync(socket, { force: true });
    rmSync(join(folder, 'docker.pid'), { force: true });
    const runtime = join(import.meta.dirname, 'runtime.mjs');
    const options = [
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')],
      ...['--pidfile', join(folder, 'docker.pid'), '-H', `unix://${socket}`],
      ...['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
      ...['--add-runtime', `here=${runtime}`, '--default-runtime', 'here'],
    ];
    const log = openSync(join(folder, 'dockerd.log'), 'w');
    const argv = [...(netns === undefined ? [] : ['nsenter', `--net=${netns}`]), 'dockerd', ...options];
    const child = spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', log, log] });
    const docker = new Docker(folder, `unix://${socket}`, child);
    await until(
      `Docker answers (${folder}/dockerd.log)`,
      () => {
        if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}: ${folder}/dockerd.log`);
        return existsSync(socket) && docker.try('version').status === 0;
      },
      LIMIT_MS,
    );
    return docker;
  }

  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, DOCKER_HOST: this.host };
  }

  try(...args: string[]): ReturnType<typeof tryRun> {
    return tryRun('docker', '--host', this.host, ...args);
  }

  /** @returns standard output. @throws Error */
  run(...args: string[]): string {
    return run('docker', '--host', this.host, ...args);
  }

  /** The image that cnpd's is built on: from a registry, and where none answers from Debian's packages. */
  needBaseImage(folder: string): void {
    if (this.try('image', 'inspect', BASE_IMAGE).status === 0) return;
    if (this.try('pull', '--quiet', BASE_IMAGE).status === 0) return;
    const root = join(folder, `base.${process.pid}`);
    try {
      run('debootstrap', '--variant=minbase', 'trixie', root);
      run('sh', '-c', `tar -C ${root} -c . | docker --host ${this.host} import - ${BASE_IMAGE}`);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }

  async stop(): Promise<void> {
    for (const id of this.try('ps', '--all', '--quiet').stdout.split('\n').filter(Boolean)) this.try('rm', '-f', id);
    this.#process.kill('SIGTERM');
    await until('Docker ends', () => this.#process.exitCode !== null || this.#process.signalCode !== null, LIMIT_MS);
    // dockerd leaves the network namespace that it ran in pinned.
    for (const path of mountsBelow(this.#folder)) run('umount', path);
  }
}

const mountsBelow = (folder: string): string[] =>
  run('findmnt', '--noheadings', '--list', '--output', 'TARGET')
    .split('\n')
    .filter((path) => path.startsWith(`${folder}/`));

/** Installs what is missing, from Debian's packages. */
export function needDockerPackages(): void {
  const missing = Object.entries({ dockerd: 'docker.io', debootstrap: 'debootstrap', runc: 'runc' })
    .filter(([command]) => tryRun('sh', '-c', `command -v ${command}`).status !== 0)
    .map(([, name]) => name);
  if (missing.length === 0) return;
  run('apt-get', 'update', '-qq');
  run(
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    'install',
    '-y',
    '-qq',
    '--no-install-recommends',
    ...missing,
  );
}
