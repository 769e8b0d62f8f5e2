// A congested router for the dataplane's tests: a namespace with a monitored port whose TBF lets next to nothing out,
// so that its backlog is exactly what a test puts there and stays so, and an uplink behind which a collector takes what
// the router sends to its proxies.
//
//   sink [t-bpf-sink] ──── [t-bpf-port  TBF 1 byte/s] router [t-bpf-up] ──── [t-bpf-proxy] sink
import { writeFileSync } from 'node:fs';
import { address } from '../../../src/model/address.ts';
import type { SentNotification } from '../../../src/model/notification.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../../../src/kernel/bpf/ring-buffer.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import type { TestRunResult } from '../../../src/kernel/bpf/program.ts';
import {
  EGRESS_MAPS,
  EGRESS_PROGRAMS,
  type EgressPort,
  encodeEgressPort,
} from '../../../src/kernel/dataplane/egress.ts';
import {
  EGRESS_MEASURE_SIZE,
  EGRESS_STATS_SIZE,
  type EgressStats,
  decodeEgressStats,
} from '../../../src/kernel/dataplane/egress-measurements.ts';
import { EgressPortTable } from '../../../src/kernel/dataplane/egress-ports.ts';
import { type EgressFlow, decodeFlowSet } from '../../../src/kernel/dataplane/flows.ts';
import { u32Key } from '../../../src/kernel/dataplane/layout.ts';
import { decodeNotification } from '../../../src/kernel/dataplane/notifications.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { Rtnetlink } from '../../../src/kernel/netlink/rtnetlink.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { clearCounters, countOf } from './counters.ts';
import { zero } from './emptied-maps.ts';
import { DetectorTables, LOOPBACK4, LOOPBACK6, PNC_PORT } from './detector-tables.ts';
import { context, frame } from './packets.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { atLeast, until } from '../../support/until.ts';
import { udp, ipv6 } from '../../../src/packet/ip/packets.fixture.ts';

export const object = (name: string): string => new URL(`../../../dist/bpf/${name}.bpf.o`, import.meta.url).pathname;

export { LOOPBACK4, LOOPBACK6, PNC_PORT };
export const PROXY4 = address('192.0.2.1');
export const PROXY6 = address('2001:db8:ffff::1');
const MAC = {
  port: Uint8Array.of(2, 0, 0, 0, 1, 1),
  sink: Uint8Array.of(2, 0, 0, 0, 1, 2),
  up: Uint8Array.of(2, 0, 0, 0, 2, 1),
  proxy: Uint8Array.of(2, 0, 0, 0, 2, 2),
};
/** What the TBF lets out before it holds everything back, bytes; more than a frame. */
const BURST = 10_000;
/** RTPROT_STATIC */
const STATIC = 4;

export class CongestedRouter extends DetectorTables {
  readonly router: Netns;
  readonly sink: Netns;
  readonly rtnl: Rtnetlink;
  readonly ports: EgressPortTable;
  readonly macs = MAC;
  portIfindex = 0;
  upIfindex = 0;
  /** Frames that arrived at the collector since the last clear(). */
  readonly collected: Uint8Array[] = [];
  /** Frames that left the monitored port. */
  readonly sunk: Uint8Array[] = [];
  private readonly poller: Poller;
  private readonly sockets: PacketSocket[] = [];
  private readonly links = new Map<string, TcxLink>();
  private readonly ring: RingBufferReader;
  private readonly sent: SentNotification[] = [];
  private upstream!: PacketSocket;

  private constructor() {
    super(openBpfObject(object('egress')));
    this.router = Netns.create();
    this.sink = Netns.create();
    this.poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
    this.rtnl = Rtnetlink.open({ netns: this.router }, { poller: this.poller });
    this.ports = EgressPortTable.of(this.egress);
    this.ring = openRingBuffer(this.egress.map(EGRESS_MAPS.notifications), {
      poller: this.poller,
      onRecord: (view, offset, length) => void this.sent.push(decodeNotification(view, offset, length)),
    });
  }

  static async create(): Promise<CongestedRouter> {
    const built = new CongestedRouter();
    try {
      await built.build();
      return built;
    } catch (error) {
      built.close();
      throw error;
    }
  }

