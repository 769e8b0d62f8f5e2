// The programs of precise flow control, as the tests drive them packet by packet: where it arrives, where it leaves,
// and what the agent hears. The ports are those of a namespace. What the queue of `t-fc-out` has stays there.
import { type BpfObject, openBpfObject } from '../../../src/kernel/bpf/object.ts';
import type { RingBufferReader } from '../../../src/kernel/bpf/ring-buffer.ts';
import {
  FLOW_CONTROL_KEY,
  FLOW_CONTROL_MAPS,
  FLOW_CONTROL_PROGRAMS,
  type FlowControlConfig,
  encodeFlowControlConfig,
} from '../../../src/kernel/dataplane/flow-control.ts';
import { interfaceIndex } from '../../../src/kernel/ffi/libc.ts';
import { Netns } from '../../../src/kernel/netns.ts';
import { openPacketSocket } from '../../../src/kernel/packet-socket.ts';
import { Poller } from '../../../src/kernel/poller.ts';
import type { FilledQueue, HeldTraffic, Traffic } from '../../../src/model/flow-control.ts';
import { FlowControl } from '../../../src/reconcile/flow-control.ts';
import { HoldPortTable } from '../../../src/reconcile/hold-port-table.ts';
import { HoldPorts } from '../../../src/reconcile/hold-ports.ts';
import { HoldTable } from '../../../src/reconcile/hold-table.ts';
import { inNetns, ipLines, untilCarried } from '../../support/netns.ts';
import { object } from './congested-router.ts';
import { clearCounters, countOf } from './counters.ts';
import { NEXT, context, data, frame } from './packets.ts';

const DEVICES = ['t-fc-in', 't-fc-beside', 't-fc-out', 't-fc-bare'] as const;
type Device = (typeof DEVICES)[number];
/** Frames in the queue of `t-fc-out`, after the one that its TBF lets out. */
const QUEUED = 8;
const PRIORITY = 32;

/** DSCP 0 … 7 is priority 0, 8 … 15 priority 1, and so on. */
export const PRIORITIES = Array.from({ length: 64 }, (_, dscp) => dscp >> 3);
export const CONFIG = {
  mode: 'service',
  intervalNs: 3_600_000_000_000,
  perSecond: 1000,
  burst: 1000,
  priorities: PRIORITIES,
} as const satisfies FlowControlConfig;

/** The packet with this DSCP in its outermost header. An IPv4 checksum is then wrong; programs do not look at it. */
export function withDscp(packet: Uint8Array, dscp: number): Uint8Array {
  const bytes = packet.slice();
  const trafficClass = dscp << 2;
  if (bytes[0]! >> 4 === 4) bytes[1] = trafficClass;
  else [bytes[0], bytes[1]] = [0x60 | (trafficClass >> 4), (trafficClass & 15) << 4];
  return bytes;
}

export class FlowControlUnderTest {
  readonly netns = Netns.create();
  readonly object: BpfObject = openBpfObject(object('hold'));
  readonly table = new HoldTable(this.object);
  readonly portTable = new HoldPortTable(this.object);
  readonly ports = HoldPorts.open({ netns: this.netns }, { table: this.portTable });
  readonly flowControl: FlowControl;
  readonly ifindex: Readonly<Record<Device, number>>;
  /** Bytes in the queue of `t-fc-out`. */
  queued = 0;
  readonly #poller: Poller;
  readonly #reader: RingBufferReader;
  readonly #filled: FilledQueue[] = [];

