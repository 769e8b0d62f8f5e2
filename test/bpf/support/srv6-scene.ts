// A provider edge for the SRv6 tests: two customer ports and a core port, real H.Encaps and seg6local routes, and a
// namespace around it that sends and captures frames at the far ends.
//
//   outside [t-srv6-h1] ──── [t-srv6-c1] pe [t-srv6-core] ──── [t-srv6-p] outside
//   outside [t-srv6-h2] ──── [t-srv6-c2]
import { writeFileSync } from 'node:fs';
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { u32Key } from '../../../src/kernel/dataplane/layout.ts';
import {
  FLAG,
  SRV6_MAPS,
  SRV6_PROGRAMS,
  type SidEntry,
  type Srv6Config,
  addressKey,
  encodeSid,
  encodeSrv6Config,
  tunnelKey,
} from '../../../src/kernel/dataplane/srv6.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { Rtnetlink } from '../../../src/kernel/netlink/rtnetlink.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { address } from '../../../src/model/address.ts';
import { prefix } from '../../../src/model/prefix.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { ip } from '../../support/netns.ts';
import { object } from './congested-router.ts';
import { clearCounters, countOf } from './counters.ts';
import { frame } from './packets.ts';

/** The source of this router's tunnels before the program changes it: its loopback address. */
export const LOOPBACK = address('2001:db8:ffff::1');
export const CON_A = address('2001:db8:c0a::1');
export const CON_B = address('2001:db8:c0b::1');
/** A SID that another program configured: `End.DT6 table 254`. */
export const SID_DT6 = address('2001:db8:d6::1');
/** The far provider edge and a transit node. */
export const REMOTE = address('2001:db8:e2::1');
export const TRANSIT = address('2001:db8:e3::1');

const MAC = {
  c1: Uint8Array.of(2, 0, 0, 0, 3, 1),
  h1: Uint8Array.of(2, 0, 0, 0, 3, 2),
  c2: Uint8Array.of(2, 0, 0, 0, 4, 1),
  h2: Uint8Array.of(2, 0, 0, 0, 4, 2),
  core: Uint8Array.of(2, 0, 0, 0, 5, 1),
  p: Uint8Array.of(2, 0, 0, 0, 5, 2),
};
const LINKS = [
  ['t-srv6-c1', 't-srv6-h1', MAC.c1, MAC.h1],
  ['t-srv6-c2', 't-srv6-h2', MAC.c2, MAC.h2],
  ['t-srv6-core', 't-srv6-p', MAC.core, MAC.p],
] as const;
const FAR = {
  h1: ['t-srv6-h1', MAC.c1, MAC.h1],
  h2: ['t-srv6-h2', MAC.c2, MAC.h2],
  p: ['t-srv6-p', MAC.core, MAC.p],
} as const;
type FarEnd = keyof typeof FAR;

/** Without policy routing by name the kernel still looks up any table number. */
export const TABLE = 77;

export class ProviderEdge {
  readonly netns = Netns.create();
  readonly outside = Netns.create();
  readonly srv6: BpfObject;
  readonly rtnl: Rtnetlink;
  readonly captured: Record<FarEnd, Uint8Array[]> = { h1: [], h2: [], p: [] };
  readonly ifindex: Record<'core' | 'c1' | 'c2', number> = { core: 0, c1: 0, c2: 0 };
  private readonly poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  private readonly sockets = new Map<FarEnd, PacketSocket>();
  private readonly links: TcxLink[] = [];

  private constructor() {
    this.rtnl = Rtnetlink.open({ netns: this.netns }, { poller: this.poller });
    this.srv6 = openBpfObject(object('srv6'));
  }

  static async create(): Promise<ProviderEdge> {
    const built = new ProviderEdge();
    try {
      await built.build();
      return built;
    } catch (error) {
      built.close();
      throw error;
    }
  }

