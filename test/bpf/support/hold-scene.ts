// A router that forwards what arrives at its port `t-hold-up` to two ports at which flows or other traffic are held.
// What these send is read where they hand it to the wire. The far end of a veth may see another order: each CPU has a
// queue of what it has sent there. For the same reason, what arrives at `t-hold-up` is steered to one CPU.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { TcxLink } from '../../../src/kernel/bpf/tc-attachment.ts';
import { attachTcx } from '../../../src/kernel/bpf/tcx.ts';
import { FLOW_CONTROL_PROGRAMS } from '../../../src/kernel/dataplane/flow-control.ts';
import { HOLD_PROGRAM, type HoldPurpose } from '../../../src/kernel/dataplane/holds.ts';
import type { HeldFlow } from '../../../src/kernel/dataplane/hold-key.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { type PacketSocket, openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import { address } from '../../../src/model/address.ts';
import { HoldPorts } from '../../../src/reconcile/hold-ports.ts';
import { HoldPortTable } from '../../../src/reconcile/hold-port-table.ts';
import { HoldTable, type NewHold } from '../../../src/reconcile/hold-table.ts';
import { inNetns, ip, untilCarried } from '../../support/netns.ts';
import { object } from './congested-router.ts';
import { H1, data, frame } from './packets.ts';

export type HoldPort = 't-hold-a' | 't-hold-b';
/** By the port that leads there. */
export const RECEIVER = { 't-hold-a': address('2001:db8:2::20'), 't-hold-b': address('2001:db8:3::20') } as const;
const PREFIX = { 't-hold-a': '2001:db8:2::/64', 't-hold-b': '2001:db8:3::/64' } as const;
const PORTS = Object.keys(RECEIVER) as HoldPort[];
const UP = 't-hold-up';
const MACS = Uint8Array.of(2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2);
const [NEXT_HEADER, IPV6_LENGTH, IPV6] = [14 + 6, 40, 41];
const BTH = 14 + IPV6_LENGTH + 8;

interface Arrival {
  readonly port: HoldPort;
  readonly qpn: number;
  readonly psn: number;
  /** process.hrtime. */
  readonly at: bigint;
}

export class HoldScene {
  readonly poller: Poller;
  readonly router = Netns.create();
  readonly far = Netns.create();
  readonly object: BpfObject = openBpfObject(object('hold'));
  readonly table = new HoldTable(this.object);
  readonly portTable = new HoldPortTable(this.object);
  readonly ports = HoldPorts.open({ netns: this.router }, { table: this.portTable });
  readonly arrivals: Arrival[] = [];
  private source: PacketSocket | undefined;
  private readonly sockets: PacketSocket[] = [];
  private readonly links = new Map<HoldPort | typeof UP, TcxLink>();
  private readonly purpose: HoldPurpose;

  private constructor(purpose: HoldPurpose) {
    this.purpose = purpose;
    this.poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
  }

  /** @param purpose which programs run at the ports, and of flow control at `t-hold-up` */
  static async create(purpose: HoldPurpose = 'enforce'): Promise<HoldScene> {
    const scene = new HoldScene(purpose);
    try {
      scene.#build();
      await untilCarried(scene.router, UP, ...PORTS);
      return scene;
    } catch (error) {
      scene.close();
      throw error;
    }
  }

