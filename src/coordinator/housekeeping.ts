// Work that comes round: sweeping what the programs keep and nobody touches any more (flows of the congested node,
// LHCNP-5.2-e; Queue Pairs of the proxy): the programs do not use what is too old, this frees its place; and reading
// the facts anew, some of which the kernel does not announce.
import { type KnownFlow, mayForget } from '../learned/queue-pairs.ts';
import type { Clock } from '../model/clock.ts';
import type { Steps, Work } from '../model/work.ts';

const FLOWS_EVERY_MS = 10_000;
const QUEUE_PAIRS_EVERY_MS = 60_000;
/** What the proxy's program does not believe is looked into. */
const DOUBTS_EVERY_MS = 1000;
/** What the kernel does not announce, as sysctls, is seen within this time. */
const FACTS_EVERY_MS = 30_000;
/** For Queue Pairs in one turn of the event loop: about 256 of them. */
const BUDGET_MS = 2;
/** One direction of a connection may stand alone for this long: its other half may be on its way. Nanoseconds. */
const HALF_GRACE_NS = 5_000_000_000n;

/** What is swept of the dataplane (src/reconcile/dataplane.ts). */
export interface SweptDataplane {
  readonly congestedNode: { ageFlows(): void } | undefined;
  readonly proxy: SweptProxy | undefined;
}

/** By which mayForget asks for the other direction. */
type FlowName = Parameters<Parameters<typeof mayForget>[1]>[0];

interface SweptProxy {
  /** As they are read, which takes some turns of the event loop. */
  learnedPairs(): Iterable<KnownFlow>;
  /** As it is now. */
  learnedPair(flow: FlowName | KnownFlow): KnownFlow | undefined;
  forget(flow: KnownFlow): void;
  takeDoubtedPorts(): readonly number[];
}

export interface HousekeepingDependencies {
  readonly clock: Clock;
  readonly work: Work;
  readonly readFacts: () => void;
  /** How long a connection is known without a packet. */
  readonly ageingMs: () => number;
  /** What came by these ports was not believed. Absent: nobody asks. */
  readonly onDoubts?: (ports: readonly number[]) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Starts sweeping; the returned function stops it. `onError` gets what a sweep throws; the next one comes all the same.
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

/** A step is a Queue Pair. */
function* forgetQueuePairs(proxy: Omit<SweptProxy, 'takeDoubtedPorts'>, ageingMs: number): Steps {
  const limits = { now: process.hrtime.bigint(), ageingNs: BigInt(ageingMs) * 1_000_000n, graceNs: HALF_GRACE_NS };
  const gone = (pair: Parameters<typeof mayForget>[0]): boolean =>
    mayForget(pair, (name) => proxy.learnedPair(name), limits);
  for (const pair of proxy.learnedPairs()) {
    // It was read some turns ago: what a packet has touched since, or taught anew, stays.
    const present = gone(pair) ? proxy.learnedPair(pair) : undefined;
    if (present && gone(present)) proxy.forget(present);
    yield;
  }
}
