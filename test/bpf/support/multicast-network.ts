// The network of a group's router in the tests: a core port, two ports with receivers, and a namespace around it that
// sends and captures frames at the far ends. `t-mc-mc` stands for cnpd-mc, the end of the root's encapsulating route.
//
//   outside [t-mc-p] ──── [t-mc-core] router [t-mc-c1] ──── [t-mc-h1] outside
//                        [t-mc-mc]           [t-mc-c2] ──── [t-mc-h2]
import { writeFileSync } from 'node:fs';
import { addressKey } from '../../../src/kernel/dataplane/srv6.ts';
import { KernelError } from '../../../src/kernel/errors.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { Rtnetlink } from '../../../src/kernel/netlink/rtnetlink.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { address } from '../../../src/model/address.ts';
import { concat } from '../../../src/packet/bytes.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { parseRocePacket } from '../../../src/packet/roce/packet.ts';
import { ip } from '../../support/netns.ts';
import { until } from '../../support/until.ts';
import { RECEIVERS, receiverAddress } from './multicast-branches.ts';
import { PROXY } from './multicast-packets.ts';
import { data, frame } from './packets.ts';

const MAC = {
  core: Uint8Array.of(2, 0, 0, 0, 6, 1),
  p: Uint8Array.of(2, 0, 0, 0, 6, 2),
  c1: Uint8Array.of(2, 0, 0, 0, 7, 1),
  h1: Uint8Array.of(2, 0, 0, 0, 7, 2),
  c2: Uint8Array.of(2, 0, 0, 0, 8, 1),
  h2: Uint8Array.of(2, 0, 0, 0, 8, 2),
  mc: Uint8Array.of(2, 0, 0, 0, 9, 1),
  mcp: Uint8Array.of(2, 0, 0, 0, 9, 2),
};
const ENOBUFS = 105;
const FAR = { p: 'core', h1: 'c1', h2: 'c2' } as const;
type FarEnd = keyof typeof FAR;
const FAR_ENDS = Object.keys(FAR) as FarEnd[];
const SUBNET = { core: 9, c1: 1, c2: 2 } as const;

/** Queue Pair of the packet that shows that all before it has passed. */
const SENTINEL = 0xfffff0;
const SENTINEL_TO = {
  p: address('2001:db8:c00::99'),
  h1: address('2001:db8:1::10'),
  h2: address('2001:db8:2::10'),
} as const;

export type Left = Readonly<Record<FarEnd, Uint8Array[]>>;

/** As text, in an order of their own: copies leave in any. */
export const sorted = (packets: readonly Uint8Array[]): string[] => packets.map(toHex).sort();

