// Periodic work. It sweeps aged entries from the programs' tables: flows of the congested node (LHCNP-5.2-e) and Queue
// Pairs of the proxy. The programs ignore aged entries; sweeping frees their places. It also reads the facts anew,
// since the kernel does not announce all of them.
import { type KnownFlow, mayForget } from '../learned/queue-pairs.ts';
import type { Clock } from '../model/clock.ts';
import type { Steps, Work } from '../model/work.ts';

const FLOWS_EVERY_MS = 10_000;
const QUEUE_PAIRS_EVERY_MS = 60_000;
/** How often ports are checked whose packets the proxy's program has rejected. */
const DOUBTS_EVERY_MS = 1000;
/** Changes that the kernel does not announce, such as sysctls, are seen within this time. */
const FACTS_EVERY_MS = 30_000;
/** Time for Queue Pairs in one turn of the event loop: about 256 of them. */
const BUDGET_MS = 2;
/** One direction of a connection may exist alone for this long: the other may not have been seen yet. Nanoseconds. */
const HALF_GRACE_NS = 5_000_000_000n;

/** The part of the dataplane (src/reconcile/dataplane.ts) that is swept. */
export interface SweptDataplane {
  readonly congestedNode: { ageFlows(): void } | undefined;
  readonly proxy: SweptProxy | undefined;
}

/** The name by which mayForget looks up the other direction. */
type FlowName = Parameters<Parameters<typeof mayForget>[1]>[0];

interface SweptProxy {
  /** Reads lazily, over several turns of the event loop. */
  learnedPairs(): Iterable<KnownFlow>;
  /** The current entry. */
  learnedPair(flow: FlowName | KnownFlow): KnownFlow | undefined;
  forget(flow: KnownFlow): void;
  takeDoubtedPorts(): readonly number[];
}

export interface HousekeepingDependencies {
  readonly clock: Clock;
  readonly work: Work;
  readonly readFacts: () => void;
  /** How long a connection without packets is kept, milliseconds. */
  readonly ageingMs: () => number;
  /** Packets that arrived at these ports were rejected. Absent: such ports are not looked up. */
  readonly onDoubts?: (ports: readonly number[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Starts sweeping; the returned function stops it. `onError` gets the error of a failed sweep; later sweeps still run.
 */
export function startHousekeeping(dataplane: SweptDataplane, dependencies: HousekeepingDependencies): () => void {
  const { work, onError } = dependencies;
  const cancel = new Set<() => void>();
  const after = (ms: number, run: () => void): void => {
    const stop = dependencies.clock.after(ms, () => {
      cancel.delete(stop);
      try {
        run();
      } catch (error) {
        onError(error);
      }
    });
    cancel.add(stop);
  };
  const every = (ms: number, sweep: () => void): void =>
    after(ms, () => {
      every(ms, sweep);
      sweep();
    });
  const begin = (steps: Steps): void => {
    const stop = work.run(steps, { budgetMs: BUDGET_MS, onDone: () => cancel.delete(stop), onError });
    cancel.add(stop);
  };
  every(FACTS_EVERY_MS, dependencies.readFacts);
  every(FLOWS_EVERY_MS, () => dataplane.congestedNode?.ageFlows());
  every(QUEUE_PAIRS_EVERY_MS, () => {
    if (dataplane.proxy) begin(forgetQueuePairs(dataplane.proxy, dependencies.ageingMs()));
  });
  const { onDoubts } = dependencies;
  if (onDoubts) {
    every(DOUBTS_EVERY_MS, () => {
      const ports = dataplane.proxy?.takeDoubtedPorts() ?? [];
      if (ports.length > 0) onDoubts(ports);
    });
  }
  return () => cancel.forEach((stop) => stop());
}

/** One Queue Pair per step. */
function* forgetQueuePairs(proxy: Omit<SweptProxy, 'takeDoubtedPorts'>, ageingMs: number): Steps {
  const limits = { now: process.hrtime.bigint(), ageingNs: BigInt(ageingMs) * 1_000_000n, graceNs: HALF_GRACE_NS };
  const gone = (pair: Parameters<typeof mayForget>[0]): boolean =>
    mayForget(pair, (name) => proxy.learnedPair(name), limits);
  for (const pair of proxy.learnedPairs()) {
    // The entry was read some turns ago. Keep it if a packet has refreshed or replaced it since.
    const present = gone(pair) ? proxy.learnedPair(pair) : undefined;
    if (present && gone(present)) proxy.forget(present);
    yield;
  }
}
