// gobgpd for the bench, Debian's, with its gRPC interface on a UNIX socket; paths as a congestion notification proxy
// advertises them; and the least that can put them in: one stream of AddPathStream, and nothing is looked at but the
// answer at the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import { CallError, Channel } from '../../../carriers/bgp/gobgp/channel.edge.ts';
import type { OwnPath } from '../../../carriers/bgp/gobgp/gobgp.ts';
import { GET_BGP_REQUEST, decodeAbout } from '../../../carriers/bgp/gobgp/messages.ts';
import { PATHS_A_MESSAGE } from '../../../carriers/bgp/gobgp/upload.edge.ts';
import { v3 } from '../../../carriers/bgp/gobgp/v3.ts';
import type { Netns } from '../../../kernel/netns.ts';
import { type IpAddress, address } from '../../../model/address.ts';
import { DEFAULT_CODE_POINTS } from '../../../model/code-points.ts';
import { type Prefix, prefixOf } from '../../../model/prefix.ts';
import { pncCharacteristic } from '../../../packet/bgp/characteristics.ts';
import { AFI, SAFI_UNICAST, encodeNhc } from '../../../packet/bgp/nhc.ts';
import { type Bench, until } from '../bench.ts';

const AS = 65001;
const CALL_MS = 10_000;
const UPLOAD_MS = 300_000;
export const MAX_MESSAGE_BYTES = 1 << 20;
/** GetTableRequest: table_type (1) GLOBAL, the default, and family (2): afi (1) IPv6, safi (2) unicast. */
const GET_TABLE_IPV6 = Uint8Array.of(0x12, 4, 0x08, 2, 0x10, 1);
/** num_path of GetTableResponse. */
const NUM_PATH = 2;
export const NEXT_HOP = address('2001:db8:fffe::1');

/** The `i`th of many /64. */
export const bgpPrefix = (i: number): Prefix =>
  prefixOf({ family: 6, value: (0x2001_0db8n << 96n) | (BigInt(i + 1) << 64n) }, 64);

/**
 * A path with the PNC characteristic; without a proxy, one whose characteristic nobody knows, so that it is as long.
 */
export function bgpPath(prefix: Prefix, proxy?: IpAddress): OwnPath {
  const characteristic = proxy
    ? pncCharacteristic(DEFAULT_CODE_POINTS['bgp-pnc-characteristic'], proxy)
    : { code: 1, value: new Uint8Array(16) };
  return {
    prefix,
    nextHop: NEXT_HOP,
    nhc: encodeNhc({ afi: AFI.ipv6, safi: SAFI_UNICAST, nextHop: NEXT_HOP, characteristics: [characteristic] }),
    communities: [],
    largeCommunities: [],
  };
}

/** A gobgpd of its own namespace or the given one, without neighbors. */
export class BenchGobgpd {
  readonly socket: string;
  readonly child: ChildProcess;
  readonly #channels: Channel[] = [];

  private constructor(socket: string, child: ChildProcess) {
    this.socket = socket;
    this.child = child;
  }

  static async spawn(bench: Bench, netns: Netns): Promise<BenchGobgpd> {
    const base = join(bench.directory, `gobgpd-${Math.random().toString(36).slice(2, 8)}`);
    writeFileSync(`${base}.toml`, `[global.config]\nas = ${AS}\nrouter-id = "192.0.2.1"\nport = -1\n`);
    const child = netns.run(() =>
      spawn(
        'gobgpd',
        ['-f', `${base}.toml`, '--api-hosts', `unix://${base}.sock`, '--pprof-disable', '--log-level', 'error'],
        { stdio: 'ignore' },
      ),
    );
    const kill = (): void => void child.kill('SIGKILL');
    process.on('exit', kill);
    const gobgpd = new BenchGobgpd(`${base}.sock`, child);
    bench.finally(async () => {
      for (const channel of gobgpd.#channels) channel.close();
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        kill();
        await gone;
      }
      process.off('exit', kill);
      rmSync(`${base}.sock`, { force: true });
    });
    await until('gobgpd answers', () => gobgpd.#answers(), bench.signal);
    return gobgpd;
  }

  async #answers(): Promise<boolean> {
    const channel = await this.channel();
    try {
      return decodeAbout(await channel.call(`/${v3.service}/GetBgp`, GET_BGP_REQUEST, CALL_MS)).as === AS;
    } catch (error) {
      if (error instanceof CallError && error.code === status.UNAVAILABLE) return false;
      throw error;
    } finally {
      channel.close();
    }
  }

  async channel(): Promise<Channel> {
    const channel = await Channel.open({ target: `unix:${this.socket}`, maxMessageBytes: MAX_MESSAGE_BYTES });
    this.#channels.push(channel);
    return channel;
  }

  /**
   * Sends messages of AddPathStream, no faster than gobgpd takes them.
   * @returns how long it took until its answer, ms
   */
  async upload(messages: Iterable<Uint8Array>): Promise<number> {
    const channel = await this.channel();
    const start = performance.now();
    const { call, end } = channel.upload(`/${v3.service}/AddPathStream`, UPLOAD_MS);
    for (const message of messages) if (!call.write(message)) await once(call, 'drain');
    call.end();
    await end;
    const took = performance.now() - start;
    channel.close();
    return took;
  }

  /** How many paths of IPv6 it has. */
  async paths(): Promise<number> {
    const channel = await this.channel();
    const reader = new BinaryReader(await channel.call(`/${v3.service}/GetTable`, GET_TABLE_IPV6, CALL_MS));
    channel.close();
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (number === NUM_PATH) return Number(reader.uint64());
      reader.skip(type, number);
    }
    return 0;
  }
}

/**
 * A message with paths of another client's, which cnpd learns: what has its own identifier, it would take out again.
 */
export const foreign = (paths: readonly OwnPath[]): Uint8Array => v3.addRequest(paths, 0);

/** In messages as large as cnpd's, each encoded when it is asked for. */
export function* inMessages<T>(items: readonly T[], encode: (some: readonly T[]) => Uint8Array): Generator<Uint8Array> {
  for (let i = 0; i < items.length; i += PATHS_A_MESSAGE) yield encode(items.slice(i, i + PATHS_A_MESSAGE));
}