export class MulticastNetwork {
  readonly netns = Netns.create();
  readonly outside = Netns.create();
  readonly ifindex = { core: 0, c1: 0, c2: 0, mc: 0 };
  readonly #rtnl: Rtnetlink;
  readonly #captured: Record<FarEnd, Uint8Array[]> = { p: [], h1: [], h2: [] };
  readonly #poller = Poller.open({
    onError: (error) => {
      throw error;
    },
  });
  readonly #sockets = new Map<FarEnd | 'mc', PacketSocket>();

  constructor() {
    this.#rtnl = Rtnetlink.open({ netns: this.netns }, { poller: this.#poller });
  }

  async build(): Promise<void> {
    for (const netns of [this.netns, this.outside])
      for (const [name, value] of SYSCTLS) netns.run(() => writeFileSync(`/proc/sys/net/${name}`, value));
    await this.#rtnl.setLink('lo', { up: true });
    const far = Rtnetlink.open({ netns: this.outside }, { poller: this.#poller });
    for (const [end, near] of Object.entries({ ...FAR, mcp: 'mc' } as const) as [keyof typeof MAC, 'core'][]) {
      const peer = { name: `t-mc-${end}`, mtu: 9000, mac: MAC[end], netns: this.outside };
      await this.#rtnl.createVeth({ name: `t-mc-${near}`, mtu: 9000, mac: MAC[near], peer });
      await this.#rtnl.setLink(`t-mc-${near}`, { up: true });
      await far.setLink(`t-mc-${end}`, { up: true });
      this.ifindex[near] = (await this.#rtnl.link(`t-mc-${near}`))!.ifindex;
    }
    far.close();
    await this.#addressing();
    for (const end of FAR_ENDS) this.#listen(end, `t-mc-${end}`, this.outside);
    this.#listen('mc', 't-mc-mc', this.netns);
  }

  #listen(end: FarEnd | 'mc', name: string, netns: Netns): void {
    const onFrame = (f: Uint8Array): void => void (end !== 'mc' && this.#captured[end].push(f.slice()));
    const onError = (error: Error): void => {
      throw error;
    };
    this.#sockets.set(
      end,
      openPacketSocket(
        { interface: name, netns, promiscuous: true, receiveBuffer: 64 << 20 },
        { poller: this.#poller, onFrame, onError },
      ),
    );
  }

  async #addressing(): Promise<void> {
    for (const [far, near] of Object.entries(FAR) as [FarEnd, 'core' | 'c1' | 'c2'][]) {
      const net = SUBNET[near];
      await this.#rtnl.addAddress(`t-mc-${near}`, address(`2001:db8:${net}::1`), 64, { nodad: true });
      await this.#rtnl.setNeighbor(`t-mc-${near}`, address(`2001:db8:${net}::10`), MAC[far]);
    }
    for (let n = 0; n < RECEIVERS; n++)
      await this.#rtnl.setNeighbor(
        n % 2 === 0 ? 't-mc-c1' : 't-mc-c2',
        receiverAddress(n),
        n % 2 === 0 ? MAC.h1 : MAC.h2,
      );
    await this.#rtnl.addRoute({
      destination: { address: address('2001:db8:c00::'), length: 40 },
      gateway: address('2001:db8:9::10'),
      protocol: 4,
    });
  }

  ip(command: string): string {
    return ip(this.netns, command);
  }

  /** An IP packet arrives at a port. */
  arrive(from: FarEnd, packet: Uint8Array, tags: readonly (readonly [number, number])[] = []): void {
    this.#sockets.get(from)!.send(frame(packet, { macs: concat(MAC[FAR[from]], MAC[from]), tags }));
  }

  /** The kernel's route sends an encapsulated packet to the end of the root's encapsulating route. */
  leaveAtRoot(packet: Uint8Array): void {
    try {
      this.#sockets.get('mc')!.send(frame(packet, { macs: concat(MAC.mcp, MAC.mc) }));
    } catch (error) {
      // What the program drops at egress is an error for a local sender.
      if (!(error instanceof KernelError && error.errno === ENOBUFS)) throw error;
    }
  }

  /** What leaves at the far ends between now and a packet behind all that `send` sends. */
  async exchange(send: () => void): Promise<Left> {
    for (const end of FAR_ENDS) this.#captured[end].length = 0;
    send();
    for (const end of FAR_ENDS)
      this.arrive('p', data({ source: address('2001:db8:c00::98'), destination: SENTINEL_TO[end], qpn: SENTINEL }));
    const packets = (end: FarEnd): Uint8Array[] => this.#captured[end].map((f) => f.subarray(14));
    await until(
      'the last packets',
      () => FAR_ENDS.map(packets),
      (all) => all.every((some) => some.some(isSentinel)),
      60_000,
    );
    const left = (end: FarEnd): Uint8Array[] => packets(end).filter((p) => !isSentinel(p) && isOfGroup(p));
    return { p: left('p'), h1: left('h1'), h2: left('h2') };
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#rtnl.close();
    this.#poller.close();
    this.netns.close();
    this.outside.close();
  }
}

function isSentinel(packet: Uint8Array): boolean {
  const parsed = parseRocePacket(packet);
  return parsed.ok && parsed.value.bth.destQpn === SENTINEL;
}

/** Tunnels, RoCEv2, and whatever else contains the Proxy Address: not the neighbor discovery of the kernels. */
const isOfGroup = (packet: Uint8Array): boolean =>
  packet[6] === 43 || packet[6] === 41 || parseRocePacket(packet).ok || includesProxy(packet);
const includesProxy = (packet: Uint8Array): boolean => Buffer.from(packet).includes(Buffer.from(addressKey(PROXY)));

const SYSCTLS: readonly (readonly [string, string])[] = [
  ['ipv6/conf/all/forwarding', '1'],
  ['ipv6/conf/default/dad_transmits', '0'],
  ['ipv6/conf/default/accept_dad', '0'],
];