  /**
   * The same as the end of tunnels: the programs of the exit, SIDs of the kernel's own, and a table beside main that
   * knows one customer, behind the other port.
   */
  static async atExit(): Promise<ProviderEdge> {
    const pe = await ProviderEdge.create();
    pe.attach('decap');
    pe.seg6local('2001:db8:c0a::1', 'End.DT6 table 254');
    pe.seg6local('2001:db8:d6::1', 'End.DT6 table 254');
    ip(pe.netns, `-6 route add 2001:db8:3::/64 dev t-srv6-c2 table ${TABLE}`);
    ip(pe.netns, `route add 10.3.0.0/24 dev t-srv6-c2 table ${TABLE}`);
    return pe;
  }

  private async build(): Promise<void> {
    const { rtnl } = this;
    for (const netns of [this.netns, this.outside])
      for (const [name, value] of SYSCTLS) netns.run(() => writeFileSync(`/proc/sys/net/${name}`, value));
    await rtnl.setLink('lo', { up: true });
    const far = Rtnetlink.open({ netns: this.outside }, { poller: this.poller });
    for (const [near, peer, mac, peerMac] of LINKS) {
      await rtnl.createVeth({
        name: near,
        mtu: 9000,
        mac,
        peer: { name: peer, mtu: 9000, mac: peerMac, netns: this.outside },
      });
      await rtnl.setLink(near, { up: true });
      await far.setLink(peer, { up: true });
      this.ifindex[near.slice('t-srv6-'.length) as 'core'] = (await rtnl.link(near))!.ifindex;
    }
    far.close();
    await this.addressing();
    for (const [end, [name]] of Object.entries(FAR) as [FarEnd, (typeof FAR)[FarEnd]][]) {
      const onFrame = (f: Uint8Array): void => void this.captured[end].push(f.slice());
      const modules = {
        poller: this.poller,
        onFrame,
        onError: (error: Error): void => {
          throw error;
        },
      };
      this.sockets.set(
        end,
        openPacketSocket({ interface: name, netns: this.outside, promiscuous: true, receiveBuffer: 64 << 20 }, modules),
      );
    }
    this.configure({});
    this.localSource(LOOPBACK);
  }

  private async addressing(): Promise<void> {
    const { rtnl } = this;
    await rtnl.addAddress('lo', LOOPBACK, 128, { nodad: true });
    for (const [port, net, mac] of [
      ['t-srv6-c1', 1, MAC.h1],
      ['t-srv6-c2', 3, MAC.h2],
      ['t-srv6-core', 9, MAC.p],
    ] as const) {
      await rtnl.addAddress(port, address(`2001:db8:${net}::1`), 64, { nodad: true });
      await rtnl.addAddress(port, address(`10.${net}.0.1`), 24);
      await rtnl.setNeighbor(port, address(`2001:db8:${net}::10`), mac);
      await rtnl.setNeighbor(port, address(`10.${net}.0.10`), mac);
    }
    for (const to of [REMOTE, TRANSIT]) await this.route(to, '2001:db8:9::10');
    ip(this.netns, 'sr tunsrc set 2001:db8:ffff::1');
  }

  private route(to: typeof REMOTE, via: string): Promise<void> {
    return this.rtnl.addRoute({ destination: { address: to, length: 128 }, gateway: address(via), protocol: 4 });
  }

  /**
   * Traffic to this prefix goes into a tunnel to the far provider edge: with an SRH (two segments) or, reduced, without
   * one.
   */
  encapsulate(to: string, mode: 'srh' | 'reduced', options = ''): void {
    const segments = mode === 'srh' ? '2001:db8:e3::1,2001:db8:e2::1' : '2001:db8:e2::1';
    const family = to.includes(':') ? '-6 ' : '';
    ip(
      this.netns,
      `${family}route replace ${to} encap seg6 mode ${mode === 'srh' ? 'encap' : 'encap.red'} segs ` +
        `${segments}${options} dev t-srv6-core`,
    );
  }

  /** A seg6local route as a routing daemon or an operator installs it. */
  seg6local(sid: string, action: string): void {
    ip(this.netns, `-6 route replace ${sid}/128 encap seg6local action ${action} dev t-srv6-core proto static`);
  }

