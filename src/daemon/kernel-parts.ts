// The daemon's handles to the kernel: rtnetlink, the dataplane, and the monitor of changes.
import { join } from 'node:path';
import { type KernelWatch, readKernelFacts, watchKernel } from '../coordinator/kernel-facts.edge.ts';
import type { Intent } from '../intent/intent.ts';
import { makePinDirectory } from '../kernel/bpf/bpffs.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Poller } from '../kernel/poller.ts';
import { PROBE_OBJECT } from '../kernel/probe-attempts.ts';
import { type KernelFeature, probeKernel } from '../kernel/probe.ts';
import type { Clock } from '../model/clock.ts';
import type { Count } from '../model/log.ts';
import type { Work } from '../model/work.ts';
import { type Facts, NEEDED_FEATURES } from '../plan/facts.ts';
import { Dataplane } from '../reconcile/dataplane.ts';
import { KeptFeatures, kernelNow } from './kept-features.ts';
import type { Logging } from './logging.ts';
import { bpfDir, linksDir } from './run-dir.ts';

export interface KernelPartsDependencies {
  readonly runDir: string;
  /** Of the compiled programs. */
  readonly objectDir: string;
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
  readonly #kept: KeptFeatures;
  readonly #watch: KernelWatch;

  private constructor(
    rtnetlink: Rtnetlink,
    { features, kept }: { readonly features: readonly KernelFeature[]; readonly kept: KeptFeatures },
    dependencies: KernelPartsDependencies,
  ) {
    const { runDir, objectDir, poller, clock, work, logging, count, onChange } = dependencies;
    this.rtnetlink = rtnetlink;
    this.#features = features;
    this.#work = work;
    this.#kept = kept;
    const directories = { bpfDir: bpfDir(runDir), linksDir: linksDir(runDir), objectDir };
    this.dataplane = new Dataplane(directories, { clock, work, log: logging.component('reconcile'), count });
    this.#watch = watchKernel({ poller, log: logging.component('kernel'), count, onChange });
  }

  /** @throws KernelError, also if the BPF file system is not available */
  static async open(dependencies: KernelPartsDependencies): Promise<KernelParts> {
    const { runDir, objectDir, poller, logging, count } = dependencies;
    makePinDirectory(bpfDir(runDir), linksDir(runDir));
    const kernel = () => kernelNow(join(objectDir, PROBE_OBJECT));
    const kept = new KeptFeatures(runDir, { kernel, count, log: logging.component('kernel') });
    const rtnetlink = Rtnetlink.open({}, { poller });
    try {
      const questions = { only: NEEDED_FEATURES, known: kept.known() };
      const features = await probeKernel({ poller, objectDir }, questions);
      return new KernelParts(rtnetlink, { features, kept }, dependencies);
    } catch (error) {
      rtnetlink.close();
      throw error;
    }
  }

  /** Reads the facts now. */
  facts(intent: Intent): Promise<Facts> {
    return readKernelFacts({ rtnetlink: this.rtnetlink, work: this.#work, features: this.#features }, intent);
  }

  /**
   * Keeps what the probe has found for the next start. Nothing, if a program could not be loaded: then the next start
   * finds out what this kernel lacks. Call it once the programs are loaded.
   */
  keepFeatures(): void {
    const isRefused = this.dataplane.problems().some(({ code }) => code === 'dataplane.not-loaded');
    this.#kept.keep(isRefused ? [] : this.#features.filter(({ ok }) => ok).map(({ name }) => name));
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
