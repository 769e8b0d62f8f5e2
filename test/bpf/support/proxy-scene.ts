// A proxy router between its host and the core, in three network namespaces: h (2001:db8:a::1) – r – c (2001:db8:b::/64
// behind it), IPv4 alike. The kernel of r routes; the proxy's program is attached at the ingress of both ports.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { openBpfObject } from '../../../src/kernel/bpf/object.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { PROXY_PROGRAM } from '../../../src/kernel/dataplane/proxy.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { inNetns, ipLines, untilCarried } from '../../support/netns.ts';
import { compileBpf } from './compile.ts';
import { A, B, CHECKED, ProxyUnderTest, cnpsAmong, compileProxy, data, notice } from './proxy-under-test.ts';
import { moreThan, until } from '../../support/until.ts';

function wire(h: Netns, r: Netns, c: Netns): void {
  // Neighbors answer at once, not after duplicate address detection.
  for (const netns of [h, r, c])
    inNetns(netns, 'sysctl', '-qw', 'net.ipv6.conf.default.accept_dad=0', 'net.ipv6.conf.default.dad_transmits=0');
  inNetns(
    r,
    'sysctl',
    '-qw',
    'net.ipv6.conf.all.forwarding=1',
    'net.ipv4.ip_forward=1',
    'net.ipv4.conf.all.rp_filter=1',
  );
  ipLines(
    r,
    `link add t-proxy-rh type veth peer name t-proxy-h netns ${h.path}
      link add t-proxy-rc type veth peer name t-proxy-c netns ${c.path}
      addr add 2001:db8:ffff::1/128 dev lo
      addr add 192.0.2.1/32 dev lo
      addr add 2001:db8:a::ff/64 dev t-proxy-rh nodad
      addr add 10.0.0.254/24 dev t-proxy-rh
      addr add 2001:db8:ffff:1::1/64 dev t-proxy-rc nodad
      addr add 10.9.0.1/24 dev t-proxy-rc
      link set lo up
      link set t-proxy-rh up
      link set t-proxy-rc up
      route add 2001:db8:b::/64 via 2001:db8:ffff:1::2
      route add 10.0.1.0/24 via 10.9.0.2
      route add 2001:db8:ffff::2/128 via 2001:db8:ffff:1::2`,
  );
  ipLines(
    h,
    `link set lo up
      addr add 2001:db8:a::1/64 dev t-proxy-h nodad
      addr add 10.0.0.1/24 dev t-proxy-h
      link set t-proxy-h up
      route add default via 10.0.0.254
      route add default via 2001:db8:a::ff`,
  );
  ipLines(
    c,
    `link set lo up
      addr add 2001:db8:ffff:1::2/64 dev t-proxy-c nodad
      addr add 10.9.0.2/24 dev t-proxy-c
      link set t-proxy-c up`,
  );
}