  #build(): void {
    const { router, far } = this;
    inNetns(router, 'sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1', 'net.ipv6.conf.default.accept_dad=0');
    for (const name of [UP, ...PORTS]) {
      ip(router, `link add ${name} address 02:00:00:00:00:01 type veth peer name far-${name} netns ${far.path}`);
      ip(far, `link set far-${name} up`);
      ip(router, `link set ${name} up`);
    }
    for (const [i, port] of PORTS.entries()) {
      ip(router, `addr add 2001:db8:f${i}::1/64 dev ${port} nodad`);
      ip(router, `neigh add 2001:db8:f${i}::2 lladdr 02:00:00:00:00:03 dev ${port} nud permanent`);
      ip(router, `-6 route add ${PREFIX[port]} via 2001:db8:f${i}::2`);
      this.#attach(this.purpose === 'enforce' ? HOLD_PROGRAM : FLOW_CONTROL_PROGRAMS.egress, port, 'egress');
      this.#watch(port);
    }
    if (this.purpose === 'flow-control') this.#attach(FLOW_CONTROL_PROGRAMS.arrival, UP, 'ingress');
    const steer = `mount -t sysfs none /sys && echo 1 > /sys/class/net/${UP}/queues/rx-0/rps_cpus`;
    inNetns(router, 'unshare', '-m', 'sh', '-c', steer);
    this.source = this.#open({ interface: `far-${UP}`, netns: far }, () => {});
  }

  #attach(name: string, port: HoldPort | typeof UP, direction: 'ingress' | 'egress'): void {
    const program = this.object.program(name);
    this.links.set(port, attachTcx({ program, ifindex: this.ifindex(port), direction, netns: this.router }));
  }

  #watch(port: HoldPort): void {
    this.#open({ interface: port, netns: this.router, outgoing: true }, (bytes, outgoing) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      // Neighbor discovery goes by as well.
      const bth = bytes[NEXT_HEADER] === IPV6 ? BTH + IPV6_LENGTH : BTH;
      if (!outgoing || bytes.length < bth + 12 || view.getUint16(bth - 6) !== 4791) return;
      const [qpn, psn] = [4, 8].map((offset) => view.getUint32(bth + offset) & 0xffffff) as [number, number];
      this.arrivals.push({ port, qpn, psn, at: process.hrtime.bigint() });
    });
  }

  #open(
    opts: { interface: string; netns: Netns; outgoing?: boolean },
    onFrame: (bytes: Uint8Array, outgoing: boolean) => void,
  ): PacketSocket {
    const onError = (): void => {}; // a test deletes a port
    const socket = openPacketSocket({ ...opts, receiveBuffer: 64 << 20 }, { poller: this.poller, onFrame, onError });
    this.sockets.push(socket);
    return socket;
  }

  ifindex(port: HoldPort | typeof UP): number {
    return this.router.run(() => interfaceIndex(port));
  }

  /** Lets a data packet arrive that leaves by the port. */
  send(opts: { psn: number; qpn?: number; size?: number }, port: HoldPort = 't-hold-a'): void {
    this.sendPacket(data({ source: H1, destination: RECEIVER[port], ...opts }));
  }

  /** Lets any packet arrive; `tags` as frame() has them. */
  sendPacket(packet: Uint8Array, tags: readonly (readonly [number, number])[] = []): void {
    this.source!.send(frame(packet, { macs: MACS, tags }));
  }

  /** PSNs of a Queue Pair in the order of their arrival. */
  psns(qpn: number): number[] {
    return this.arrivals.filter((arrival) => arrival.qpn === qpn).map(({ psn }) => psn);
  }

  /** What tc(8) prints in the router. */
  tc(line: string): string {
    return inNetns(this.router, 'tc', ...line.split(' '));
  }

  /** Takes the program off a port. */
  detach(port: HoldPort): void {
    this.links.get(port)!.detach();
  }

  /** Lets the flow leave: hands on what has left its class. Returns whether the program has found the class empty. */
  async leave(flow: HeldFlow, hold: NewHold): Promise<boolean> {
    const { sent, dropped } = await this.ports.classCounters(hold.minor);
    this.table.set(flow, { ...hold, phase: 'leaving', drained: sent + dropped });
    return this.table.record(flow)!.released;
  }

  close(): void {
    for (const link of this.links.values()) link.close();
    for (const socket of this.sockets) socket.close();
    this.ports.close();
    this.object.close();
    this.poller.close();
    this.router.close();
    this.far.close();
  }
}
