// What the watch inside the agent reports (loop-watch.process.ts), and what to make of it.
import { once } from 'node:events';
import type { Agent } from './agent.ts';
import { quantile } from '../statistics.ts';

export interface LoopReport {
  /** Milliseconds from one tick of the watch to the next. */
  readonly gaps: readonly number[];
  /** Processor time of the agent in each, all threads, ms. */
  readonly cpu: readonly number[];
  /** Processor time of its main thread in each, ms. */
  readonly main: readonly number[];
  /** Of perf_hooks.monitorEventLoopDelay at a resolution of 1 ms. */
  readonly perfHooksP99Ms: number;
}

/** What the watch in an agent (spawned with `watchLoop`) sees meanwhile. */
export async function watched(agent: Pick<Agent, 'child' | 'order'>, during: () => Promise<void>): Promise<LoopReport> {
  await agent.order('start');
  await during();
  const [message] = await Promise.all([once(agent.child, 'message'), agent.order('stop')]);
  return message[0] as LoopReport;
}

/**
 * The longest gap, and the most processor time in one, of the main thread and of all; ms. On a machine that has other
 * work to do the main thread's says more than the gap. That of all threads has what V8 compiles and marks beside it.
 */
export const longestTurn = (reports: readonly LoopReport[]): Readonly<Record<'wall' | 'main' | 'cpu', number>> => ({
  wall: Math.max(...reports.flatMap(({ gaps }) => gaps)),
  main: Math.max(...reports.flatMap(({ main }) => main)),
  cpu: Math.max(...reports.flatMap(({ cpu }) => cpu)),
});

const STEP_MS = 0.25;

/**
 * How long an event that comes at any moment waits for its turn, quantile `q`, ms. A long turn counts for as long as it
 * lasts: ticks that fell into it would have waited too ("coordinated omission"), which a plain quantile over the ticks
 * that did come forgets.
 */
export function waitQuantile(gaps: readonly number[], q: number): number {
  const waits: number[] = [];
  for (const gap of gaps) for (let wait = gap; wait > 0; wait -= STEP_MS) waits.push(wait);
  return quantile(waits, q);
}
