// The fq of a port (tc-fq(8), include/uapi/linux/pkt_sched.h), which keeps each packet until its departure time. A port
// may have one as its root, or one below each queue of an mq. Others' are used as they are.
import { HOLD_LONGEST_DEPARTURE_NS } from '../dataplane/holds.ts';
import { ERRNO, KernelError, isKernelError } from '../errors.ts';
import type { Netns } from '../netns.ts';
import { HoldTrees, removeHoldTrees } from './hold-tree.ts';
import { NLM_F, attribute, concat, decodeAttributes, nested, readU32, text, u32 } from './message.ts';
import { SynchronousNetlink } from './synchronous.ts';
import { RTM_QDISC, TCA, TC_H, tcHeader, decodeQdisc } from './traffic-control.ts';

/** Of cnpd's own. The kernel itself gives handles from 8000: on. */
export const FQ_ROOT = 0x6e71_0000;
const FQ = { PLIMIT: 1, FLOW_PLIMIT: 2, BUCKETS_LOG: 8, ORPHAN_MASK: 10, HORIZON: 14 } as const;
/** Queues for flows of other hosts: in one of few queues, a flow would wait for a held one that shares it. */
const ORPHAN_MASK = 2 ** 20 - 1;
const BUCKETS_LOG = 14;
/** Of all flows together. */
const LIMIT = 1_000_000;
/** As an Ethernet port of Linux has. */
const LEAST_FLOW_LIMIT = 1000;
/** A flow that shares its queue with a held one waits: with fewer queues, that is likely once a hundred are held. */
const LEAST_ORPHAN_MASK = 2 ** 16 - 1;
/** An fq drops what is to depart later, or lets it go too early. */
const LEAST_HORIZON_US = HOLD_LONGEST_DEPARTURE_NS / 1000;
/** RoCEv2 with 1 kB of data, about. */
const FRAME = 1000;

/** Where an fq is to be made and the kernel has none. */
export const NO_FQ_REMEDY =
  'modprobe sch_fq, or boot a kernel with CONFIG_NET_SCH_FQ; or set `queueing: auto` under source.enforce';

/** Packets of one flow that an fq needs room for: no fewer than the program lets wait, unless they are short. */
export const flowLimitFor = (buffer: number): number => Math.max(LEAST_FLOW_LIMIT, Math.ceil(buffer / FRAME));

/** What decides over held flows. Packets and microseconds. */
export interface FqOptions {
  readonly limit: number;
  readonly flowLimit: number;
  readonly orphanMask: number;
  /** Infinity: it has none (before Linux 5.8). */
  readonly horizonUs: number;
}

/** Whether it can lose packets that may wait, or let other flows wait with them. */
export const isScant = ({ flowLimit, orphanMask }: FqOptions, wantedFlowLimit: number): boolean =>
  flowLimit < wantedFlowLimit || orphanMask < LEAST_ORPHAN_MASK;

/** Whether another queue may take its place: what the kernel makes by default, and has too little room. */
export const givesWay = ({ isDefault, options }: FqPort, wantedFlowLimit: number): boolean =>
  isDefault && isScant(options, wantedFlowLimit);

/** Why an fq cannot keep departure times; undefined: it can. */
export function shortHorizon(name: string, { options: { horizonUs } }: Pick<FqPort, 'options'>): Reason | undefined {
  if (horizonUs >= LEAST_HORIZON_US) return undefined;
  return {
    problem:
      `the fq of ${name} keeps no packet for more than ${horizonUs / 1000} ms (horizon), ` +
      `and held ones may have to wait ${LEAST_HORIZON_US / 1000} ms`,
    remedy:
      `\`tc qdisc change dev ${name} root fq horizon 10s\`; of several below an mq, change each: ` +
      '`parent` and its number in place of `root`',
  };
}

interface Reason {
  readonly problem: string;
  readonly remedy: string;
}

interface FoundQdisc {
  readonly ifindex: number;
  readonly kind: string;
  readonly handle: number;
  readonly parent: number;
  readonly options: FqOptions | undefined;
}

/** A port whose fq keeps departure times. */
export interface FqPort {
  readonly ifindex: number;
  /** Whether it is cnpd's. */
  readonly own: boolean;
  /** Whether the kernel has made it by default. */
  readonly isDefault: boolean;
  /** The least of each, where there are several. */
  readonly options: FqOptions;
}

export const encodeFq = (fq: { ifindex: number; flowLimit: number; handle?: number }): Uint8Array =>
  concat([
    tcHeader({ ifindex: fq.ifindex, handle: fq.handle ?? 0, parent: TC_H.ROOT }),
    attribute(TCA.KIND, text('fq')),
    nested(
      TCA.OPTIONS,
      attribute(FQ.PLIMIT, u32(LIMIT)),
      attribute(FQ.FLOW_PLIMIT, u32(fq.flowLimit)),
      attribute(FQ.BUCKETS_LOG, u32(BUCKETS_LOG)),
      attribute(FQ.ORPHAN_MASK, u32(ORPHAN_MASK)),
    ),
  ]);

export class FqPorts {
  readonly #netlink: SynchronousNetlink;
  readonly #trees: HoldTrees;

  private constructor(netlink: SynchronousNetlink, trees: HoldTrees) {
    this.#netlink = netlink;
    this.#trees = trees;
  }

  /** @throws KernelError */
  static open(opts: { netns?: Netns | undefined } = {}): FqPorts {
    const netlink = SynchronousNetlink.open(opts);
    try {
      return new FqPorts(netlink, HoldTrees.open(opts));
    } catch (error) {
      netlink.close();
      throw error;
    }
  }

