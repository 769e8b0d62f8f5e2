// Work that comes round: sweeping what the programs keep and nobody touches any more (flows of the congested node, LHCNP-5.2-e; Queue Pairs of the proxy): the programs
// do not use what is too old, this frees its place; and reading the facts anew, some of which the kernel does not announce.
import { DEFAULT_LEARNING_LIMITS } from '../kernel/dataplane/proxy.ts';
import { mayForget } from '../learned/queue-pairs.ts';
import type { Clock } from '../model/clock.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import type { Proxy } from '../reconcile/proxy.ts';

const FLOWS_EVERY_MS = 10_000;
const QUEUE_PAIRS_EVERY_MS = 60_000;
/** What the kernel does not announce, as sysctls, is seen within this time. */
const FACTS_EVERY_MS = 30_000;
/** Queue Pairs looked at in one turn of the event loop: about 2 ms. */
const SLICE = 256;
/** One direction of a connection may stand alone for this long: its other half may be on its way. Nanoseconds. */
const HALF_GRACE_NS = 5_000_000_000n;

/** Starts sweeping; the returned function stops it. `onError` gets what a sweep throws; the next one comes all the same. */
export function startHousekeeping(dataplane: Dataplane, modules: { clock: Clock; readFacts: () => void; onError: (error: unknown) => void }): () => void {
  const cancel = new Set<() => void>();
  const after = (ms: number, run: () => void): void => {
    const stop = modules.clock.after(ms, () => {
      cancel.delete(stop);
      try {
        run();
      } catch (error) {
        modules.onError(error);
      }
    });
    cancel.add(stop);
  };
  const every = (ms: number, sweep: () => void): void =>
    after(ms, () => {
      every(ms, sweep);
      sweep();
    });
  const inSlices = (steps: Iterator<void>): void => {
    for (let i = 0; i < SLICE; i++) if (steps.next().done) return;
    after(1, () => inSlices(steps));
  };
  every(FACTS_EVERY_MS, modules.readFacts);
  every(FLOWS_EVERY_MS, () => dataplane.congestedNode?.ageFlows());
  every(QUEUE_PAIRS_EVERY_MS, () => {
    if (dataplane.proxy) inSlices(forgetQueuePairs(dataplane.proxy));
  });
  return () => cancel.forEach((stop) => stop());
}

/** A step is a Queue Pair. */
function* forgetQueuePairs(proxy: Pick<Proxy, 'learnedPairs' | 'learnedPair' | 'forget'>): Generator<void> {
  const limits = { now: process.hrtime.bigint(), ageingNs: BigInt(DEFAULT_LEARNING_LIMITS.ageingNs), graceNs: HALF_GRACE_NS };
  const gone = (pair: Parameters<typeof mayForget>[0]): boolean => mayForget(pair, (name) => proxy.learnedPair(name), limits);
  for (const pair of proxy.learnedPairs()) {
    // It was read some turns ago: what a packet has touched since, or taught anew, stays.
    const present = gone(pair) ? proxy.learnedPair(pair) : undefined;
    if (present && gone(present)) proxy.forget(present);
    yield;
  }
}
