// Classes for what is held at the ports of this router: a class has the same number, rate and queue limit at each port
// of its purpose, since which port a flow leaves by is the kernel's choice. Requests of one moment go to the kernel
// together (netlink/request-queue.ts), in the order in which they were made. A class that exists is changed, not made
// again: to create one, the kernel looks at all others.
//
// A port that has vanished, or whose queue or classes somebody has removed, is forgotten, with all that it had: flows
// go straight there, and are held at the others. prepare() it again.
import { type HoldPurpose, purposeOf } from '../kernel/dataplane/holds.ts';
import { ERRNO, KernelError, isKernelError } from '../kernel/errors.ts';
import type { NetlinkRequest } from '../kernel/netlink/client.ts';
import type { NetlinkMessage } from '../kernel/netlink/message.ts';
import { type Answer, NetlinkQueue, refusalIn } from '../kernel/netlink/request-queue.ts';
import { HoldTrees, type HoldTree, placeIn } from '../kernel/netlink/hold-tree.ts';
import {
  type ClassCounters,
  type ClassPlace,
  type ClassRate,
  changeClassRequest,
  decodeClass,
  pauseClassRequest,
  readClassRequest,
  setClassRequest,
  setQueueRequest,
} from '../kernel/netlink/htb.ts';
import type { Netns } from '../kernel/netns.ts';
import type { HoldPortTable } from './hold-port-table.ts';

export interface HoldClass extends ClassRate {
  /** Bytes that may be queued; packets beyond are dropped. */
  readonly limit: number;
}

type PortTable = Pick<HoldPortTable, 'setPort' | 'removePort'>;

interface HoldPortsDependencies {
  readonly table: PortTable;
  /** A port is prepared, or is no longer. */
  readonly onChange?: () => void;
}

/** Of a port that is being prepared, or read. No more, so that a change of a rate does not wait for all. */
const CLASSES_AT_ONCE = 8;

/** A prepared port. */
interface Port extends HoldTree {
  readonly purpose: HoldPurpose;
}

interface KnownClass {
  readonly limit: number;
  /** Undefined: it pauses. */
  readonly rate: ClassRate | undefined;
}

type ClassChange = (place: ClassPlace) => readonly NetlinkRequest[];

export class HoldPorts {
  readonly #table: PortTable;
  readonly #onChange: () => void;
  readonly #trees: HoldTrees;
  readonly #queue: NetlinkQueue;
  readonly #ports = new Map<number, Port>();
  /** The classes so far of ports that are being prepared, by ifindex. Nothing is done to others there. */
  readonly #preparing = new Map<number, Set<number>>();
  /** What is wanted of each class. */
  readonly #classes = new Map<number, HoldClass>();
  /** What each class is known to be, at all ports. */
  readonly #known = new Map<number, KnownClass>();

  private constructor({ table, onChange }: HoldPortsDependencies, trees: HoldTrees, queue: NetlinkQueue) {
    this.#table = table;
    this.#onChange = onChange ?? (() => {});
    this.#trees = trees;
    this.#queue = queue;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined }, dependencies: HoldPortsDependencies): HoldPorts {
    const trees = HoldTrees.open(opts);
    try {
      return new HoldPorts(dependencies, trees, NetlinkQueue.open(opts));
    } catch (error) {
      trees.close();
      throw error;
    }
  }

