// What the watch inside the agent tells (loop-watch.process.ts), and what to make of it.
import { quantile } from './statistics.ts';

export interface LoopReport {
  /** Milliseconds from one tick of the watch to the next. */
  readonly gaps: readonly number[];
  /** Of perf_hooks.monitorEventLoopDelay at a resolution of 1 ms. */
  readonly perfHooksP99Ms: number;
}

const STEP_MS = 0.25;

/**
 * How long an event that comes at any moment waits for its turn, quantile `q`, ms. A long turn counts for as long as it lasts: ticks that fell into it would have
 * waited too ("coordinated omission"), which a plain quantile over the ticks that did come forgets.
 */
export function waitQuantile(gaps: readonly number[], q: number): number {
  const waits: number[] = [];
  for (const gap of gaps) for (let wait = gap; wait > 0; wait -= STEP_MS) waits.push(wait);
  return quantile(waits, q);
}
