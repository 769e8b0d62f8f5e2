// Sweeping what the programs keep and nobody touches any more: flows of the congested node (LHCNP-5.2-e), Queue Pairs of the proxy. The programs do not use what is
// too old; this frees its place.
import { DEFAULT_LEARNING_LIMITS } from '../kernel/dataplane/proxy.ts';
import { flowsToForget } from '../learned/queue-pairs.ts';
import type { Clock } from '../model/clock.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';

const FLOWS_EVERY_MS = 10_000;
const QUEUE_PAIRS_EVERY_MS = 60_000;
/** One direction of a connection may stand alone for this long: its other half may be on its way. Nanoseconds. */
const HALF_GRACE_NS = 5_000_000_000n;

/** Starts sweeping; the returned function stops it. `onError` gets what a sweep throws; the next one comes all the same. */
export function startHousekeeping(dataplane: Dataplane, modules: { clock: Clock; onError: (error: unknown) => void }): () => void {
  const cancel = new Set<() => void>();
  const every = (ms: number, sweep: () => void): void => {
    const stop = modules.clock.after(ms, () => {
      cancel.delete(stop);
      every(ms, sweep);
      try {
        sweep();
      } catch (error) {
        modules.onError(error);
      }
    });
    cancel.add(stop);
  };
  every(FLOWS_EVERY_MS, () => dataplane.congestedNode?.ageFlows());
  every(QUEUE_PAIRS_EVERY_MS, () => {
    const { proxy } = dataplane;
    const limits = { now: process.hrtime.bigint(), ageingNs: BigInt(DEFAULT_LEARNING_LIMITS.ageingNs), graceNs: HALF_GRACE_NS };
    proxy?.forget(flowsToForget(proxy.learnedPairs(), limits));
  });
  return () => cancel.forEach((stop) => stop());
}