  /** Undefined: the port has none, or not for each of its queues. @throws KernelError */
  find(ifindex: number): FqPort | undefined {
    return fqOf(ifindex, this.#qdiscs());
  }

  /**
   * Makes an fq the root of a port that has its kernel's default queue, or an HTB of cnpd's own. What is queued there
   * is dropped.
   * @throws KernelError ENOENT (this kernel has no fq), EBUSY (another root qdisc), ENODEV
   */
  make(ifindex: number, flowLimit: number): void {
    const root = this.#qdiscs().find((qdisc) => qdisc.ifindex === ifindex && qdisc.parent === TC_H.ROOT);
    const operation = `add fq ${formatOwn} to ${this.#trees.nameOf(ifindex)}`;
    if (root && root.handle !== 0 && !this.#trees.releaseOwn(ifindex))
      throw new KernelError(operation, ERRNO.EBUSY, `its root qdisc ${root.kind} is not cnpd's and is no fq`);
    const body = encodeFq({ ifindex, handle: FQ_ROOT, flowLimit });
    this.#netlink.request({ operation, type: RTM_QDISC.NEW, flags: NLM_F.CREATE | NLM_F.EXCL, body });
  }

  /** Of cnpd's own. @throws KernelError */
  change(ifindex: number, flowLimit: number): void {
    const body = encodeFq({ ifindex, handle: FQ_ROOT, flowLimit });
    this.#netlink.request({ operation: `change fq ${formatOwn}`, type: RTM_QDISC.NEW, flags: 0, body });
  }

  /** Removes cnpd's own; the default one takes its place. Returns false when there is none. @throws KernelError */
  release(ifindex: number): boolean {
    if (!this.find(ifindex)?.own) return false;
    try {
      const body = tcHeader({ ifindex, handle: FQ_ROOT, parent: TC_H.ROOT });
      this.#netlink.request({ operation: `delete fq ${formatOwn}`, type: RTM_QDISC.DEL, body });
      return true;
    } catch (error) {
      if (isKernelError(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** Indexes of the ports that have one of cnpd's own, but for these. @throws KernelError */
  own(but: ReadonlySet<number> = new Set()): number[] {
    return this.#qdiscs().flatMap((qdisc) => (isOwn(qdisc) && !but.has(qdisc.ifindex) ? [qdisc.ifindex] : []));
  }

  /** Indexes of the ports that had one of cnpd's own. @throws KernelError */
  releaseAll(): number[] {
    return this.own().filter((ifindex) => this.release(ifindex));
  }

  /** For messages. */
  nameOf(ifindex: number): string {
    return this.#trees.nameOf(ifindex);
  }

  /** Idempotent. */
  close(): void {
    this.#netlink.close();
    this.#trees.close();
  }

  #qdiscs(): FoundQdisc[] {
    const body = tcHeader({ ifindex: 0 });
    return this.#netlink
      .request({ operation: 'list qdiscs', type: RTM_QDISC.GET, body }, NLM_F.DUMP)
      .flatMap((message) => {
        const found = decodeQdisc(message);
        if (!found) return [];
        const { ifindex, kind, handle, parent } = found;
        const options = decodeAttributes(message.body, 20).get(TCA.OPTIONS);
        return [{ ifindex, kind, handle, parent, options: kind === 'fq' ? decodeFqOptions(options) : undefined }];
      });
  }
}

export function decodeFqOptions(bytes: Uint8Array | undefined): FqOptions {
  const options = decodeAttributes(bytes ?? new Uint8Array(0));
  const word = (type: number): number => readU32(options.get(type)) ?? 0;
  return {
    ...{ limit: word(FQ.PLIMIT), flowLimit: word(FQ.FLOW_PLIMIT), orphanMask: word(FQ.ORPHAN_MASK) },
    horizonUs: readU32(options.get(FQ.HORIZON)) ?? Infinity,
  };
}

/** Whether all queues of a port are fq: the root, or what is below each queue of an mq. */
export function fqOf(ifindex: number, all: readonly FoundQdisc[]): FqPort | undefined {
  const here = all.filter((qdisc) => qdisc.ifindex === ifindex);
  const root = here.find(({ parent }) => parent === TC_H.ROOT);
  if (!root) return undefined;
  const queues = root.kind === 'mq' ? here.filter(({ parent }) => isBelow(parent, root.handle)) : [root];
  const options = queues.flatMap((queue) => (queue.options ? [queue.options] : []));
  if (queues.length === 0 || options.length < queues.length) return undefined;
  const least = (name: keyof FqOptions): number => Math.min(...options.map((one) => one[name]));
  return {
    ...{ ifindex, own: isOwn(root), isDefault: root.handle === 0 },
    options: {
      ...{ limit: least('limit'), flowLimit: least('flowLimit'), orphanMask: least('orphanMask') },
      horizonUs: least('horizonUs'),
    },
  };
}

const isBelow = (parent: number, handle: number): boolean =>
  parent !== TC_H.ROOT && parent >>> 16 === handle >>> 16 && (parent & 0xffff) !== 0;

const isOwn = ({ kind, handle }: Pick<FoundQdisc, 'kind' | 'handle'>): boolean => kind === 'fq' && handle === FQ_ROOT;

const formatOwn = '6e71:';

/** Restores every port of this network namespace: classes and fqs. Returns the names. @throws KernelError */
export function removeHoldQueues(): string[] {
  const ports = FqPorts.open();
  try {
    return [...removeHoldTrees(), ...ports.releaseAll().map((ifindex) => ports.nameOf(ifindex))];
  } finally {
    ports.close();
  }
}
