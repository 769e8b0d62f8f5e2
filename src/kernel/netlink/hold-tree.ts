// Where the classes of holds are at a port. A port with its default queue gets an HTB of cnpd's own. Under an HTB of
// the operator they are added where its default class is, as the traffic there would have gone to that class. Any other
// root qdisc is somebody's and stays.
//
// In cnpd's own HTB, and in one without a default class, packets of no class are in the direct queue, which precedes
// all classes: a flow that enters its class overtakes nothing. The price is that classes wait while other traffic
// saturates the port. A default class would share the port with them, but a flow would overtake its own packets that
// wait there, and RoCEv2 takes that for loss. In an operator's HTB with a default class that may happen, once, when a
// flow is held.
//
// cnpd recognizes its own: an HTB by its handle, a class by its number and that of its queue.
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import { isHoldMinor } from '../dataplane/holds.ts';
import type { Netns } from '../netns.ts';
import {
  type ClassPlace,
  type FoundClass,
  addRootRequest,
  decodeClass,
  deleteClassRequest,
  deleteRootRequest,
  formatHandle,
  queueOf,
} from './htb.ts';
import { linkName } from './link-name.ts';
import { NLM_F } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';
import { type Qdisc, RTM_CLASS, RTM_QDISC, TC_H, decodeQdisc, tcHeader } from './traffic-control.ts';

/** Of cnpd's own HTB. The kernel itself gives handles from 8000: on. */
export const HOLD_ROOT = 0x6e70_0000;
const MAJOR = 0xffff_0000;

export interface HoldTree {
  readonly ifindex: number;
  /** Handle of the HTB. */
  readonly root: number;
  /** The HTB, or a class, under which the classes of holds are. */
  readonly parent: number;
  /** The parent is a class of the operator, within whose rate they have to stay. */
  readonly borrows: boolean;
  /** Whether the HTB is cnpd's. */
  readonly own: boolean;
}

export const placeIn = (tree: HoldTree, minor: number): ClassPlace => ({
  ifindex: tree.ifindex,
  handle: (tree.root | minor) >>> 0,
  parent: tree.parent,
  borrows: tree.borrows,
});

export class HoldTrees {
  readonly #netlink: SynchronousNetlink;

  private constructor(netlink: SynchronousNetlink) {
    this.#netlink = netlink;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): HoldTrees {
    return new HoldTrees(SynchronousNetlink.open(opts));
  }