  sysctl(name: string, value: string): void {
    this.netns.run(() => writeFileSync(`/proc/sys/net/${name}`, value));
  }

  mtu(name: string, mtu: number): void {
    ip(this.netns, `link set ${name} mtu ${mtu}`);
  }

  attach(...programs: (keyof typeof SRV6_PROGRAMS)[]): void {
    for (const program of programs) {
      const direction = program === 'encap' ? 'egress' : 'ingress';
      this.links.push(
        attachTcx({
          program: this.srv6.program(SRV6_PROGRAMS[program]),
          ifindex: this.ifindex.core,
          direction,
          netns: this.netns,
          first: true,
        }),
      );
    }
  }

  detach(): void {
    for (const link of this.links.splice(0)) link.detach();
  }

  configure(config: Partial<Srv6Config>): void {
    const whole: Srv6Config = {
      defaultSource: CON_A,
      hasRows: false,
      ecnMode: 'normal',
      dscp: { kind: 'pipe', outerDscp: null },
      sharedIngress: false,
      ...config,
    };
    this.srv6.map(SRV6_MAPS.config).update(u32Key(0), encodeSrv6Config(whole));
  }

  localSource(a: typeof LOOPBACK): void {
    this.srv6.map(SRV6_MAPS.localSources).update(addressKey(a), FLAG);
  }

  tunnelSource(ingressIfindex: number, sender: string, sid: typeof CON_A): void {
    this.srv6.map(SRV6_MAPS.tunnelSources).update(tunnelKey(ingressIfindex, prefix(sender)), addressKey(sid));
  }

  sid(sid: typeof CON_A, entry: Partial<SidEntry> = {}): void {
    this.srv6.map(SRV6_MAPS.sids).update(
      addressKey(sid),
      encodeSid({
        families: [4, 6],
        endCon: true,
        decapsulate: true,
        table: 0,
        ownRoute: entry.endCon ?? true,
        ...entry,
      }),
    );
  }

  /** An IP packet arrives at the provider edge. */
  arrive(from: FarEnd, packet: Uint8Array, tags: readonly (readonly [number, number])[] = []): void {
    const [, to, mac] = FAR[from];
    this.sockets.get(from)!.send(frame(packet, { macs: concat(to, mac), tags }));
  }

  /** A frame as it arrives at the core port, for test runs. */
  coreFrame(packet: Uint8Array): Uint8Array {
    return frame(packet, { macs: concat(MAC.core, MAC.p) });
  }

  count(name: string): number {
    return countOf(this.srv6, name);
  }

  clear(): void {
    for (const frames of Object.values(this.captured)) frames.length = 0;
    for (const name of [SRV6_MAPS.tunnelSources, SRV6_MAPS.sids])
      for (const key of [...this.srv6.map(name).keys()]) this.srv6.map(name).delete(key);
    clearCounters(this.srv6);
  }

  close(): void {
    for (const link of this.links) link.close();
    for (const socket of this.sockets.values()) socket.close();
    this.srv6.close();
    this.rtnl.close();
    this.poller.close();
    this.netns.close();
    this.outside.close();
  }
}

const SYSCTLS: readonly (readonly [string, string])[] = [
  ['ipv6/conf/all/forwarding', '1'],
  ['ipv4/conf/all/forwarding', '1'],
  ['ipv4/conf/all/rp_filter', '0'],
  ['ipv4/conf/default/rp_filter', '0'],
  ['ipv6/conf/default/dad_transmits', '0'],
  ['ipv6/conf/default/accept_dad', '0'],
  ['ipv6/conf/all/seg6_enabled', '1'],
  ['ipv6/conf/default/seg6_enabled', '1'],
];

/** The traffic class of an IP packet. */
export const trafficClass = (packet: Uint8Array): number =>
  packet[0]! >> 4 === 6 ? ((packet[0]! & 15) << 4) | (packet[1]! >> 4) : packet[1]!;
