// A port with a TBF: its rate is changed, and its queue and counters are asked of the kernel about every millisecond.
import { Netns } from '../../../kernel/netns.ts';
import { Rtnetlink } from '../../../kernel/netlink/rtnetlink.ts';
import { monotonicMs } from '../../../lab/roce/report.ts';
import type { Bench } from '../bench.ts';
import type { PortSample } from '../overload.ts';

const EVERY_MS = 1;

export interface PortSampler {
  readonly samples: readonly PortSample[];
  start(): void;
  /** Ends the samples. Harmless when there are none. */
  stop(): Promise<void>;
  /** Gives the TBF another rate, bit/s, and keeps its queue. Returns when it had it, ms of CLOCK_MONOTONIC. */
  setRate(rate: number): Promise<number>;
}

/** @param tbf burst and limit of the TBF, bytes */
export async function samplePort(
  bench: Bench,
  { netnsPath, name }: { readonly netnsPath: string; readonly name: string },
  tbf: { readonly burst: number; readonly limit: number },
): Promise<PortSampler & { close(): Promise<void> }> {
  const netns = Netns.open(netnsPath);
  const rtnetlink = Rtnetlink.open({ netns }, bench);
  const { ifindex } = (await rtnetlink.link(name))!;
  const samples: PortSample[] = [];
  let running = false;
  let loop: Promise<void> = Promise.resolve();
  const sample = async (): Promise<void> => {
    const asked = monotonicMs();
    const root = (await rtnetlink.qdiscs(ifindex)).find((q) => q.kind === 'tbf');
    if (!root) throw new Error(`${name} has no TBF`);
    const { backlogBytes: backlog, bytes } = root.stats;
    samples.push({ t: asked, backlog, arrived: Number(bytes) + backlog });
  };
  const sampleUntilStopped = async (): Promise<void> => {
    while (running) {
      await sample();
      await new Promise((done) => setTimeout(done, EVERY_MS));
    }
  };
  const stop = async (): Promise<void> => {
    running = false;
    await loop;
  };
  return {
    samples,
    start: () => {
      samples.length = 0;
      running = true;
      loop = sampleUntilStopped();
    },
    stop,
    setRate: async (rate) => {
      await rtnetlink.setTbf({ ifindex, rate: BigInt(rate / 8), ...tbf });
      return monotonicMs();
    },
    close: async () => {
      await stop();
      rtnetlink.close();
      netns.close();
    },
  };
}