  private constructor() {
    const { netns, object: opened, table, portTable, ports } = this;
    // The kernel's own packets would add to the queue.
    inNetns(netns, 'sysctl', '-qw', 'net.ipv6.conf.default.disable_ipv6=1');
    ipLines(
      netns,
      DEVICES.map(
        (name) => `link add ${name} type veth peer name ${name}-far\nlink set ${name} up\nlink set ${name}-far up`,
      ).join('\n'),
    );
    this.ifindex = Object.fromEntries(DEVICES.map((name) => [name, netns.run(() => interfaceIndex(name))])) as Record<
      Device,
      number
    >;
    this.#poller = Poller.open({
      onError: (error) => {
        throw error;
      },
    });
    this.flowControl = FlowControl.open(opened, { netns }, { ports, table, portTable, count: () => {} });
    this.#reader = this.flowControl.onFilled((filled) => void this.#filled.push(filled), { poller: this.#poller });
  }

  static async create(): Promise<FlowControlUnderTest> {
    const created = new FlowControlUnderTest();
    try {
      await untilCarried(created.netns, ...DEVICES);
      created.#fill();
      created.queued = created.flowControl.queueBytes(created.ifindex['t-fc-out']);
      return created;
    } catch (error) {
      created.close();
      throw error;
    }
  }

  #fill(): void {
    inNetns(this.netns, 'tc', ...'qdisc add dev t-fc-out root tbf rate 8bit burst 1600 limit 1000000'.split(' '));
    const socket = openPacketSocket(
      { interface: 't-fc-out', netns: this.netns },
      { poller: this.#poller, onFrame: () => {}, onError: () => {} },
    );
    for (let i = 0; i <= QUEUED; i++) socket.send(frame(data()));
    socket.close();
  }

  /** As when nothing was held or told, and no packet had come; `t-fc-out` is watched, and its queue is above that. */
  clear(config: Partial<FlowControlConfig> = {}): void {
    for (const { flow } of this.table.read()) this.table.remove(flow);
    for (const name of ['arrivals', 'told', 'shares', 'ways', 'largest'].map((map) => `flow_control_${map}`))
      for (const key of [...this.object.map(name).keys()]) this.object.map(name).delete(key);
    this.object.map('flow_control_bucket').update(FLOW_CONTROL_KEY, new Uint8Array(8));
    this.configure(config);
    for (const ifindex of Object.values(this.ifindex)) this.portTable.removePort(ifindex);
    this.portTable.setWatched(new Map([[this.ifindex['t-fc-out'], this.queued - 1]]));
    this.reports();
    clearCounters(this.object);
  }

  configure(config: Partial<FlowControlConfig>): void {
    this.object
      .map(FLOW_CONTROL_MAPS.config)
      .update(FLOW_CONTROL_KEY, encodeFlowControlConfig({ ...CONFIG, ...config }));
  }

  arrive(bytes: Uint8Array, at: Device = 't-fc-in'): void {
    this.#run(FLOW_CONTROL_PROGRAMS.arrival, bytes, { at, from: at });
  }

  /** The class that it goes into; 0: it goes straight. @param from where it arrived */
  leave(bytes: Uint8Array, at: Device = 't-fc-out', from: Device = 't-fc-in'): number {
    return this.#run(FLOW_CONTROL_PROGRAMS.egress, bytes, { at, from });
  }

  /** As leave(), of a packet that this router has made. */
  send(bytes: Uint8Array): number {
    return this.#run(FLOW_CONTROL_PROGRAMS.egress, bytes, { at: 't-fc-out' });
  }

  /** A packet that arrives and leaves, as it is on either link. Returns what the agent hears of it. */
  pass(arrives: Uint8Array, leaves = arrives): FilledQueue[] {
    this.arrive(arrives);
    this.leave(leaves);
    return this.reports();
  }

  #run(name: string, bytes: Uint8Array, { at, from }: { at: Device; from?: Device }): number {
    const ctx = context({ ifindex: this.ifindex[at], ingress: from ? this.ifindex[from] : 0 });
    const ran = this.object.program(name).testRun({ data: bytes, ctx, netns: this.netns });
    if (ran.retval !== NEXT) throw new Error(`the program returned ${ran.retval}`);
    if (Buffer.compare(ran.data, bytes) !== 0) throw new Error('the program changed the packet');
    return new DataView(ran.ctx!.buffer, ran.ctx!.byteOffset).getUint32(PRIORITY, true);
  }

  /** What the agent has heard since the last call. */
  reports(): FilledQueue[] {
    this.#reader.drain();
    return this.#filled.splice(0);
  }

  /** The next packet from `t-fc-in` that finds the queue of `t-fc-out`, or a class there, filled is reported. */
  forget(traffic: Traffic, reason: FilledQueue['reason']): void {
    const { 't-fc-in': ingress, 't-fc-out': egress } = this.ifindex;
    this.flowControl.forget({ traffic, ingress, egress, reason });
  }

  /** Gives the port classes, and holds traffic in one of them for the next hour. */
  hold(held: HeldTraffic, slot = 1, untilNs = process.hrtime.bigint() + 3_600_000_000_000n): void {
    this.portTable.setPort(held.egress, 0x6e70_0000);
    this.flowControl.classes.setHold(slot, held, { phase: 'held', drained: 0n, untilNs });
  }

  count(name: string): number {
    return countOf(this.object, name);
  }

  close(): void {
    this.flowControl.close();
    this.ports.close();
    this.object.close();
    this.#poller.close();
    this.netns.close();
  }
}
