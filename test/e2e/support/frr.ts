// Routers of a test: a network namespace each, FRR's zebra and isisd in it with a private /etc/frr and /run/frr, veth
// links between them. The daemons are children of the test process and end with it; everything is removed by `remove`,
// also what a failed test left half made.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askDaemon } from '../../../src/frr/vty.ts';
import { frrMounts, otherFrr } from '../../../src/lab/frr.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type Daemon, daemonArguments, hasMgmtd } from '../../support/frr-namespace.ts';
import { is, until } from '../../support/until.ts';

const ORDER: readonly Daemon[] = ['zebra', 'mgmtd', 'staticd', 'isisd', 'ospfd', 'ospf6d'];

/**
 * isisd.conf of a router: `interfaces` run IPv6 point-to-point IS-IS. `net` comes last: with it FRR issues its first
 * LSP, and what is configured later (the interval, the passwords) counts from the second on.
 */
export function isisdConfig(opts: {
  systemId: string;
  area?: string;
  isType?: string;
  interfaces: readonly string[];
  interfaceLines?: readonly string[];
  lines?: readonly string[];
}): string {
  const perInterface = (name: string): string[] => [
    `interface ${name}`,
    ' ipv6 router isis core',
    ' isis network point-to-point',
    ...(opts.interfaceLines ?? []).map((line) => ` ${line}`),
    'exit',
  ];
  return [
    ...opts.interfaces.flatMap(perInterface),
    'router isis core',
    ' lsp-gen-interval 1',
    ` is-type ${opts.isType ?? 'level-2-only'}`,
    ' metric-style wide',
    ...(opts.lines ?? []).map((line) => ` ${line}`),
    ` net ${opts.area ?? '49.0001'}.${opts.systemId}.00`,
    'exit',
    '',
  ].join('\n');
}

export class FrrRouter {
  readonly name: string;
  /** Of the namespace: for carriers that run in the test process. */
  readonly netns: Netns;
  readonly vtyDir: string;
  private readonly daemons = new Map<Daemon, ChildProcess>();

  constructor(name: string, isisd: string) {
    this.name = name;
    this.vtyDir = mkdtempSync(join(tmpdir(), `${name}-`));
    execFileSync('ip', ['netns', 'add', name]);
    this.netns = Netns.open(`/run/netns/${name}`);
    this.ip('link', 'set', 'lo', 'up');
    for (const dir of ['etc', 'run']) mkdirSync(join(this.vtyDir, dir));
    writeFileSync(join(this.vtyDir, 'zebra.conf'), '');
    this.configure(isisd);
  }

  /** Replaces isisd's configuration file; it is read at the next start. */
  configure(isisd: string): void {
    writeFileSync(join(this.vtyDir, 'isisd.conf'), `hostname ${this.name.split('-').at(-1)}\n${isisd}`);
    execFileSync('chown', ['-R', 'frr:frr', this.vtyDir]);
  }

  /** `ospfd.conf` or `ospf6d.conf`: that daemon is started too. */
  configureOspf(daemon: 'ospfd' | 'ospf6d', lines: readonly string[]): void {
    writeFileSync(
      join(this.vtyDir, `${daemon}.conf`),
      [`hostname ${this.name.split('-').at(-1)}`, ...lines, ''].join('\n'),
    );
    execFileSync('chown', ['-R', 'frr:frr', this.vtyDir]);
  }

  /** Static routes: staticd is started too, and mgmtd where there is one. */
  configureStatic(lines: readonly string[]): void {
    writeFileSync(join(this.vtyDir, 'etc/staticd.conf'), `${lines.join('\n')}\n`);
    execFileSync('chown', ['-R', 'frr:frr', this.vtyDir]);
  }

  /** `ip -n NAMESPACE …` */
  ip(...args: string[]): string {
    return execFileSync('ip', ['-n', this.name, ...args], { encoding: 'utf8' });
  }

