// gobgpd in a network namespace of its own: one or several on addresses of its loopback interface, each with its gRPC
// interface on a UNIX socket, which a test reaches from outside. And a listener that keeps what the client reports.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'vitest';
import { createGobgpClient } from '../../../src/carriers/bgp/gobgp/client.edge.ts';
import type {
  GobgpAbout,
  GobgpClient,
  GobgpOptions,
  GobgpPath,
  GobgpRoute,
} from '../../../src/carriers/bgp/gobgp/gobgp.ts';
import { formatAddress } from '../../../src/model/address.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { silentLog } from '../../../src/model/log.ts';
import { formatPrefix } from '../../../src/model/prefix.ts';
import { until } from '../../support/until.ts';

/** A gobgpd, and the gobgp beside it. */
export interface GobgpBinary {
  readonly name: 'v3' | 'v4';
  readonly gobgpd: string;
}

/** Debian's, and one of version 4 where CNPD_GOBGPD_V4 names it. */
export const BINARIES: readonly GobgpBinary[] = [
  { name: 'v3', gobgpd: '/usr/bin/gobgpd' },
  ...(process.env['CNPD_GOBGPD_V4'] ? [{ name: 'v4', gobgpd: process.env['CNPD_GOBGPD_V4'] } as const] : []),
];

const cliOf = ({ gobgpd }: GobgpBinary): string => join(dirname(gobgpd), 'gobgp');

/**
 * Skips a test in which the operator's gobgp says something to gobgpd, where there is none: each version has its own,
 * and `go install` of gobgpd alone does not bring it.
 */
export function needsCli(binary: GobgpBinary, { skip }: TestContext): void {
  if (!existsSync(cliOf(binary)))
    skip(`there is no ${cliOf(binary)} (go install github.com/osrg/gobgp/${binary.name}/cmd/gobgp@latest)`);
}

export interface GobgpdOptions {
  readonly as: number;
  /**
   * On the loopback interface: BGP listens there, and this is the router ID. Without: no BGP session, router ID
   * 192.0.2.1.
   */
  readonly address?: string;
  readonly neighbors?: readonly {
    readonly address: string;
    readonly as: number;
    /** Lines of [neighbors.…] tables. */ readonly addPaths?: 'send' | 'receive';
  }[];
  readonly multipath?: boolean;
  /** Tables of policies. */
  readonly policies?: string;
  /** Arguments beside file and socket. */
  readonly args?: readonly string[];
}

const FAMILIES = ['ipv4-unicast', 'ipv6-unicast'];

const gobgpdConfig = ({ as, address, neighbors = [], multipath, policies = '' }: GobgpdOptions): string =>
  [
    '[global.config]',
    `as = ${as}`,
    `router-id = "${address ?? '192.0.2.1'}"`,
    address === undefined ? 'port = -1' : `local-address-list = ["${address}"]`,
    ...(multipath ? ['[global.use-multiple-paths.config]', 'enabled = true'] : []),
    ...neighbors.flatMap((neighbor) => [
      '[[neighbors]]',
      '[neighbors.config]',
      `neighbor-address = "${neighbor.address}"`,
      `peer-as = ${neighbor.as}`,
      '[neighbors.transport.config]',
      `local-address = "${address}"`,
      // One end connects: when both do at once, each refuses the other, and waits for up to a minute.
      `passive-mode = ${address! > neighbor.address}`,
      '[neighbors.timers.config]',
      'connect-retry = 5',
      'idle-hold-time-after-reset = 5',
      ...FAMILIES.flatMap((family) => [
        '[[neighbors.afi-safis]]',
        '[neighbors.afi-safis.config]',
        `afi-safi-name = "${family}"`,
        ...(neighbor.addPaths
          ? ['[neighbors.afi-safis.add-paths.config]', neighbor.addPaths === 'send' ? 'send-max = 8' : 'receive = true']
          : []),
      ]),
    ]),
    policies,
    '',
  ].join('\n');

export class Gobgpd {
  readonly socket: string;
  readonly #binary: GobgpBinary;
  readonly #netns: string;
  readonly #port: number;
  readonly #argv: readonly string[];
  #child: ChildProcess | undefined;
  log = '';