  /**
   * Makes room for classes of holds at a port, and removes those of an earlier run.
   * @throws KernelError EBUSY (a root qdisc that has no room, or a class of another program with a number of cnpd's),
   *   ENODEV
   */
  prepare(ifindex: number): HoldTree {
    const root = this.#roots().get(ifindex);
    const whole = { ifindex, root: HOLD_ROOT, parent: HOLD_ROOT, borrows: false, own: true };
    // The kernel's default qdiscs have no handle.
    if (root === undefined || root.handle === 0) {
      this.#netlink.request(addRootRequest(ifindex, HOLD_ROOT));
      return whole;
    }
    const tree = isOwn(root) ? whole : this.#beside(root);
    const classes = this.#classes(ifindex);
    const foreign = classes.find(({ handle, queue }) => isHoldMinor(handle & 0xffff) && queue !== queueOf(handle));
    if (foreign)
      throw this.#refused(
        ifindex,
        `its class ${formatHandle(foreign.handle)} is not cnpd's, and has a number of those that cnpd uses`,
      );
    this.#removeClasses(ifindex, classes);
    return tree;
  }

  /** Whether the port still has the HTB that was prepared, with the same room for classes. @throws KernelError */
  has({ ifindex, root, parent, own }: HoldTree): boolean {
    const found = this.#roots().get(ifindex);
    if (found?.kind !== 'htb' || found.handle !== root) return false;
    if (own) return true;
    try {
      return this.#beside(found).parent === parent;
    } catch (error) {
      if (isKernelError(error, 'EBUSY')) return false;
      throw error;
    }
  }

  /** Restores what was there before. Returns false when there is nothing of cnpd's. @throws KernelError */
  release(ifindex: number): boolean {
    const root = this.#roots().get(ifindex);
    if (root?.kind !== 'htb') return false;
    if (!isOwn(root)) return this.#removeClasses(ifindex, this.#classes(ifindex));
    return this.#without('ENOENT', () => this.#netlink.request(deleteRootRequest(ifindex, HOLD_ROOT)));
  }

  /** Removes an HTB of cnpd's own. Returns false when there is none. @throws KernelError */
  releaseOwn(ifindex: number): boolean {
    const root = this.#roots().get(ifindex);
    return root !== undefined && isOwn(root) && this.release(ifindex);
  }

  /** Restores every other port. Returns the indexes of those that had something of cnpd's. @throws KernelError */
  releaseAll(but: ReadonlySet<number> = new Set()): number[] {
    return [...this.#roots().values()]
      .filter(({ kind, ifindex }) => kind === 'htb' && !but.has(ifindex))
      .map(({ ifindex }) => ifindex)
      .filter((ifindex) => this.release(ifindex));
  }

  /** For messages. */
  nameOf(ifindex: number): string {
    return linkName(this.#netlink, ifindex);
  }

  /** Idempotent. */
  close(): void {
    this.#netlink.close();
  }

  /** Room in an HTB that is not cnpd's. */
  #beside({ ifindex, kind, handle: root, htb }: Qdisc): HoldTree {
    if (!htb) throw this.#refused(ifindex, `its root qdisc ${kind} ${formatHandle(root)} is not cnpd's and is no HTB`);
    // Without a default class, unclassified packets go straight and no class limits them.
    if (htb.defaultClass === 0) return { ifindex, root, parent: root, borrows: false, own: false };
    const number = (root | htb.defaultClass) >>> 0;
    const standard = this.#classes(ifindex).find(({ handle }) => handle === number);
    // It may be about to be made: beside it, held traffic would be outside of its limit.
    if (!standard) throw this.#refused(ifindex, `the default class ${formatHandle(number)} of its HTB does not exist`);
    if (standard.parent === TC_H.ROOT)
      throw this.#refused(
        ifindex,
        `the default class ${formatHandle(number)} of its HTB has no parent, whose rate flows in classes of their own ` +
          'would share with it: put it under a class with the rate of the port',
      );
    return { ifindex, root, parent: standard.parent, borrows: true, own: false };
  }

  #refused(ifindex: number, detail: string): KernelError {
    return new KernelError(`make room for classes at ${this.nameOf(ifindex)}`, ERRNO.EBUSY, detail);
  }

  #roots(): Map<number, Qdisc> {
    const qdiscs = this.#netlink
      .request({ operation: 'list qdiscs', type: RTM_QDISC.GET, body: tcHeader({ ifindex: 0 }) }, NLM_F.DUMP)
      .map(decodeQdisc)
      .filter((qdisc) => qdisc?.parent === TC_H.ROOT);
    return new Map(qdiscs.map((qdisc) => [qdisc!.ifindex, qdisc!]));
  }

  #classes(ifindex: number): FoundClass[] {
    return this.#netlink
      .request({ operation: 'list classes', type: RTM_CLASS.GET, body: tcHeader({ ifindex }) }, NLM_F.DUMP)
      .map(decodeClass)
      .filter((found) => found !== undefined);
  }

  #removeClasses(ifindex: number, classes: readonly FoundClass[]): boolean {
    return classes
      .filter(({ handle, queue }) => isHoldMinor(handle & 0xffff) && queue === queueOf(handle))
      .map(({ handle }) => this.#without('ENOENT', () => this.#netlink.request(deleteClassRequest(ifindex, handle))))
      .includes(true);
  }

  /** Returns false if this error came. */
  #without(code: string, run: () => void): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (isKernelError(error, code)) return false;
      throw error;
    }
  }
}

/** Restores every port of this network namespace: HoldTrees.releaseAll. Returns their names. @throws KernelError */
export function removeHoldTrees(): string[] {
  const trees = HoldTrees.open();
  try {
    return trees.releaseAll().map((ifindex) => trees.nameOf(ifindex));
  } finally {
    trees.close();
  }
}

const isOwn = ({ kind, handle }: Qdisc): boolean => kind === 'htb' && (handle & MAJOR) >>> 0 === HOLD_ROOT;
