// The depth of a port's queue, asked of the kernel every few milliseconds: of the root qdisc, which counts what is in
// its classes too. Times are CLOCK_MONOTONIC in ms, as the endpoints report them.
import { Netns } from '../kernel/netns.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import { type Qdisc, TC_H } from '../kernel/netlink/traffic-control.ts';
import type { Poller } from '../kernel/poller.ts';
import { monotonicMs } from '../lab/roce/report.ts';
import type { Point } from './results.ts';

export interface QueueObserver {
  /** [ms, bytes] since the last start. */
  readonly samples: readonly Point[];
  /** Packets dropped since the start. */
  readonly drops: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  close(): void;
}

/** How often the queue is sampled. */
interface Sampling {
  /** Pause between two samples, once the onset is over. */
  readonly intervalMs: number;
  /**
   * How long after the queue first holds anything it is sampled as fast as the kernel answers; default: as long as
   * feedback is measured against that onset.
   */
  readonly onsetMs?: number;
}
const ONSET_MS = 300;

/** Samples the root qdisc of one interface. */
export async function observeQueue(
  netnsPath: string,
  name: string,
  sampling: Sampling,
  poller: Poller,
): Promise<QueueObserver> {
  const netns = Netns.open(netnsPath);
  const rtnetlink = Rtnetlink.open({ netns }, { poller });
  const link = await rtnetlink.link(name);
  if (!link) throw new Error(`no interface ${name} to watch`);
  const root = async (): Promise<Qdisc> => {
    const found = (await rtnetlink.qdiscs(link.ifindex)).find((q) => q.parent === TC_H.ROOT);
    if (!found) throw new Error(`${name} has no root qdisc`);
    return found;
  };
  const close = (): void => {
    rtnetlink.close();
    netns.close();
  };
  return new RootObserver(sampling, { root, close });
}

class RootObserver implements QueueObserver {
  samples: Point[] = [];
  drops = 0;
  readonly #sampling: Required<Sampling>;
  readonly #dependencies: { readonly root: () => Promise<Qdisc>; readonly close: () => void };
  #dropsBefore = 0;
  #onset = Infinity;
  #running = false;
  #loop = Promise.resolve();

  constructor(sampling: Sampling, dependencies: { readonly root: () => Promise<Qdisc>; readonly close: () => void }) {
    this.#sampling = { onsetMs: ONSET_MS, ...sampling };
    this.#dependencies = dependencies;
  }

  async start(): Promise<void> {
    this.samples = [];
    this.#dropsBefore = (await this.#dependencies.root()).stats.drops;
    this.drops = 0;
    this.#onset = Infinity;
    this.#running = true;
    this.#loop = this.#sampleUntilStopped();
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    await this.#sample();
  }

  close(): void {
    this.#running = false;
    this.#dependencies.close();
  }

  async #sampleUntilStopped(): Promise<void> {
    const { intervalMs, onsetMs } = this.#sampling;
    while (this.#running) {
      await this.#sample();
      const urgent = monotonicMs() < this.#onset + onsetMs;
      await new Promise((done) => (urgent ? setImmediate(done) : setTimeout(done, intervalMs)));
    }
  }

  async #sample(): Promise<void> {
    // The kernel answers a dump while it is asked; when this process gets to read the answer is another matter. Taken
    // early, a crossing never makes feedback look faster.
    const now = monotonicMs();
    const { stats } = await this.#dependencies.root();
    this.samples.push([now, stats.backlogBytes]);
    this.drops = stats.drops - this.#dropsBefore;
    if (stats.backlogBytes > 0) this.#onset = Math.min(this.#onset, now);
  }
}
