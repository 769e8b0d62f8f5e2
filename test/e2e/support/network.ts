// A lab of a test with cnpd on its routers: the daemon and cnpctl as they are built in dist/, each daemon a child of
// the test process in its router's namespaces. State is read over the northbound socket through /proc, which costs a
// millisecond; a start of the program cnpctl costs 300 of CPU.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { Poller } from '../../../src/kernel/poller.ts';
import { type Lab, labDown, labUp } from '../../../src/lab/lab.ts';
import type { RunResult } from '../../../src/lab/run.ts';
import { knownLabs, readState } from '../../../src/lab/state.ts';
import { type NorthboundClient, connectNorthbound } from '../../../src/northbound/client.ts';
import { cnpctlBeside, socketOf } from './cnpctl.ts';
import { Port } from './port.ts';
import { until } from '../../support/until.ts';

const REPOSITORY = new URL('../../..', import.meta.url).pathname;
/** CNPD_DIST: a build elsewhere, to be tested instead. */
const DIST = process.env['CNPD_DIST'] ?? `${REPOSITORY}dist`;
export const program = (name: string): string[] => [process.execPath, `${DIST}/${name}.js`];
const CONFIG = '/etc/cnpd/cnpd.yaml';
/** Commands of cnpctl that only ask a running cnpd. */
const ASKING = ['show', 'reload', 'diff', 'confirm', 'rollback', 'record'];
/**
 * As a service manager starts cnpd (docs/how-to/operations.md): with no capability to give up, so that it starts once,
 * not twice. How it gives them up by itself is in privileges.test.ts.
 */
export const AS_A_SERVICE: readonly string[] = [
  'setpriv',
  '--bounding-set=-all,+net_bind_service,+net_admin,+net_raw,+sys_admin',
];
/** With all of root's capabilities. */
export const AS_ROOT: readonly string[] = [];

/** A row of the northbound, with YANG names. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether one of these IS-IS neighbors is up. */
export const anyUp = (neighbors: readonly Row[]): boolean => neighbors.some((row) => row['state'] === 'up');

export class Router {
  readonly name: string;
  readonly #lab: Lab;
  #daemon: ChildProcess | undefined;
  #client: NorthboundClient | undefined;
  /** What cnpd wrote to standard error, all runs. */
  log = '';

  constructor(name: string, lab: Lab) {
    this.name = name;
    this.#lab = lab;
  }

