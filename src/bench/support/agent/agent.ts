// A real cnpd process in a network namespace, as an operator's: its own configuration file, run directory and sockets.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BpfMap } from '../../../kernel/bpf/map.ts';
import { DONE } from '../../../daemon/privileges.ts';
import { Netns } from '../../../kernel/netns.ts';
import { Rtnetlink } from '../../../kernel/netlink/rtnetlink.ts';
import { address } from '../../../model/address.ts';
import { type NorthboundClient, connectNorthbound } from '../../../northbound/client.ts';
import { type Bench, dist, until } from '../bench.ts';
import { AGENT_SYSTEM } from '../network/isis-network.ts';

const WATCHED_PORT = 't-bench-wan';
export const ISIS_LINK = 't-bench-isis';
const STOP_LIMIT_MS = 10_000;

/** A router's namespace: a loopback address and a port with a TBF root to watch. */
export async function routerNamespace(bench: Bench): Promise<Netns> {
  const netns = Netns.create();
  bench.finally(() => netns.close());
  netns.run(() => writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1'));
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  bench.finally(() => rtnetlink.close());
  await rtnetlink.setLink('lo', { up: true });
  await rtnetlink.addAddress('lo', address('2001:db8:ffff::9'), 128, { nodad: true });
  await rtnetlink.addAddress('lo', address('192.0.2.9'), 32);
  await rtnetlink.createVeth({ name: WATCHED_PORT, peer: { name: `${WATCHED_PORT}2` } });
  await rtnetlink.setLink(WATCHED_PORT, { up: true });
  await rtnetlink.setTbf({
    ifindex: (await rtnetlink.link(WATCHED_PORT))!.ifindex,
    rate: 5_000_000n,
    burst: 20_000,
    limit: 2_000_000,
  });
  return netns;
}

const COMMON = (socket: string): string => `router:
  name: bench
  loopback: { ipv4: 192.0.2.9, ipv6: 2001:db8:ffff::9 }
gnmi: { socket: ${socket} }
log: { level: info }
`;

/** How it learns and advertises. */
const ISIS = `isis:
  system-id: ${AGENT_SYSTEM}
  area: 49.0001
  level: 2
  interface: ${ISIS_LINK}
`;

/** A congested node. */
export const CONGESTED_NODE = `ports:\n  - { interface: ${WATCHED_PORT}, k-min: 50kB, k-max: 100kB }\n`;

export const proxyFor = (prefixes: readonly string[]): string =>
  'proxy:\n  address: 2001:db8:ffff::9\n  accept-from: [2001:db8:ffff::/48]\n  senders:\n' +
  `${prefixes.map((p) => `    - { prefix: ${p}, format: standard-cnp }\n`).join('')}`;

interface AgentOptions {
  readonly netns: Netns;
  /** What the configuration says beside identity and carrier. */
  readonly role: string;
  /** Section of its carrier; default: IS-IS. */
  readonly carrier?: string;
  /** Loads dist/loop-watch.js into the process, which then takes orders. */
  readonly watchLoop?: boolean;
  /** It has ended, with `end`; this one has its files, its run directory and what it left in the kernel. */
  readonly after?: Agent;
  /** A program that starts it, such as strace, with its arguments. */
  readonly under?: readonly string[];
}

export class Agent {
  readonly child: ChildProcess;
  readonly client: NorthboundClient;
  readonly #runDir: string;
  readonly #config: string;
  readonly socket: string;
  readonly #carrier: string;
  /** Lines of the log. */
  readonly #log: LogLine[] = [];
  #ended = false;

  private constructor(bench: Bench, opts: AgentOptions) {
    const fresh = (): string => join(bench.directory, `run-${Math.random().toString(36).slice(2, 8)}`);
    this.#runDir = opts.after === undefined ? fresh() : opts.after.#runDir;
    this.#config = `${this.#runDir}.yaml`;
    this.socket = `${this.#runDir}.sock`;
    this.#carrier = opts.carrier ?? ISIS;
    this.configure(opts.role);
    const watch = opts.watchLoop ? ['--import', join(dist(), 'loop-watch.js')] : [];
    const argv = [process.execPath, ...watch, join(dist(), 'cnpd.js'), '-c', this.#config, '--run-dir', this.#runDir];
    const [program, ...words] = [...(opts.under ?? []), ...argv];
    this.child = opts.netns.run(() =>
      spawn(program!, words, {
        stdio: ['ignore', 'ignore', 'pipe', ...(opts.watchLoop ? (['ipc'] as const) : [])],
        // Giving up capabilities starts the program again as the same process, which closes the channel to it.
        env: { ...process.env, ...(opts.watchLoop && { [DONE]: '1' }) },
      }),
    );
    createInterface({ input: this.child.stderr! }).on('line', (line) => void this.#log.push(logLine(line)));
    // Should the bench itself fail, no agent is left behind.
    const kill = (): void => void this.child.kill('SIGKILL');
    process.on('exit', kill);
    this.child.on('exit', () => {
      this.#ended = true;
      process.off('exit', kill);
    });
    this.client = connectNorthbound({ socket: this.socket, timeoutMs: 5000 });
  }

  /** Spawns it; `running` tells when it runs. Stopped and uninstalled at the end of the figure at the latest. */
  static spawn(bench: Bench, opts: AgentOptions): Agent {
    const agent = new Agent(bench, opts);
    bench.finally(() => agent.stop());
    return agent;
  }

  /** Gives an order to what `watchLoop` has loaded. @throws Error when the channel is closed */
  async order(order: 'start' | 'stop'): Promise<void> {
    await new Promise<void>((done, failed) => this.child.send(order, (error) => (error ? failed(error) : done())));
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Until everything is in the kernel, and `show status` says so. @throws Error with its last words */
  async running(bench: Bench): Promise<void> {
    await until('cnpd runs', () => this.#check() && this.logged('started') > 0, bench.signal);
    const status = (await this.client.get(['cnpd', 'status'])) as { health?: string; problems?: unknown } | undefined;
    // Its carrier may have no neighbor yet.
    if (status?.health !== 'running' && status?.health !== 'starting')
      throw new Error(`cnpd is ${String(status?.health)}: ${JSON.stringify(status?.problems)}`);
  }

  /** How often it has logged this message, with these fields. */
  logged(message: string, fields: Readonly<Record<string, string>> = {}): number {
    return this.#log.filter(
      (line) => line.msg === message && Object.entries(fields).every(([name, value]) => line[name] === value),
    ).length;
  }

  /** Writes the configuration file. */
  configure(role: string): void {
    writeFileSync(this.#config, COMMON(this.socket) + this.#carrier + role);
  }

  /** What it has pinned in the kernel is below this directory. */
  get bpfDir(): string {
    return join(this.#runDir, 'bpf');
  }

  /** Ends it, and leaves all that it has in the kernel. Its own process, also where another one has started it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const exited = new Promise((done) => this.child.once('exit', done));
    process.kill(Number(readFileSync(join(this.#runDir, 'cnpd.pid'), 'utf8')), signal);
    await exited;
    this.client.close();
  }

  pinnedMap(name: string): BpfMap {
    return BpfMap.openPinned(join(this.bpfDir, name));
  }

  async stop(): Promise<void> {
    this.client.close();
    if (!this.#ended) {
      const exited = new Promise((done) => this.child.once('exit', done));
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(timer);
    }
    execFileSync(process.execPath, [join(dist(), 'cnpd.js'), '--run-dir', this.#runDir, 'uninstall'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  #check(): boolean {
    if (this.#ended)
      throw new Error(
        `cnpd ended: ${this.#log
          .slice(-3)
          .map(({ msg }) => msg)
          .join(' | ')}`,
      );
    return true;
  }
}

type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** What is no line of the log is a message by itself. */
function logLine(line: string): LogLine {
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return { ...fields, msg: String(fields['msg']) };
  } catch {
    return { msg: line };
  }
}

/** Resident memory of a process now, MB. */
export const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** A process with a timer a second: the least that an agent in Node.js can be. */
export async function bareNode(bench: Bench): Promise<number> {
  const child = spawn(process.execPath, ['-e', "setInterval(() => {}, 1000); console.log('here')"], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  bench.finally(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  await once(child.stdout, 'data');
  return child.pid!;
}

/** Processor time of all threads of a process so far, ms. */
export function cpuMs(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  // Nanoseconds on the processor, of each thread: finer than the clock ticks of /proc/PID/stat.
  return tasks.reduce(
    (sum, tid) => sum + Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );
}

/**
 * What a process's main thread has had so far, ms: time on a processor, and time in which it could have run but another
 * did.
 */
export function mainThread(pid: number): { readonly ran: number; readonly waited: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map((ns) => Number(ns) / 1e6) as [number, number];
  return { ran, waited };
}