  constructor(
    netns: string,
    directory: string,
    binary: GobgpBinary,
    port: number,
    config: string | undefined,
    args: readonly string[],
  ) {
    this.#netns = netns;
    this.#binary = binary;
    this.#port = port;
    this.socket = join(directory, `${port}.sock`);
    const file = join(directory, `${port}.toml`);
    if (config !== undefined) writeFileSync(file, config);
    this.#argv = [
      ...(config === undefined ? [] : ['-f', file]),
      '--api-hosts',
      `unix://${this.socket},127.0.0.1:${port}`,
      '--pprof-disable',
      ...args,
    ];
    this.start();
  }

  get target(): string {
    return `unix:${this.socket}`;
  }

  start(): void {
    rmSync(this.socket, { force: true });
    const child = spawn('ip', ['netns', 'exec', this.#netns, this.#binary.gobgpd, ...this.#argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.log = (this.log + text).slice(-10_000)));
    this.#child = child;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** Stops it where it is, and lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child!.kill(signal);
  }

  /**
   * The operator's gobgp.
   * @returns what it writes
   * @throws Error with what it says when it fails
   */
  cli(...args: string[]): string {
    return execFileSync('ip', ['netns', 'exec', this.#netns, cliOf(this.#binary), '-p', String(this.#port), ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

export class GobgpNetwork {
  readonly netns: string;
  readonly directory: string;
  readonly #daemons: Gobgpd[] = [];
  readonly #listening: Listening[] = [];
  // Below the ephemeral ports: a closed connection of `gobgp` holds the one that it had for a minute, and a gobgpd that
  // cannot listen there ends.
  #port = 20_051;

  constructor(name: string) {
    this.netns = `${name}-${process.pid}`;
    execFileSync('ip', ['netns', 'add', this.netns]);
    execFileSync('ip', ['-n', this.netns, 'link', 'set', 'lo', 'up']);
    this.directory = mkdtempSync(join(tmpdir(), `${name}-`));
  }

  /** @param options undefined: without configuration, so that BGP is not started */
  start(binary: GobgpBinary, options: GobgpdOptions | undefined): Gobgpd {
    const daemon = new Gobgpd(
      this.netns,
      this.directory,
      binary,
      this.#port++,
      options && gobgpdConfig(options),
      options?.args ?? [],
    );
    this.#daemons.push(daemon);
    return daemon;
  }

  listen({ target }: { readonly target: string }, options: Partial<GobgpOptions> = {}): Listening {
    const listening = new Listening(target, options);
    this.#listening.push(listening);
    return listening;
  }

  /** What the daemons have written, for a test that fails. */
  logs(): string {
    return this.#daemons.map(({ target, log }) => `== ${target}\n${log}`).join('\n');
  }

  /** Ends every daemon, and whoever listens; the namespace stays. */
  async stopAll(): Promise<void> {
    for (const daemon of this.#daemons.splice(0)) await daemon.kill();
    for (const { client } of this.#listening.splice(0)) await client.close();
  }

  async remove(): Promise<void> {
    await this.stopAll();
    execFileSync('ip', ['netns', 'del', this.netns]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A client, and what it has reported. */
export class Listening {
  readonly client: GobgpClient;
  readonly routes = new Map<string, readonly GobgpPath[]>();
  readonly counters = new Map<string, number>();
  readonly lost: string[] = [];
  /** Most routes reported at once. */
  most = 0;
  about: GobgpAbout | undefined;
  /** How often the whole table has been reported. */
  listed = 0;
  onRoutes: (routes: readonly GobgpRoute[]) => void = () => {};

  constructor(target: string, options: Partial<GobgpOptions> = {}) {
    this.client = createGobgpClient(
      { target, learn: 'best', maxMessageBytes: 1 << 20, ...options },
      {
        clock: systemClock,
        work: eventLoopWork(),
        log: silentLog,
        count: (name, by = 1) => void this.counters.set(name, (this.counters.get(name) ?? 0) + by),
        random: () => 0,
        listener: {
          connected: (about) => {
            this.about = about;
            this.routes.clear();
          },
          routes: (routes) => {
            this.most = Math.max(this.most, routes.length);
            for (const { prefix, paths } of routes) {
              if (paths.length === 0) this.routes.delete(formatPrefix(prefix));
              else this.routes.set(formatPrefix(prefix), paths);
            }
            this.onRoutes(routes);
          },
          listed: () => void this.listed++,
          lost: ({ reason }) => {
            this.about = undefined;
            this.lost.push(reason);
          },
        },
      },
    );
    this.client.start();
  }

  /** Until the table has been reported once more. */
  async ready(times = 1): Promise<this> {
    await until(
      'the table is reported',
      () => ({ listed: this.listed, connectedTo: this.about, lost: this.lost, silentMs: this.client.silentMs() }),
      ({ listed }) => listed >= times,
      200_000,
    );
    return this;
  }

  /** Next hops of a prefix, the best first. */
  hops(prefix: string): string[] {
    return (this.routes.get(prefix) ?? []).map((path) => formatAddress(path.nextHop));
  }
}
