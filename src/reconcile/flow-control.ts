// Precise flow control in the kernel (FCN §4.1): what its machine asks for at any time. The programs, their
// configuration and the ports are the feature's (hold.ts).
import type { BpfObject } from '../kernel/bpf/object.ts';
import { type RingBufferReader, openRingBuffer } from '../kernel/bpf/ring-buffer.ts';
import { FLOW_CONTROL_MAPS, decodeFilledQueue, toldKey } from '../kernel/dataplane/flow-control.ts';
import { minorOf } from '../kernel/dataplane/holds.ts';
import { encodeHoldKey } from '../kernel/dataplane/hold-key.ts';
import { readRootQueue } from '../kernel/netlink/root-queue.ts';
import { SynchronousNetlink } from '../kernel/netlink/synchronous.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Poller } from '../kernel/poller.ts';
import type { FilledQueue, FillingTraffic, HeldBytes, HeldTraffic } from '../model/flow-control.ts';
import type { Count } from '../model/log.ts';
import { HoldClasses } from './hold-classes.ts';
import type { HoldPortTable } from './hold-port-table.ts';
import type { HoldPorts } from './hold-ports.ts';
import type { HoldTable } from './hold-table.ts';

/** Each may lead to a question to the kernel, and to an ARN. */
const RECORDS_A_WAKE_UP = 256;

interface FlowControlDependencies {
  readonly ports: HoldPorts;
  readonly table: HoldTable;
  readonly portTable: HoldPortTable;
  readonly count: Count;
}

export class FlowControl {
  /** Slots 1 … FLOW_CONTROL_SLOTS. Classes exist at the ports that hold traffic; a hold concerns one of them. */
  readonly classes: HoldClasses<HeldTraffic>;
  readonly #object: BpfObject;
  readonly #dependencies: FlowControlDependencies;
  readonly #netlink: SynchronousNetlink;
  readonly #readers = new Set<RingBufferReader>();
  readonly #occupied: OccupiedClasses;

  private constructor(object: BpfObject, dependencies: FlowControlDependencies, netlink: SynchronousNetlink) {
    this.#object = object;
    this.#dependencies = dependencies;
    this.#netlink = netlink;
    this.#occupied = new OccupiedClasses(dependencies);
    this.classes = this.#occupied;
  }

  /** Over an open hold.bpf.o. @throws KernelError */
  static open(
    object: BpfObject,
    opts: { readonly netns?: Netns | undefined },
    dependencies: FlowControlDependencies,
  ): FlowControl {
    return new FlowControl(object, dependencies, SynchronousNetlink.open(opts));
  }

  /** Indexes of the ports at which traffic can be held now. */
  ports(): number[] {
    const { ports } = this.#dependencies;
    return ports.ports.filter((ifindex) => ports.purposeAt(ifindex) === 'flow-control');
  }

  /**
   * Packets that enter the class of this traffic are reported as `held`, or are not any more. Returns false if it is
   * not held. A class is not full when it is given to traffic.
   * @throws KernelError
   */
  setFull(held: HeldTraffic, full: boolean): boolean {
    return this.#dependencies.table.setFull(held, full);
  }

  /**
   * Bytes in the classes at a port. A class that was given away counts until it is empty.
   * @throws KernelError
   */
  heldBytes(ifindex: number): Promise<HeldBytes> {
    return this.#occupied.bytes(ifindex);
  }

  /** Bytes that have entered classes at a port. @throws KernelError */
  enteredBytes(ifindex: number): bigint {
    return this.#dependencies.portTable.enteredBytes(ifindex);
  }

  /**
   * What is held at a port does not count as its queue: these bytes, and all that enter until the next call. The last
   * call for a port comes when its classes are empty.
   * @param enteredBefore enteredBytes(), read before heldBytes()
   * @throws KernelError
   */
  setPortHeld(ifindex: number, heldBytes: number, enteredBefore: bigint): void {
    this.#dependencies.portTable.setHeld(ifindex, BigInt(heldBytes), enteredBefore);
  }

  /** Bytes in the queue of a port, held ones included. @throws KernelError ENODEV, ENOENT (it has no queue) */
  queueBytes(ifindex: number): number {
    return readRootQueue(this.#netlink, ifindex);
  }

  /** The next packet of this traffic that finds this queue filled is reported at once. @throws KernelError */
  forget(filling: FillingTraffic): void {
    this.#object.map(FLOW_CONTROL_MAPS.told).delete(toldKey(filling));
  }

  /** Calls the listener with each packet that found a queue filled. The reader is closed with the feature. */
  onFilled(listener: (filled: FilledQueue) => void, { poller }: { readonly poller: Poller }): RingBufferReader {
    const reader = openRingBuffer(this.#object.map(FLOW_CONTROL_MAPS.records), {
      poller,
      // A ring that was kept has what filled queues while no agent ran. To pause a neighbor for that would be too late.
      onlyNew: true,
      recordsAWakeUp: RECORDS_A_WAKE_UP,
      onRecord: (data, offset, length) => {
        let filled: FilledQueue;
        try {
          filled = decodeFilledQueue(data, offset, length);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          this.#dependencies.count('flow-control.record-refused');
          return;
        }
        listener(filled);
      },
    });
    this.#readers.add(reader);
    return reader;
  }

  /** Releases descriptors. Idempotent. */
  close(): void {
    for (const reader of this.#readers) reader.close();
    this.#netlink.close();
  }
}

/** Remembers where packets may be: a class that was given away at one port still has those that had entered it. */
class OccupiedClasses extends HoldClasses<HeldTraffic> {
  readonly #ports: HoldPorts;
  /** By port: slot → whether traffic is held in it. */
  readonly #held = new Map<number, Map<number, boolean>>();
  readonly #slots = new Map<string, number>();

  constructor(dependencies: Pick<FlowControlDependencies, 'ports' | 'table'>) {
    super('flow-control', dependencies);
    this.#ports = dependencies.ports;
  }

  override setHold(slot: number, held: HeldTraffic, hold: Parameters<HoldClasses<HeldTraffic>['setHold']>[2]): void {
    super.setHold(slot, held, hold);
    const slots = this.#held.get(held.egress) ?? new Map<number, boolean>();
    this.#held.set(held.egress, slots.set(slot, true));
    const before = this.#slots.get(keyOf(held));
    if (before !== undefined && before !== slot) slots.set(before, false);
    this.#slots.set(keyOf(held), slot);
  }

  override removeHold(held: HeldTraffic): void {
    super.removeHold(held);
    const slot = this.#slots.get(keyOf(held));
    if (slot !== undefined) this.#held.get(held.egress)?.set(slot, false);
    this.#slots.delete(keyOf(held));
  }

  /** @throws KernelError */
  async bytes(ifindex: number): Promise<HeldBytes> {
    const slots = this.#held.get(ifindex) ?? new Map<number, boolean>();
    const before = [...slots];
    const minors = before.map(([slot]) => minorOf('flow-control', slot));
    const backlogs = await this.#ports.backlogBytes(ifindex, minors);
    const bytes = new Map(before.map(([slot], i) => [slot, backlogs[i]!]));
    // Of one that was given away meanwhile it is not known that it is empty.
    for (const [slot, wasHeld] of before)
      if (bytes.get(slot) === 0 && !wasHeld && slots.get(slot) === false) slots.delete(slot);
    return { total: backlogs.reduce((sum, some) => sum + some, 0), ofSlot: (slot) => bytes.get(slot) ?? 0 };
  }
}

const keyOf = (held: HeldTraffic): string => Buffer.from(encodeHoldKey(held)).toString('latin1');