  /** Starts what is not running and waits until it answers. */
  async start(): Promise<void> {
    for (const daemon of ORDER) {
      if (this.daemons.has(daemon) || !this.isConfigured(daemon)) continue;
      this.daemons.set(daemon, this.spawn(daemon));
      await until(`${this.name}: ${daemon} answers`, () => this.failure(daemon), is(undefined));
    }
  }

  private isConfigured(daemon: Daemon): boolean {
    const hasRoutes = existsSync(join(this.vtyDir, 'etc/staticd.conf'));
    if (daemon === 'mgmtd') return hasRoutes && hasMgmtd(this.name);
    return daemon === 'staticd' ? hasRoutes : existsSync(join(this.vtyDir, `${daemon}.conf`));
  }

  private spawn(daemon: Daemon): ChildProcess {
    const d = this.vtyDir;
    // Every step replaces itself by the next, so that the child's process ID is the daemon's.
    // Without systemd nobody has made /run/frr yet.
    const other = otherFrr(this.name, process.env);
    const script = [
      ...(other === undefined ? [] : frrMounts(other)),
      'mount --bind "$0/etc" /etc/frr && mkdir -p /run/frr && mount --bind "$0/run" /run/frr && exec "$@"',
    ].join(' && ');
    const command = [`/usr/lib/frr/${daemon}`, ...daemonArguments(daemon, d)];
    const child = spawn('unshare', ['--mount', 'ip', 'netns', 'exec', this.name, 'sh', '-c', script, d, ...command], {
      stdio: 'ignore',
    });
    child.once('exit', () => this.daemons.delete(daemon));
    return child;
  }

  /** Why a daemon does not answer yet. @throws when it has ended */
  private async failure(daemon: Daemon): Promise<unknown> {
    if (!this.daemons.has(daemon)) throw new Error(`${this.name}: ${daemon} has ended`);
    if (daemon === 'staticd' || daemon === 'mgmtd')
      return existsSync(join(this.vtyDir, `${daemon}.vty`)) ? undefined : `no ${daemon}.vty`;
    return askDaemon(this.vtyDir, daemon, ['show version']).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Ends a daemon and waits until it is gone. */
  async stop(daemon: Daemon, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.daemons.get(daemon);
    if (!child) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const insist = setTimeout(() => child.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(insist);
  }

  /** The answer of a daemon to a show command. */
  async show(command: string, daemon: 'isisd' | 'ospfd' | 'ospf6d' = 'isisd'): Promise<string> {
    const [reply] = await askDaemon(this.vtyDir, daemon, [command]);
    return reply!.text;
  }

  async remove(): Promise<void> {
    for (const daemon of ORDER.toReversed()) await this.stop(daemon);
    this.netns.close();
    execFileSync('ip', ['netns', 'del', this.name]);
    rmSync(this.vtyDir, { recursive: true, force: true });
  }
}

export class FrrNetwork {
  private readonly prefix: string;
  private readonly routers: FrrRouter[] = [];

  /** @param prefix of every namespace, e.g. `t-isis` */
  constructor(prefix: string) {
    this.prefix = `${prefix}-${process.pid}`;
  }

  /** A router whose daemons are not started yet. */
  router(name: string, isisd: string): FrrRouter {
    const router = new FrrRouter(`${this.prefix}-${name}`, isisd);
    this.routers.push(router);
    return router;
  }

  /** A veth between two routers, up on both ends. */
  link(a: Pick<FrrRouter, 'name' | 'ip'>, nameA: string, b: Pick<FrrRouter, 'name' | 'ip'>, nameB: string): void {
    execFileSync('ip', [
      'link',
      'add',
      'name',
      nameA,
      'netns',
      a.name,
      'type',
      'veth',
      'peer',
      'name',
      nameB,
      'netns',
      b.name,
    ]);
    a.ip('link', 'set', nameA, 'up');
    b.ip('link', 'set', nameB, 'up');
  }

  async start(): Promise<void> {
    for (const router of this.routers) await router.start();
  }

  async remove(): Promise<void> {
    const errors: unknown[] = [];
    for (const router of this.routers.splice(0)) await router.remove().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw new AggregateError(errors, 'not everything was removed');
  }
}
