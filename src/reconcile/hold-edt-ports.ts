// Ports at which flows are held by departure times (bpf/lib/hold/edt.h): those whose fq keeps these times, an
// operator's or, where the file asks for it, one of cnpd's own. All else about a held flow is in a map (hold-paces.ts).
import { isKernelError } from '../kernel/errors.ts';
import { HOLD_EDT } from '../kernel/dataplane/holds.ts';
import { type FqPort, FqPorts, flowLimitFor, givesWay, shortHorizon } from '../kernel/netlink/fq.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Queueing } from '../model/queueing.ts';
import type { HoldPortTable } from './hold-port-table.ts';

interface HoldEdtPortsDependencies {
  readonly table: Pick<HoldPortTable, 'setPort' | 'removePort'>;
  readonly onChange: () => void;
  /** Classes hold flows at this port no longer. @throws KernelError */
  readonly onTake: (ifindex: number) => void;
}

/** The port has an fq that nothing can be held by. */
export class UnfitFq extends Error {
  readonly remedy: string;

  constructor({ problem, remedy }: { readonly problem: string; readonly remedy: string }) {
    super(problem);
    this.remedy = remedy;
  }
}

/** What is to hold flows at a port, and what has to go before. */
export interface PortChoice {
  readonly by: 'fq' | 'classes';
  /** Flows are held there by departure times, or were by an earlier run, and cnpd's fq is to be removed. */
  readonly removesFq: boolean;
  /** A root qdisc is to be made. */
  readonly makesFq: boolean;
  /** One of cnpd's own is to keep another number of packets of a flow. */
  readonly changesFq: boolean;
}

export class HoldEdtPorts {
  readonly #dependencies: HoldEdtPortsDependencies;
  readonly #fqs: FqPorts;
  readonly #ports = new Set<number>();

  private constructor(fqs: FqPorts, dependencies: HoldEdtPortsDependencies) {
    this.#fqs = fqs;
    this.#dependencies = dependencies;
  }

  /** @throws KernelError */
  static open(opts: { readonly netns?: Netns | undefined }, dependencies: HoldEdtPortsDependencies): HoldEdtPorts {
    return new HoldEdtPorts(FqPorts.open(opts), dependencies);
  }

  /** Indexes of the ports at which flows are held so. */
  get ports(): number[] {
    return [...this.#ports];
  }

  /**
   * What the kernel makes by default has room for too few packets of a flow, and gives way.
   * @param buffer bytes that a flow may have waiting
   * @throws UnfitFq, KernelError
   */
  choose(ifindex: number, queueing: Queueing, buffer: number): PortChoice {
    const found = this.#fqs.find(ifindex);
    const flowLimit = flowLimitFor(buffer);
    const usable = found && !givesWay(found, flowLimit) ? found : undefined;
    const by = queueing === 'fq' || (queueing === 'auto' && usable && !usable.own) ? 'fq' : 'classes';
    if (by === 'classes') return { by, removesFq: found?.own ?? false, makesFq: false, changesFq: false };
    if (usable) this.#check(ifindex, usable);
    const changesFq = usable !== undefined && usable.own && usable.options.flowLimit !== flowLimit;
    return { by, removesFq: false, makesFq: !usable, changesFq };
  }

  /**
   * From now on flows are held so at this port, if that is how: returns false if classes are to hold them, and then
   * leaves nothing of its own there. To be called again: the queue may be another by then.
   * @param buffer bytes that a flow may have waiting
   * @throws KernelError ENOENT (this kernel has no fq), EBUSY (a queue of somebody else's), ENODEV
   */
  prepare(ifindex: number, buffer: number, { by, removesFq, makesFq, changesFq }: PortChoice): boolean {
    if (by === 'classes') {
      if (removesFq || this.#ports.has(ifindex)) this.release(ifindex);
      return false;
    }
    if (!this.#ports.has(ifindex)) this.#dependencies.onTake(ifindex);
    if (makesFq) {
      this.letGo(ifindex);
      this.#fqs.make(ifindex, flowLimitFor(buffer));
    } else if (changesFq) this.#fqs.change(ifindex, flowLimitFor(buffer));
    if (this.#ports.has(ifindex)) return true;
    this.#dependencies.table.setPort(ifindex, HOLD_EDT);
    this.#ports.add(ifindex);
    this.#dependencies.onChange();
    return true;
  }

  /**
   * From now on held packets at this port go straight, or behind those that wait. Returns false if they did already.
   * @throws KernelError
   */
  letGo(ifindex: number): boolean {
    if (!this.#ports.delete(ifindex)) return false;
    this.#dependencies.table.removePort(ifindex);
    this.#dependencies.onChange();
    return true;
  }

  /** Restores the port's queue as it was. What waits there is dropped. @throws KernelError */
  release(ifindex: number): void {
    this.letGo(ifindex);
    try {
      this.#fqs.release(ifindex);
    } catch (error) {
      if (!isKernelError(error, 'ENODEV')) throw error;
    }
  }

  /** Indexes of the ports that have an fq of cnpd's own, but for these. @throws KernelError */
  own(but?: ReadonlySet<number>): number[] {
    return this.#fqs.own(but);
  }

  /** For messages. */
  nameOf(ifindex: number): string {
    return this.#fqs.nameOf(ifindex);
  }

  /** Releases descriptors; queues stay. Idempotent. */
  close(): void {
    this.#fqs.close();
  }

  #check(ifindex: number, found: FqPort): void {
    const reason = shortHorizon(this.#fqs.nameOf(ifindex), found);
    if (!reason) return;
    this.letGo(ifindex);
    throw new UnfitFq(reason);
  }
}
