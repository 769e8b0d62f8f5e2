// The routers of topologies/bgp: gobgpd and ExaBGP as children of the test process in their nodes, and what cnpd is
// shown there. BIRD and FRR run already.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Lab } from '../../../src/lab/lab.ts';
import type { RunResult } from '../../../src/lab/run.ts';
import { LOOPBACK, SENDERS4, SENDERS6 } from './line.ts';
import { Network, type Router, type Row } from './network.ts';
import { contains, until } from '../../support/until.ts';

/** leaf declares, p and far learn. */
type Speaker = 'leaf' | 'p' | 'far';

/** Identity and carrier. `bgp` adds to the section. */
export const speaker = (name: Speaker, bgp: object = {}): object => ({
  router: { name, loopback: LOOPBACK[name] },
  bgp,
});

/** The characteristic in which leaf names itself: code, length, address. */
export const LEAF_PNC = 'ffdc001020010db8ffff00000000000000000001';
/** leaf's attribute 39 as PNC §5.4 has it: AFI, SAFI, next hop; the characteristic. */
export const NHC = {
  [SENDERS6]: `0002011020010db8ffff00000000000000000001${LEAF_PNC}`,
  [SENDERS4]: `00010104c0000201${LEAF_PNC}`,
} as const;
export type SenderPrefix = keyof typeof NHC;
export const BOTH: readonly SenderPrefix[] = [SENDERS6, SENDERS4];

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child.kill(signal);
  await gone;
}

/** A child that runs in a node until it is ended. */
class Program {
  readonly #lab: Lab;
  readonly node: string;
  readonly #argv: readonly string[];
  #child: ChildProcess | undefined;

  constructor(lab: Lab, node: string, argv: readonly string[]) {
    this.#lab = lab;
    this.node = node;
    this.#argv = argv;
  }

  run(): void {
    this.#child = this.#lab.spawn(this.node, this.#argv, { stdio: 'ignore' });
  }

  /** Ends it and waits until it is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    await end(child, signal);
  }

  /** Stops it where it is, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child!.kill(signal);
  }

  /** As ps calls it: `T` when it is stopped. */
  async runState(): Promise<string> {
    return /^\d+ \(.*\) (\S)/.exec(await readFile(`/proc/${this.#child!.pid}/stat`, 'utf8'))![1]!;
  }

  exec(...argv: string[]): Promise<string> {
    return this.#lab.mustExec(this.node, argv);
  }

  protected result(...argv: string[]): Promise<RunResult> {
    return this.#lab.exec(this.node, argv);
  }
}

/** A path attribute that gobgpd does not know, as it holds it. */
interface RawAttribute {
  readonly flags: number;
  /** Hexadecimal. */
  readonly value: string;
}

export interface Gobgpath {
  readonly nextHop: string;
  readonly age: number;
  /** Attribute 39, if it has one. */
  readonly nhc: RawAttribute | undefined;
}

interface CliAttribute {
  readonly type: number;
  readonly nexthop?: string;
  readonly flags?: number;
  readonly value?: unknown;
}
type CliPaths = Readonly<Record<string, readonly { readonly age: number; readonly attrs: readonly CliAttribute[] }[]>>;

/** An observer of its own: what gobgpd holds is asked with gobgp, the command, and not with cnpd's client. */
class NodeGobgpd extends Program {
  constructor(lab: Lab, node: string) {
    super(lab, node, [
      'gobgpd',
      '-f',
      '/etc/gobgpd.toml',
      '--api-hosts',
      '127.0.0.1:50051',
      '--pprof-disable',
      '--disable-stdlog',
    ]);
  }

  async start(): Promise<void> {
    this.run();
    await until(
      `${this.node}: gobgpd answers`,
      () => this.result('gobgp', 'global'),
      ({ code }) => code === 0,
    );
  }

  gobgp(...argv: string[]): Promise<string> {
    return this.exec('gobgp', ...argv);
  }

  async paths(prefix: string): Promise<Gobgpath[]> {
    const text = await this.gobgp('global', 'rib', '-j', '-a', prefix.includes(':') ? 'ipv6' : 'ipv4');
    return ((JSON.parse(text.startsWith('{') ? text : '{}') as CliPaths)[prefix] ?? []).map((path) => {
      const nhc = path.attrs.find(({ type }) => type === 39);
      return {
        nextHop: path.attrs.find(({ nexthop }) => nexthop !== undefined)?.nexthop ?? '',
        age: path.age,
        nhc: nhc && { flags: nhc.flags!, value: Buffer.from(nhc.value as string, 'base64').toString('hex') },
      };
    });
  }

  /** @param state in which gobgpd waits for a connection (`ACTIVE`), or has one (`ESTABLISHED`) */
  async reaches(state: 'ACTIVE' | 'ESTABLISHED', peer: string): Promise<void> {
    await until(
      `${this.node}: ${peer} is ${state}`,
      () => this.gobgp('neighbor', peer),
      contains(`BGP state = ${state}`),
    );
  }
}

/** ExaBGP sends what it is ordered to, whether or not it makes sense. */
export class ExaBgp extends Program {
  constructor(lab: Lab, node: string) {
    super(lab, node, [
      'env',
      'exabgp.api.cli=false',
      'exabgp.api.ack=false',
      'exabgp.daemon.user=root',
      'exabgp.daemon.drop=false',
      'exabgp',
      '/run/exabgp.conf',
    ]);
  }