  /** Writes cnpd.yaml; text as it is, anything else as YAML. */
  configure(content: string | object): void {
    const input = typeof content === 'string' ? content : stringify(content);
    // As this process reaches the router's files: without a start of four programs.
    const { holder } = readState(this.#lab.name)!.nodes.find(({ name }) => name === this.name)!;
    const root = `/proc/${holder!.pid}/root`;
    mkdirSync(root + dirname(CONFIG), { recursive: true });
    writeFileSync(root + CONFIG, input);
  }

  /** A new cnpd.yaml for a running cnpd, which is told as `cnpctl reload` tells it. @throws when it is refused */
  async reload(intent: object): Promise<void> {
    if (!this.#client) throw new Error(`${this.name}: cnpd does not run`);
    this.configure(intent);
    const { ok, errors } = await this.#client.reload();
    if (!ok) throw new Error(`${this.name}: reload: ${errors.join('\n')}`);
  }

  get pid(): number {
    if (this.#daemon?.pid === undefined) throw new Error(`${this.name}: cnpd does not run`);
    return this.#daemon.pid;
  }

  /**
   * Starts cnpd and waits until its northbound answers.
   * @param how `through`: a program that becomes cnpd, default AS_A_SERVICE; `args`: more of them
   */
  async start(
    content?: string | object,
    how: { readonly through?: readonly string[]; readonly args?: readonly string[] } = {},
  ): Promise<void> {
    if (content !== undefined) this.configure(content);
    const child = this.#lab.spawn(
      this.name,
      [...(how.through ?? AS_A_SERVICE), ...program('cnpd'), '-c', CONFIG, ...(how.args ?? [])],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    child.once('exit', () => {
      if (this.#daemon === child) this.#daemon = undefined;
    });
    this.#daemon = child;
    const socket = socketOf(child.pid!);
    const logBefore = this.log.length;
    await until(
      `${this.name}: cnpd runs`,
      () => {
        if (this.#daemon !== child) throw new Error(`${this.name}: cnpd ended at once:\n${this.log.slice(-2000)}`);
        return { socketExists: existsSync(socket), log: this.log.slice(logBefore) };
      },
      ({ socketExists, log }) => socketExists && log.includes(`"pid":${child.pid}`),
    );
    this.#client?.close();
    this.#client = connectNorthbound({ socket, timeoutMs: 30_000 });
  }

  /** Ends cnpd and waits until it is gone. @returns its exit code, null when a signal ended it */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const child = this.#daemon;
    if (!child) return null;
    const gone = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    const insist = setTimeout(() => child.kill('SIGKILL'), 15_000);
    const [code] = await gone;
    clearTimeout(insist);
    this.#client?.close();
    this.#client = undefined;
    return code;
  }

  get running(): boolean {
    return this.#daemon !== undefined;
  }

  signal(signal: 'SIGHUP' | 'SIGUSR1'): void {
    process.kill(this.pid, signal);
  }

  /** The program `cnpctl` in the router's namespaces. */
  cnpctl(...args: string[]): Promise<RunResult> {
    return this.#lab.exec(this.name, [...program('cnpctl'), ...args]);
  }

  /**
   * As `cnpctl`, but what only asks the running cnpd does so from the test's process. daemon.test.ts shows that both
   * answer alike.
   */
  ctl(...args: string[]): Promise<RunResult> {
    const asks = args.some((arg) => ASKING.includes(arg)) && !args.includes('--socket');
    const pid = this.#daemon?.pid;
    return asks && pid !== undefined ? cnpctlBeside(pid, args) : this.cnpctl(...args);
  }

  /** `cnpd …` beside the daemon, e.g. `check FILE`. */
  cnpd(...args: string[]): Promise<RunResult> {
    return this.#lab.exec(this.name, [...program('cnpd'), ...args]);
  }

  /** The rows of `cnpctl show … -o json`. */
  async show<T = Row[]>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.ctl('show', ...args, '-o', 'json');
    if (stdout === '') throw new Error(`${this.name}: cnpctl show ${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** The same without cnpctl, for waiting. */
  async get<T = Row[]>(...path: string[]): Promise<T> {
    if (!this.#client) throw new Error(`${this.name}: cnpd does not run`);
    return ((await this.#client.get(['cnpd', ...path])) ?? []) as T;
  }

  async counters(): Promise<Record<string, number>> {
    return Object.fromEntries((await this.get('counters')).map((row) => [row['name'] as string, Number(row['value'])]));
  }

  async counter(name: string): Promise<number> {
    return (await this.counters())[name] ?? 0;
  }

  /** The learned entry in force for exactly this prefix. */
  async sender(prefix: string): Promise<Row | undefined> {
    return (await this.get('senders')).find((row) => row['prefix'] === prefix && row['best'] === true);
  }

  neighbors(): Promise<Row[]> {
    return this.get('isis', 'neighbors');
  }

  async isUp(): Promise<boolean> {
    return anyUp(await this.neighbors());
  }

  exec(...argv: string[]): Promise<string> {
    return this.#lab.mustExec(this.name, argv);
  }

  /** The answer of FRR's vtysh. */
  frr(...commands: string[]): Promise<string> {
    return this.exec('vtysh', ...commands.flatMap((command) => ['-c', command]));
  }

  /** Keys of a pinned map, or `undefined` when it does not exist. bpftool sees the router's own BPF file system. */
  async mapEntries(map: string): Promise<string[] | undefined> {
    const { code, stdout } = await this.#lab.exec(this.name, [
      'bpftool',
      '-j',
      'map',
      'dump',
      'pinned',
      `/run/cnpd/bpf/${map}`,
    ]);
    if (code !== 0) return undefined;
    return (JSON.parse(stdout) as { key: string[]; value: string[] }[]).map(
      ({ key, value }) => `${hex(key)} ${hex(value)}`,
    );
  }
}

const hex = (bytes: readonly string[]): string => bytes.map((byte) => byte.slice(2)).join('');

/**
 * A name for a lab of this run: two runs on one machine do not meet. What runs that were killed have left of it is
 * removed.
 */
export async function ownLabName(base: string): Promise<string> {
  // Of this base alone: `line-privileges-7` is another one's, not what is left of `line`.
  const numberOf = (known: string): string | undefined =>
    known.startsWith(`${base}-`) ? /^\d+$/.exec(known.slice(base.length + 1))?.[0] : undefined;
  for (const left of knownLabs().filter(
    (known) => numberOf(known) !== undefined && !existsSync(`/proc/${numberOf(known)}`),
  ))
    await labDown(left);
  return `${base}-${process.pid}`;
}

export class Network {
  readonly lab: Lab;
  readonly #routers = new Map<string, Router>();
  readonly #ports: Port[] = [];
  /** Of the test's ports; `down` expects none. */
  readonly errors: unknown[] = [];
  #poller: Poller | undefined;

  private constructor(lab: Lab) {
    this.lab = lab;
  }

  /**
   * The lab's name is the file's and the process ID.
   * @param name of the directory in test/e2e/topologies and of the file in it
   * @param use of the test file, where several have the same topology
   */
  static async up(name: string, use?: string): Promise<Network> {
    const directory = `${REPOSITORY}test/e2e/topologies/${name}`;
    const lab = `t-e2e-${name}`;
    const own = await ownLabName(use === undefined ? lab : `${lab}-${use}`);
    // Beside the original, because its paths are relative; it is read only while the lab comes up.
    const file = `${directory}/.${process.pid}.clab.yml`;
    writeFileSync(
      file,
      readFileSync(`${directory}/${name}.clab.yml`, 'utf8').replace(`name: ${lab}\n`, `name: ${own}\n`),
    );
    try {
      return new Network(await labUp(file));
    } finally {
      rmSync(file);
    }
  }

  router(name: string): Router {
    const known = this.#routers.get(name);
    if (known) return known;
    const router = new Router(name, this.lab);
    this.#routers.set(name, router);
    return router;
  }

  /** An interface of a node on which the test speaks, as Port.open; `down` closes it. */
  async port(at: string, neighbor: string): Promise<Port> {
    this.#poller ??= Poller.open({ onError: (error) => this.errors.push(error) });
    const port = await Port.open(this.lab, at, neighbor, { poller: this.#poller, errors: this.errors });
    this.#ports.push(port);
    return port;
  }

  /** Forgets what was received at the test's ports, and who listens to it. */
  clearPorts(): void {
    for (const port of this.#ports) {
      port.onPacket = undefined;
      port.clear();
    }
  }

  /** The ends of cnpd's logs, for a test that failed. */
  logs(): string {
    return [...this.#routers.values()]
      .map((r) => `--- ${r.name}\n${r.log.split('\n').slice(-25).join('\n')}`)
      .join('\n');
  }

  async stopAll(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await Promise.all([...this.#routers.values()].map((r) => r.stop(signal)));
  }

  async down(): Promise<void> {
    for (const port of this.#ports) port.close();
    this.#poller?.close();
    await this.stopAll('SIGKILL');
    await this.lab.down();
    expect(this.errors).toEqual([]);
  }
}