export class ProxyScene {
  readonly h: Netns;
  readonly r: Netns;
  readonly c: Netns;
  /** IP packets that arrived at h, and at c, without neighbor discovery. */
  readonly atHost: Uint8Array[] = [];
  readonly atCore: Uint8Array[] = [];
  readonly errors: unknown[] = [];
  readonly pins: string;
  proxy: ProxyUnderTest;
  links: TcxLink[] = [];
  private builder: { close(): void } | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 't-proxy-scene-'));
  private readonly compiled = compileProxy();
  private readonly poller = Poller.open({ onError: (error) => void this.errors.push(error) });
  private readonly host: PacketSocket;
  private readonly core: PacketSocket;
  private readonly lo: PacketSocket;
  private readonly macs: { host: Uint8Array; core: Uint8Array };

  static async create(): Promise<ProxyScene> {
    const [h, r, c] = [Netns.create(), Netns.create(), Netns.create()];
    wire(h, r, c);
    await untilCarried(r, 't-proxy-rh', 't-proxy-rc');
    await untilCarried(h, 't-proxy-h');
    await untilCarried(c, 't-proxy-c');
    return new ProxyScene(h, r, c);
  }

  private constructor(h: Netns, r: Netns, c: Netns) {
    [this.h, this.r, this.c] = [h, r, c];
    this.pins = join(this.directory, 'bpffs');
    mountBpffs(this.pins);
    this.proxy = new ProxyUnderTest(this.compiled.path, { pinDir: this.pins, learning: CHECKED }).configure();
    this.attach();
    this.host = this.capture(this.h, 't-proxy-h', this.atHost);
    this.core = this.capture(this.c, 't-proxy-c', this.atCore);
    this.lo = this.capture(this.r, 'lo', []);
    this.macs = { host: this.macOf('t-proxy-rh'), core: this.macOf('t-proxy-rc') };
  }

  private openBuilder(): { close(): void } {
    const compiled = compileBpf('test/bpf/support/programs/built.bpf.c');
    const object = openBpfObject(compiled.path);
    const at = { ifindex: this.index('lo'), direction: 'ingress', netns: this.r, first: true } as const;
    const link = attachTcx({ program: object.program('built'), ...at });
    compiled.remove();
    return { close: () => [link, object].forEach((each) => each.close()) };
  }

  private index(name: string): number {
    return this.r.run(() => interfaceIndex(name));
  }

  attach(): void {
    this.links = ['t-proxy-rh', 't-proxy-rc', 'lo'].map((name) =>
      attachTcx({
        program: this.proxy.object.program(PROXY_PROGRAM),
        ifindex: this.index(name),
        direction: 'ingress',
        pinPath: join(this.pins, `link-${name}`),
        netns: this.r,
      }),
    );
  }

  /** What the end of the process leaves: pins only. */
  stop(): void {
    this.links.forEach((link) => link.close());
    this.proxy.close();
  }

  start(): void {
    this.proxy = new ProxyUnderTest(this.compiled.path, { pinDir: this.pins, learning: CHECKED });
    this.attach();
  }

  private capture(netns: Netns, name: string, into: Uint8Array[]): PacketSocket {
    return openPacketSocket(
      { interface: name, netns, receiveBuffer: 64 << 20 },
      {
        poller: this.poller,
        onError: (error) => void this.errors.push(error),
        onFrame: (frame) => {
          const ip = frame.slice(14);
          // Where an IPv4 packet has its protocol, an ARP message has an octet of a MAC address.
          if (frame[12] === 8 && frame[13] === 6) return;
          const next = ip[0]! >> 4 === 6 ? ip[6] : ip[9];
          // UDP, a Fast CNP, a Long-haul CNP in ICMPv6.
          if (next === 17 || next === 60 || (next === 58 && ip[40] === 200)) into.push(ip);
        },
      },
    );
  }

  private macOf(name: string): Uint8Array {
    const socket = openPacketSocket(
      { interface: name, netns: this.r },
      { poller: this.poller, onFrame: () => {}, onError: () => {} },
    );
    socket.close();
    return socket.mac;
  }

  private frame(to: Uint8Array, from: Uint8Array, packet: Uint8Array): Uint8Array {
    return Uint8Array.of(...to, ...from, ...(packet[0]! >> 4 === 6 ? [0x86, 0xdd] : [8, 0]), ...packet);
  }

  coreFrame(packet: Uint8Array): Uint8Array {
    return this.frame(this.macs.core, this.core.mac, packet);
  }

  fromHost(packet: Uint8Array): void {
    this.host.send(this.frame(this.macs.host, this.host.mac, packet));
  }

  fromCore(packet: Uint8Array): void {
    this.core.send(this.coreFrame(packet));
  }

  /** By a trunk, in a VLAN. */
  fromCoreTagged(packet: Uint8Array, vlan: number): void {
    const frame = this.coreFrame(packet);
    this.core.send(Uint8Array.of(...frame.subarray(0, 12), 0x81, 0, vlan >> 8, vlan & 255, ...frame.subarray(12)));
  }

  /** As a notice that this router has built itself, on its loopback interface. */
  onLoopback(packet: Uint8Array): void {
    this.builder ??= this.openBuilder();
    this.lo.send(this.frame(new Uint8Array(6), new Uint8Array(6), packet));
  }

  /** The Queue Pairs for which CNPs arrived at h. */
  notified(): number[] {
    return cnpsAmong(this.atHost).map(({ bth }) => bth.destQpn);
  }

  counted(name: string): bigint {
    return this.proxy.counters().get(name) ?? 0n;
  }

  /** Waits until the program has seen everything that was sent before. */
  async seen(): Promise<void> {
    const before = this.counted('proxy.notice.qp-unknown');
    this.fromCore(notice(data({ from: A, to: B, qpn: 0xeee, psn: 1 })));
    await until('a notice about nothing is refused', () => this.counted('proxy.notice.qp-unknown'), moreThan(before));
  }

  close(): void {
    this.builder?.close();
    for (const socket of [this.host, this.core, this.lo]) socket.close();
    this.stop();
    this.poller.close();
    for (const netns of [this.h, this.r, this.c]) netns.close();
    unmountBpffs(this.pins);
    this.compiled.remove();
    rmSync(this.directory, { recursive: true });
  }
}
