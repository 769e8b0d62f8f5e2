// The depth of a watched port's queue, asked of the kernel every few milliseconds. Times are CLOCK_MONOTONIC in ms, as
// the endpoints report them.
import { Netns } from '../kernel/netns.ts';
import { Rtnetlink } from '../kernel/netlink/rtnetlink.ts';
import type { Qdisc } from '../kernel/netlink/traffic-control.ts';
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

/**
 * How long after the queue first holds anything it is sampled as fast as the kernel answers: feedback is measured
 * against that onset.
 */
const ONSET_MS = 300;

/** Samples the root qdisc of one interface. @param intervalMs pause between two samples once the onset is over */
export async function observeQueue(
  netnsPath: string,
  name: string,
  intervalMs: number,
  poller: Poller,
): Promise<QueueObserver> {
  const netns = Netns.open(netnsPath);
  const rtnetlink = Rtnetlink.open({ netns }, { poller });
  const link = await rtnetlink.link(name);
  if (!link) throw new Error(`no interface ${name} to watch`);
  const root = async (): Promise<Qdisc> => {
    const found = (await rtnetlink.qdiscs(link.ifindex)).find((q) => q.kind === 'tbf');
    if (!found) throw new Error(`${name} has no TBF root`);
    return found;
  };
  const close = (): void => {
    rtnetlink.close();
    netns.close();
  };
  return new TbfObserver({ intervalMs }, { root, close });
}

class TbfObserver implements QueueObserver {
  samples: Point[] = [];
  drops = 0;
  readonly #intervalMs: number;
  readonly #dependencies: { readonly root: () => Promise<Qdisc>; readonly close: () => void };
  #dropsBefore = 0;
  #onset = Infinity;
  #running = false;
  #loop = Promise.resolve();

  constructor(
    opts: { readonly intervalMs: number },
    dependencies: { readonly root: () => Promise<Qdisc>; readonly close: () => void },
  ) {
    this.#intervalMs = opts.intervalMs;
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
    while (this.#running) {
      await this.#sample();
      const urgent = monotonicMs() < this.#onset + ONSET_MS;
      await new Promise((done) => (urgent ? setImmediate(done) : setTimeout(done, this.#intervalMs)));
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