  private async build(): Promise<void> {
    const sysctl = (name: string, value: string): void =>
      this.router.run(() => writeFileSync(`/proc/sys/net/${name}`, value));
    sysctl('ipv6/conf/all/forwarding', '1');
    sysctl('ipv4/conf/all/forwarding', '1');
    // The kernel's own multicast chatter is over at once, not in the middle of a test.
    sysctl('ipv6/conf/default/dad_transmits', '0');
    sysctl('ipv6/conf/default/accept_dad', '0');
    for (const version of ['v1', 'v2']) sysctl(`ipv6/conf/default/mld${version}_unsolicited_report_interval`, '1');
    const { rtnl } = this;
    await rtnl.setLink('lo', { up: true });
    await rtnl.createVeth({
      name: 't-bpf-port',
      mtu: 9000,
      mac: MAC.port,
      peer: { name: 't-bpf-sink', mtu: 9000, mac: MAC.sink, netns: this.sink },
    });
    await rtnl.createVeth({
      name: 't-bpf-up',
      mtu: 9000,
      mac: MAC.up,
      peer: { name: 't-bpf-proxy', mtu: 9000, mac: MAC.proxy, netns: this.sink },
    });
    const far = Rtnetlink.open({ netns: this.sink }, { poller: this.poller });
    for (const name of ['t-bpf-port', 't-bpf-up']) await rtnl.setLink(name, { up: true });
    for (const name of ['t-bpf-sink', 't-bpf-proxy']) await far.setLink(name, { up: true });
    far.close();
    await rtnl.addAddress('lo', LOOPBACK4, 32);
    await rtnl.addAddress('lo', LOOPBACK6, 128, { nodad: true });
    await rtnl.addAddress('t-bpf-up', address('10.100.0.1'), 24);
    await rtnl.addAddress('t-bpf-up', address('2001:db8:100::1'), 64, { nodad: true });
    await rtnl.addAddress('t-bpf-port', address('10.101.0.1'), 24);
    await rtnl.addAddress('t-bpf-port', address('2001:db8:101::1'), 64, { nodad: true });
    for (const gateway of ['10.100.0.2', '2001:db8:100::2'])
      await rtnl.setNeighbor('t-bpf-up', address(gateway), MAC.proxy);
    for (const gateway of ['10.101.0.2', '2001:db8:101::2'])
      await rtnl.setNeighbor('t-bpf-port', address(gateway), MAC.sink);
    const route = (to: string, gateway: string): Promise<void> =>
      rtnl.addRoute({ destination: prefix(to), gateway: address(gateway), protocol: STATIC });
    await route('192.0.2.0/24', '10.100.0.2');
    await route('2001:db8:ffff::/48', '2001:db8:100::2');
    await route('10.2.0.0/16', '10.101.0.2');
    await route('2001:db8:2::/48', '2001:db8:101::2');
    // The senders are upstream, like the proxies.
    await route('10.1.0.0/16', '10.100.0.2');
    await route('2001:db8:1::/48', '2001:db8:100::2');
    // So are the provider edges whose tunnels come this way.
    await route('2001:db8:c::/48', '2001:db8:100::2');
    this.portIfindex = (await rtnl.link('t-bpf-port'))!.ifindex;
    this.upIfindex = (await rtnl.link('t-bpf-up'))!.ifindex;
    this.configure({});
    this.own(LOOPBACK4, LOOPBACK6);
    this.policies(['::/0', ['proxy']], ['0.0.0.0/0', ['proxy']]);
    this.upstream = this.capture('t-bpf-proxy', this.sink, this.collected);
    this.capture('t-bpf-sink', this.sink, this.sunk);
    this.attach(EGRESS_PROGRAMS.notice, 1, 'ingress');
    await this.shape({});
  }

  /** Attaches a program of the egress object in the router. */
  attach(program: string, ifindex: number, direction: 'ingress' | 'egress', from: BpfObject = this.egress): TcxLink {
    const link = attachTcx({ program: from.program(program), ifindex, direction, netns: this.router });
    this.links.set(program, link);
    return link;
  }

  attached(program: string): TcxLink {
    return this.links.get(program)!;
  }

  capture(name: string, netns: Netns, into: Uint8Array[]): PacketSocket {
    const socket = openPacketSocket(
      { interface: name, netns, promiscuous: true, receiveBuffer: 64 << 20 },
      {
        poller: this.poller,
        onFrame: (f) => void into.push(f.slice()),
        onError: (error) => {
          throw error;
        },
      },
    );
    this.sockets.push(socket);
    return socket;
  }

  /** A new, empty TBF as root; 1 byte/s by default. */
  async shape({
    rate = 1n,
    burst = BURST,
    limit = 4_000_000,
  }: {
    rate?: bigint;
    limit?: number;
    burst?: number;
  }): Promise<void> {
    if ((await this.rtnl.qdiscs(this.portIfindex)).some((q) => q.kind === 'tbf'))
      await this.rtnl.deleteRootQdisc(this.portIfindex);
    await this.rtnl.setTbf({ ifindex: this.portIfindex, rate, burst, limit });
  }

  /** What is queued stays, and leaves at this rate from the next packet on, which is sent. */
  async drain(rate: bigint): Promise<void> {
    await this.rtnl.setTbf({ ifindex: this.portIfindex, rate, burst: BURST, limit: 4_000_000 });
    this.other(100);
  }