  /**
   * @param config of ExaBGP
   * @param process that it talks to (`process api { run /run/process; … }`), as a script
   */
  async start(config: string, script: string): Promise<void> {
    await this.exec(
      'sh',
      '-c',
      'printf %s "$0" > /run/exabgp.conf; printf %s "$1" > /run/process; chmod +x /run/process; : > /run/commands',
      config,
      script,
    );
    this.run();
  }

  /** Commands of ExaBGP's API, for the script FOLLOW. */
  async say(...commands: string[]): Promise<void> {
    await this.exec('sh', '-c', 'printf "%s\\n" "$@" >> /run/commands', 'sh', ...commands);
  }
}

/** A process for ExaBGP that hands it what `say` is given. */
export const FOLLOW = '#!/bin/sh\nexec tail -n +1 -f /run/commands\n';

/** Attribute 39 with these bytes, as ExaBGP's API wants it. */
export const raw39 = (hex: string, flags = 0xc0): string => `attribute [0x27 0x${flags.toString(16)} 0x${hex}]`;

const MARKER = Buffer.alloc(16, 0xff);
/** RFC 4271 §4.1: marker, length 2, type 1. */
function message(type: 1 | 2 | 4, body: Buffer): Buffer {
  const head = Buffer.alloc(3);
  head.writeUInt16BE(MARKER.length + head.length + body.length);
  head[2] = type;
  return Buffer.concat([MARKER, head, body]);
}
const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const sized = (value: Buffer): Buffer => Buffer.concat([Buffer.from([value.length >> 8, value.length & 0xff]), value]);

/**
 * gobgpd 3.10 reports each path of an UPDATE with the prefixes of all: with 400, as many as fit, it takes a minute of
 * processor time to tell of 50,000 that are gone.
 */
const PREFIXES_AN_UPDATE = 20;

/**
 * A BGP neighbor by hand, for more paths than ExaBGP is quick with. AS 65001, router ID 192.0.2.7, hold time 0 (no
 * keepalives), IPv6 unicast. It does not listen to what is answered.
 */
export class RawNeighbor {
  readonly #child: ChildProcess;

  constructor(lab: Lab, node: string, peer: string) {
    this.#child = lab.spawn(
      node,
      ['bash', '-c', `exec 3<>/dev/tcp/${peer}/179; cat <&3 >/dev/null & cat >&3; kill $!`],
      { stdio: ['pipe', 'ignore', 'inherit'] },
    );
    const open = bytes('04 fde9 0000 c0000207 08 02 06 01 04 0002 00 01');
    this.#child.stdin!.write(Buffer.concat([message(1, open), message(4, Buffer.alloc(0))]));
  }

  /**
   * One attribute 39 for all, packed as a router does it.
   * @param nextHop and `nhc` in hexadecimal
   * @param prefixes /64, 8 octets each
   */
  announce(nextHop: string, nhc: string, prefixes: readonly Buffer[]): void {
    const common = bytes(
      `400101 00 400200 400504 00000064 c027 ${(nhc.length / 2).toString(16).padStart(2, '0')} ${nhc} 900e`,
    );
    const head = bytes(`0002 01 10 ${nextHop} 00`);
    const updates: Buffer[] = [];
    for (let i = 0; i < prefixes.length; i += PREFIXES_AN_UPDATE) {
      const nlri = prefixes.slice(i, i + PREFIXES_AN_UPDATE).flatMap((prefix) => [Buffer.of(64), prefix]);
      updates.push(
        message(
          2,
          Buffer.concat([bytes('0000'), sized(Buffer.concat([common, sized(Buffer.concat([head, ...nlri]))]))]),
        ),
      );
    }
    this.#child.stdin!.write(Buffer.concat(updates));
  }

  /** Ends the connection. */
  async stop(): Promise<void> {
    const gone =
      this.#child.exitCode === null && this.#child.signalCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.stdin!.end();
    await gone;
  }
}

/** The network with the gobgpds that a test file needs. */
export class BgpNetwork {
  readonly net: Network;
  readonly gobgpd: Readonly<Record<Speaker, NodeGobgpd>>;

  private constructor(net: Network) {
    this.net = net;
    this.gobgpd = {
      leaf: new NodeGobgpd(net.lab, 'leaf'),
      p: new NodeGobgpd(net.lab, 'p'),
      far: new NodeGobgpd(net.lab, 'far'),
    };
  }

  /**
   * @param use of the test file
   * @param speakers whose gobgpd is started
   */
  static async up(use: string, ...speakers: Speaker[]): Promise<BgpNetwork> {
    const network = new BgpNetwork(await Network.up('bgp', use));
    await Promise.all(speakers.map((name) => network.gobgpd[name].start()));
    return network;
  }

  /** Whether the reflector makes itself the next hop of IPv6 paths; `no`: not any more. */
  nextHopSelf(no: '' | 'no ' = ''): Promise<string> {
    return this.net
      .router('rr')
      .frr(
        'configure terminal',
        'router bgp 65001',
        'address-family ipv6 unicast',
        `${no}neighbor leaves next-hop-self force`,
      );
  }

  router(name: Speaker): Router {
    return this.net.router(name);
  }

  /** Programs of the nodes end with the lab. */
  down(): Promise<void> {
    return this.net.down();
  }
}

/** What a router's cnpd shows of the paths of a prefix. */
export const pathsOf = async (router: Router, prefix: string): Promise<Row[]> =>
  (await router.get('bgp', 'paths')).filter((row) => row['prefix'] === prefix);