  /** Indexes of the prepared ports. */
  get ports(): number[] {
    return [...this.#ports.keys()];
  }

  /** Undefined: it is not prepared. */
  purposeAt(ifindex: number): HoldPurpose | undefined {
    return this.#ports.get(ifindex)?.purpose;
  }

  /**
   * Makes classes possible at a port, and creates those that there are at others of its purpose. What an earlier run,
   * or another purpose, has left there is removed, with the packets in it.
   * @throws KernelError EBUSY with the reason why the port's qdisc has no room for them, ENODEV
   */
  async prepare(ifindex: number, purpose: HoldPurpose = 'enforce'): Promise<void> {
    const before = this.#ports.get(ifindex);
    if (before?.purpose === purpose && this.#trees.has(before)) return;
    // Somebody has replaced its queue, and the classes went with it.
    if (before) this.#forget(ifindex);
    const tree = { ...this.#trees.prepare(ifindex), purpose };
    this.#ports.set(ifindex, tree);
    try {
      await this.#createAll(tree);
      if (this.#ports.get(ifindex) === tree) this.#table.setPort(ifindex, tree.root);
      this.#onChange();
    } catch (error) {
      // Not prepared: the next call begins anew.
      this.#forget(ifindex);
      throw error;
    }
  }

  /** Also those that are made meanwhile. */
  async #createAll(port: Port): Promise<void> {
    const made = new Set<number>();
    this.#preparing.set(port.ifindex, made);
    const missing = (): number[] =>
      [...this.#classes.keys()].filter((minor) => purposeOf(minor) === port.purpose && !made.has(minor));
    for (let minors = missing(); minors.length > 0; minors = missing())
      for (let from = 0; from < minors.length; from += CLASSES_AT_ONCE) {
        const part = minors.slice(from, from + CLASSES_AT_ONCE);
        for (const minor of part) made.add(minor);
        await this.#apply(part.flatMap((minor) => at(port, minor, creation(this.#classes.get(minor)!))));
        await otherWork();
        if (this.#ports.get(port.ifindex) !== port) return; // it has vanished
      }
    this.#preparing.delete(port.ifindex);
  }

  /**
   * Restores the port's queue as it was. Packets in classes are dropped: let flows leave first.
   * @throws KernelError
   */
  release(ifindex: number): void {
    this.#forget(ifindex);
    this.#trees.release(ifindex);
  }

  /** Restores what an earlier run has left at other ports than these. Returns their names. @throws KernelError */
  releaseOthers(wanted: ReadonlySet<number>): string[] {
    const released = this.#trees.releaseAll(wanted);
    for (const ifindex of released) this.#table.removePort(ifindex);
    return released.map((ifindex) => this.#trees.nameOf(ifindex));
  }

  /** @throws KernelError of the first port that refuses; the others have the class */
  setClass(minor: number, wanted: HoldClass): Promise<void> {
    const known = this.#known.get(minor);
    if (known?.limit !== wanted.limit) return this.setClasses([[minor, wanted]]);
    if (known.rate && isSameRate(known.rate, wanted)) return Promise.resolve();
    return this.changeRate(minor, wanted);
  }

  /** Creates or changes many classes. @throws KernelError of the first refusal; the others exist */
  async setClasses(classes: readonly (readonly [minor: number, wanted: HoldClass])[]): Promise<void> {
    for (const [minor, wanted] of classes) {
      this.#classes.set(minor, wanted);
      this.#known.set(minor, { limit: wanted.limit, rate: wanted });
    }
    await this.#apply(classes.flatMap(([minor, wanted]) => this.#everywhere(minor, creation(wanted))));
  }

  /**
   * In force after what the class owes for its last frame at the former rate (htb.ts).
   * @throws KernelError ENOENT (no such class), RangeError (rate of zero)
   */
  async changeRate(minor: number, { rate, burst }: ClassRate): Promise<void> {
    const requests = this.#everywhere(minor, (place) => [changeClassRequest(place, { rate, burst })]);
    const before = this.#classes.get(minor);
    if (before) this.#classes.set(minor, { ...before, rate, burst });
    this.#nowKnown(minor, { rate, burst });
    await this.#apply(requests);
  }

  /**
   * One more frame leaves the class, if it has one, then it is silent for `microseconds`. Silence repeats until
   * changeRate(). Called before the time is over, that lets the present silence end by itself; nothing ends it earlier.
   * @throws KernelError ENOENT (no such class), RangeError (not 1 to 65,535 µs)
   */
  async pause(minor: number, microseconds: number): Promise<void> {
    const requests = this.#everywhere(minor, (place) => [pauseClassRequest(place, microseconds)]);
    this.#nowKnown(minor, undefined);
    await this.#apply(requests);
  }

  /** Summed over the ports of its purpose. @throws KernelError ENOENT (no such class at a port) */
  async classCounters(minor: number): Promise<ClassCounters> {
    const answers = await this.#answers(
      this.#everywhere(minor, ({ ifindex, handle }) => [readClassRequest(ifindex, handle)]),
    );
    const refusal = refusalIn(answers);
    if (refusal) throw refusal;
    return answers.flatMap((answer) => (isKernelError(answer) ? [] : [countersIn(answer, minor)])).reduce(sum, NOTHING);
  }

  /**
   * Bytes in classes at one port, in the order of the classes. A port or class that is gone has none.
   * @throws KernelError
   */
  async backlogBytes(ifindex: number, minors: readonly number[]): Promise<number[]> {
    const port = this.#ports.get(ifindex);
    if (!port || this.#preparing.has(ifindex)) return minors.map(() => 0);
    const read = ({ handle }: ClassPlace): NetlinkRequest[] => [readClassRequest(ifindex, handle)];
    const requests = minors.flatMap((minor) => at(port, minor, read));
    const answers: Answer[] = [];
    for (let from = 0; from < requests.length; from += CLASSES_AT_ONCE) {
      if (from > 0) await otherWork();
      const part = requests.slice(from, from + CLASSES_AT_ONCE);
      answers.push(...(await this.#queue.requests(part.map(({ request }) => request))));
    }
    const refusal = refusalIn(answers.filter((answer) => !isMissing(answer)));
    if (refusal) throw refusal;
    return answers.map((answer, i) => {
      if (this.#isGone(answer, requests[i]!) && this.#ports.get(ifindex) === port) this.#forget(ifindex);
      return isKernelError(answer) ? 0 : countersIn(answer, minors[i]!).backlogBytes;
    });
  }

  /** Releases descriptors; classes and queues stay. Idempotent. */
  close(): void {
    this.#trees.close();
    this.#queue.close();
  }

  #nowKnown(minor: number, rate: ClassRate | undefined): void {
    const known = this.#known.get(minor);
    if (known) this.#known.set(minor, { ...known, rate });
  }

  #everywhere(minor: number, change: ClassChange): PortRequest[] {
    return this.#portsOf(minor).flatMap((tree) => at(tree, minor, change));
  }

  #portsOf(minor: number): Port[] {
    return [...this.#ports.values()].filter(
      ({ ifindex, purpose }) => purpose === purposeOf(minor) && (this.#preparing.get(ifindex)?.has(minor) ?? true),
    );
  }

  async #apply(requests: readonly PortRequest[]): Promise<void> {
    try {
      const refusal = refusalIn(await this.#answers(requests));
      if (refusal) throw refusal;
    } catch (error) {
      for (const { minor } of requests) this.#known.delete(minor);
      throw error;
    }
  }

  /** Of the ports that are still there; if the last one has lost its classes, that. */
  async #answers(requests: readonly PortRequest[]): Promise<Answer[]> {
    const answers = await this.#queue.requests(requests.map(({ request }) => request));
    return answers.filter((answer, i) => {
      const { ifindex, minor } = requests[i]!;
      const isGone = this.#isGone(answer, requests[i]!);
      if (isGone) this.#forget(ifindex);
      return !isGone || (isKernelError(answer, 'ENOENT') && this.#portsOf(minor).length === 0);
    });
  }

  #isGone(answer: Answer, { minor }: PortRequest): boolean {
    return isKernelError(answer, 'ENODEV') || (isKernelError(answer, 'ENOENT') && this.#classes.has(minor));
  }

  #forget(ifindex: number): void {
    if (!this.#ports.delete(ifindex)) return;
    this.#preparing.delete(ifindex);
    this.#table.removePort(ifindex);
    this.#onChange();
  }
}

/** The port, or the class there. */
const isMissing = (answer: Answer): boolean => isKernelError(answer, 'ENODEV') || isKernelError(answer, 'ENOENT');

interface PortRequest {
  readonly ifindex: number;
  readonly minor: number;
  readonly request: NetlinkRequest;
}

const at = (tree: HoldTree, minor: number, change: ClassChange): PortRequest[] =>
  change(placeIn(tree, minor)).map((request) => ({ ifindex: tree.ifindex, minor, request }));

const creation =
  (wanted: HoldClass): ClassChange =>
  (place) => [setClassRequest(place, wanted), setQueueRequest(place, wanted.limit)];

/** @throws KernelError when there are none: to take that for zero would let a flow leave a class that is not empty */
function countersIn(answer: readonly NetlinkMessage[], minor: number): ClassCounters {
  const found = answer.map(decodeClass).find((one) => one !== undefined);
  if (found) return found.counters;
  throw new KernelError(`read class ${minor.toString(16)}`, ERRNO.ENOENT, 'the kernel answered without a class');
}

const NOTHING: ClassCounters = { sent: 0n, sentBytes: 0n, dropped: 0n, backlogPackets: 0, backlogBytes: 0 };

export const sum = (a: ClassCounters, b: ClassCounters): ClassCounters => ({
  sent: a.sent + b.sent,
  sentBytes: a.sentBytes + b.sentBytes,
  dropped: a.dropped + b.dropped,
  backlogPackets: a.backlogPackets + b.backlogPackets,
  backlogBytes: a.backlogBytes + b.backlogBytes,
});

const isSameRate = (a: ClassRate, b: ClassRate): boolean => a.rate === b.rate && a.burst === b.burst;

const otherWork = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