  async depth(): Promise<number> {
    return (await this.rtnl.qdiscs(this.portIfindex)).find((q) => q.kind === 'tbf')!.stats.backlogBytes;
  }

  /** Sends a packet into the router from its uplink, to be forwarded. */
  forward(packet: Uint8Array): void {
    this.upstream.send(frame(packet, { macs: concat(MAC.up, MAC.proxy) }));
  }

  /** Queues exactly `bytes` behind an empty TBF, in frames of other traffic. */
  async fill(bytes: number): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) if (await this.tryFill(bytes)) return;
    throw new Error(`cannot queue exactly ${bytes} bytes: another program sends on the port`);
  }

  /** False when a packet of the kernel's own came between. */
  private async tryFill(bytes: number): Promise<boolean> {
    await this.shape({});
    if (bytes === 0) return true;
    // What the bucket lets out at once, so that the next frame stays.
    for (let left = BURST; left > 0; left -= 5000) this.other(5000);
    const { depth } = await until(
      'the burst is gone',
      async () => ({ depth: await this.depth(), sunk: this.sunk.filter((f) => f.length === 5000).length }),
      (seen) => (seen.depth > 0 || seen.sunk === BURST / 5000) && seen,
    );
    this.sunk.length = 0;
    if (depth > 0) return false;
    return this.deepen(bytes);
  }

  /** Queues more until there are `bytes`, at least 62 more. False when a packet of the kernel's own came between. */
  async deepen(bytes: number): Promise<boolean> {
    let depth = await this.depth();
    for (let left = bytes - depth; left > 0;) {
      const size = left <= 8000 ? left : Math.min(8000, left - 100);
      this.other(size);
      left -= size;
    }
    await until(`${bytes} bytes queued`, async () => (depth = await this.depth()), atLeast(bytes));
    return depth === bytes;
  }

  /** A frame of other traffic, to be forwarded to the monitored port. */
  other(size: number): void {
    this.forward(ipv6([address('2001:db8:9::1'), address('2001:db8:2::99')], 17, udp(9, 9, new Uint8Array(size - 62))));
  }

  /** Configures the monitored port; by default nothing is marked or notified, and nothing limited. */
  port(port: Partial<EgressPort> = {}): void {
    const kMax = port.kMax ?? 100_000;
    const whole: EgressPort = {
      ifindex: this.portIfindex,
      kMin: null,
      kMax: null,
      levelBytes: Array.from({ length: 8 }, (_, level) => kMax * (1 + level)),
      perFlowIntervalNs: 0,
      noticesPerSecond: 1e9,
      burst: 1_000_000,
      ...port,
    };
    this.ports.update(u32Key(whole.ifindex), encodeEgressPort(whole));
  }

  /** What the program has reported about its notifications since the last clear(), or since a test took it out. */
  records(): SentNotification[] {
    this.ring.drain();
    return this.sent;
  }

  /** Leaves the records to another reader. */
  stopReading(): void {
    this.ring.close();
  }

  /** Runs the egress program on a frame as if the monitored port sent it. */
  send(
    bytes: Uint8Array,
    opts: { repeat?: number; mark?: number; cb?: readonly number[]; linear?: number } = {},
  ): TestRunResult {
    const ctx = context({ ifindex: this.portIfindex, ...opts });
    return this.egress
      .program(EGRESS_PROGRAMS.egress)
      .testRun({ data: bytes, ctx, repeat: opts.repeat ?? 1, netns: this.router });
  }

  flows(since = 0n): EgressFlow[] {
    return [...this.egress.map(EGRESS_MAPS.flows).entries()].flatMap(([, value]) => [...decodeFlowSet(value, since)]);
  }

  stats(): EgressStats {
    return this.ports.stats(this.portIfindex) ?? decodeEgressStats(new Uint8Array(EGRESS_STATS_SIZE));
  }

  count(name: string): number {
    return countOf(this.egress, name);
  }

  /** Empties flow table, statistics and captures. */
  clear(): void {
    zero(this.egress.map(EGRESS_MAPS.flows));
    for (const [name, size] of [
      [EGRESS_MAPS.stats, EGRESS_STATS_SIZE],
      [EGRESS_MAPS.measures, EGRESS_MEASURE_SIZE],
      [EGRESS_MAPS.peaks, 8],
      [EGRESS_MAPS.buckets, 8],
    ] as const) {
      for (const [key] of [...this.egress.map(name).entries()]) this.egress.map(name).update(key, new Uint8Array(size));
    }
    clearCounters(this.egress);
    this.records();
    for (const captured of [this.collected, this.sunk, this.sent]) captured.length = 0;
  }

  close(): void {
    for (const link of this.links.values()) link.close();
    for (const socket of this.sockets) socket.close();
    this.ring.close();
    this.egress.close();
    this.rtnl.close();
    this.poller.close();
    this.router.close();
    this.sink.close();
  }
}
