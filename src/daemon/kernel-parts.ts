// The daemon's handles to the kernel: rtnetlink, the dataplane, and the monitor of changes.
import { type KernelWatch, readKernelFacts, watchKernel } from '../coordinator/kernel-facts.edge.ts';
import type { Intent } from '../intent/intent.ts';
import { makePinDirectory } from '../kernel/bpf/bpffs.ts';
import { objectDir } from '../kernel/bpf/object-dir.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import { type KernelFeature, probeKernel } from '../kernel/probe.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import type { Work } from '../model/work.ts';
import type { Facts } from '../plan/facts.ts';
import { Dataplane } from '../reconcile/dataplane.ts';
import type { Logging } from './logging.ts';
import { bpfDir, linksDir } from './run-dir.ts';

export interface KernelPartsDependencies {
  readonly runDir: string;
  readonly poller: Poller;
  readonly clock: Clock;
  readonly work: Work;
  readonly logging: Logging;
  readonly count: Count;
  /** Links, addresses or qdiscs have changed. */
  readonly onChange: () => void;
}

export class KernelParts {
  readonly rtnetlink: Rtnetlink;
  readonly dataplane: Dataplane;
  readonly #features: readonly KernelFeature[];
  readonly #work: Work;
  readonly #watch: KernelWatch;

  private constructor(rtnetlink: Rtnetlink, features: readonly KernelFeature[], dependencies: KernelPartsDependencies) {
    const { runDir, poller, clock, work, logging, count, onChange } = dependencies;
    this.rtnetlink = rtnetlink;
    this.#features = features;
    this.#work = work;
    const directories = { bpfDir: bpfDir(runDir), linksDir: linksDir(runDir), objectDir: objectDir() };
    this.dataplane = new Dataplane(directories, { clock, work, log: logging.component('reconcile'), count });
    this.#watch = watchKernel({ poller, log: logging.component('kernel'), count, onChange });
  }

  /** @throws KernelError, also if the BPF file system is not available */
  static async open(dependencies: KernelPartsDependencies): Promise<KernelParts> {
    const { runDir, poller } = dependencies;
    makePinDirectory(bpfDir(runDir), linksDir(runDir));
    const rtnetlink = Rtnetlink.open({}, { poller });
    try {
      return new KernelParts(rtnetlink, await probeKernel({ poller, objectDir: objectDir() }), dependencies);
    } catch (error) {
      rtnetlink.close();
      throw error;
    }
  }

  /** Reads the facts now. */
  facts(intent: Intent): Promise<Facts> {
    return readKernelFacts({ rtnetlink: this.rtnetlink, work: this.#work, features: this.#features }, intent);
  }

  /** Ends the calls of `onChange`. */
  stopWatching(): void {
    this.#watch.close();
  }

  /** Programs and maps stay. Closes rtnetlink also if the dataplane throws. */
  close(): void {
    try {
      this.dataplane.close();
    } finally {
      this.rtnetlink.close();
    }
  }
}
