// OSPF carriers, with what they learn kept for looking at; and a router with BIRD.
import { byKind } from '../../../src/model/advertisement.fixture.ts';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LearnedReport } from '../../../src/model/advertisement.ts';
import { address, formatAddress } from '../../../src/model/address.ts';
import type { AreaTopology } from '../../../src/model/topology.ts';
import { systemClock } from '../../../src/model/clock.ts';
import { eventLoopWork } from '../../../src/model/work.ts';
import { DEFAULT_CODE_POINTS } from '../../../src/model/code-points.ts';
import { silentLog } from '../../../src/model/log.ts';
import { formatPrefix } from '../../../src/model/prefix.ts';
import type { Understood } from '../../../src/model/understood.ts';
import { type OspfCarrier, type OspfCarrierOptions, createOspfCarrier } from '../../../src/carriers/ospf/carrier.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import type { Poller } from '../../../src/kernel/poller.ts';
import { parseId } from '../../../src/packet/ospf/router-id.ts';

/** FRR's end of the link of the nth area. */
export const areaLink = (n: number): string => `cnpd-ospf${n}`;

/** @param areas dotted quads, one link each */
export const carrierOptions = (
  version: 2 | 3,
  routerId: string,
  areas: readonly string[] = ['0.0.0.0'],
): OspfCarrierOptions => ({
  version,
  routerId: parseId(routerId)!,
  areas: areas.map((area, n) => ({
    areaId: parseId(area)!,
    interface: areaLink(n),
    mtu: 1500,
    ignoreMtu: false,
    instanceId: 0,
    keys: [],
    ...(version === 2 && {
      link: { router: address(`169.254.89.${2 * n}`), own: address(`169.254.89.${2 * n + 1}`), length: 31 },
    }),
  })),
  helloSeconds: 1,
  deadSeconds: 4,
  retransmitMs: 1000,
  holdUnreachableMs: 120_000,
});

export class CarrierAgent {
  readonly carrier: OspfCarrier;
  readonly counters = new Map<string, number>();
  readonly reports = new Map<string, LearnedReport>();
  reachable: ReadonlySet<string> = new Set();
  topology: readonly AreaTopology[] = [];

  constructor(options: OspfCarrierOptions, { poller, netns }: { readonly poller: Poller; readonly netns?: Netns }) {
    this.carrier = createOspfCarrier(options, {
      poller,
      sink: {
        learned: (report) => void this.reports.set(report.source, report),
        reachability: (report) => void (this.reachable = report.reachable),
        topology: ({ areas }) => void (this.topology = areas),
      },
      clock: systemClock,
      work: eventLoopWork(),
      log: silentLog,
      count: (name, by = 1) => void this.counters.set(name, this.count(name) + by),
      codePoints: DEFAULT_CODE_POINTS,
      ...(netns && { netns }),
    });
  }

  count(name: string): number {
    return this.counters.get(name) ?? 0;
  }

  get full(): boolean {
    return this.carrier.neighbors().every(({ state }) => state === 'full');
  }

  /** What routers that can be reached say of a prefix: `originator proxy`, with `-` where the flag is clear; sorted. */
  learned(text: string): string[] {
    const found: string[] = [];
    for (const { originator, advertisements } of this.reports.values()) {
      if (!this.reachable.has(originator)) continue;
      for (const p of byKind(advertisements).prefixes)
        if (formatPrefix(p.prefix) === text)
          found.push(`${originator} ${p.pnc ? (p.proxy ? formatAddress(p.proxy) : 'none') : '-'}`);
    }
    return found.sort();
  }

  /** What the same routers say that the senders in a prefix understand. */
  supports(text: string): (Understood | undefined)[] {
    return [...this.reports.values()]
      .filter(({ originator }) => this.reachable.has(originator))
      .flatMap(({ advertisements }) => byKind(advertisements).prefixes)
      .filter((p) => formatPrefix(p.prefix) === text)
      .map(({ supports }) => supports);
  }

  /** Those of them that have the flag. */
  flagged(text: string): string[] {
    return this.learned(text).filter((line) => !line.endsWith(' -'));
  }
}

/** A namespace with BIRD 2 in it, which speaks OSPF on point-to-point links. */
export class BirdRouter {
  readonly name: string;
  /** For carriers that run in the test process. */
  readonly netns: Netns;
  private readonly dir = mkdtempSync(join(tmpdir(), 'bird-'));
  private bird: ChildProcess | undefined;

  constructor(name: string) {
    this.name = name;
    execFileSync('ip', ['netns', 'add', name]);
    this.netns = Netns.open(`/run/netns/${name}`);
    this.ip('link', 'set', 'lo', 'up');
  }

  ip(...args: string[]): string {
    return execFileSync('ip', ['-n', this.name, ...args], { encoding: 'utf8' });
  }

  /** @param more lines for every interface, e.g. of authentication */
  start(
    routerId: string,
    links: readonly string[],
    { version = 3, more = '' }: { readonly version?: 2 | 3; readonly more?: string } = {},
  ): void {
    const interfaces = links
      .map((link) => `interface "${link}" { type ptp; hello 1; dead 4; retransmit 2; ${more} };`)
      .join(' ');
    const config = join(this.dir, 'bird.conf');
    writeFileSync(
      config,
      `router id ${routerId};\nprotocol device {}\n` +
        `protocol ospf v${version} { ${version === 2 ? 'ipv4' : 'ipv6'} {}; area 0 { ${interfaces} }; }\n`,
    );
    this.bird = spawn(
      'ip',
      [
        'netns',
        'exec',
        this.name,
        '/usr/sbin/bird',
        '-f',
        '-c',
        config,
        '-s',
        join(this.dir, 'ctl'),
        '-P',
        join(this.dir, 'pid'),
      ],
      { stdio: 'ignore' },
    );
  }

  show(command: string): string {
    return execFileSync('/usr/sbin/birdc', ['-s', join(this.dir, 'ctl'), 'show', ...command.split(' ')], {
      encoding: 'utf8',
    });
  }

  async remove(): Promise<void> {
    const { bird } = this;
    if (bird && bird.exitCode === null) {
      const gone = new Promise((resolve) => bird.once('exit', resolve));
      bird.kill('SIGKILL');
      await gone;
    }
    this.netns.close();
    execFileSync('ip', ['netns', 'del', this.name]);
    rmSync(this.dir, { recursive: true, force: true });
  }
}
