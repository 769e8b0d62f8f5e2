// Ports at which flows are held by departure times (bpf/lib/hold/edt.h): those whose fq keeps these times, an
// operator's or, where the file asks for it, one of cnpd's own. All else about a held flow is in a map (hold-paces.ts).
import { isKernelError } from '../kernel/errors.ts';
import { HOLD_EDT } from '../kernel/dataplane/holds.ts';
import { FqPorts, flowLimitFor } from '../kernel/netlink/fq.ts';
import type { Netns } from '../kernel/netns.ts';
import type { Queueing } from '../model/queueing.ts';
import type { HoldPortTable } from './hold-port-table.ts';

interface HoldEdtPortsDependencies {
  readonly table: Pick<HoldPortTable, 'setPort' | 'removePort'>;
  readonly onChange: () => void;
  /** Classes hold flows at this port no longer. @throws KernelError */
  readonly onTake: (ifindex: number) => void;
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
   * From now on flows are held so at this port, if that is how: returns false if classes are to hold them, and then
   * leaves nothing of its own there. To be called again: the queue may be another by then.
   * @param buffer bytes that a flow may have waiting
   * @throws KernelError ENOENT (this kernel has no fq), EBUSY (a queue of somebody else's), ENODEV
   */
  prepare(ifindex: number, queueing: Queueing, buffer: number): boolean {
    const found = this.#fqs.find(ifindex);
    if (queueing === 'htb' || (queueing === 'auto' && (!found || found.own))) {
      if (found?.own || this.#ports.has(ifindex)) this.release(ifindex);
      return false;
    }
    if (!this.#ports.has(ifindex)) this.#dependencies.onTake(ifindex);
    const flowLimit = flowLimitFor(buffer);
    if (!found) {
      this.#forget(ifindex);
      this.#fqs.make(ifindex, flowLimit);
    } else if (found.own && found.options.flowLimit !== flowLimit) this.#fqs.change(ifindex, flowLimit);
    if (this.#ports.has(ifindex)) return true;
    this.#dependencies.table.setPort(ifindex, HOLD_EDT);
    this.#ports.add(ifindex);
    this.#dependencies.onChange();
    return true;
  }

  /** Restores the port's queue as it was. What waits there is dropped. @throws KernelError */
  release(ifindex: number): void {
    this.#forget(ifindex);
    try {
      this.#fqs.release(ifindex);
    } catch (error) {
      if (!isKernelError(error, 'ENODEV')) throw error;
    }
  }

  /** Restores what an earlier run has left at other ports than these. Returns their names. @throws KernelError */
  releaseOthers(wanted: ReadonlySet<number>): string[] {
    const released = this.#fqs.releaseAll(wanted);
    for (const ifindex of released) this.#dependencies.table.removePort(ifindex);
    return released.map((ifindex) => this.#fqs.nameOf(ifindex));
  }

  /** Releases descriptors; queues stay. Idempotent. */
  close(): void {
    this.#fqs.close();
  }

  #forget(ifindex: number): void {
    if (!this.#ports.delete(ifindex)) return;
    this.#dependencies.table.removePort(ifindex);
    this.#dependencies.onChange();
  }
}
