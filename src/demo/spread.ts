// Repetitions of one run as one figure: the one in the middle, and from where to where they reach. Pure.
import type { DemoRun, Mode } from './results.ts';

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** What a run has measured; null: nothing. */
export type Measure = (run: DemoRun) => number | null;

/** The middle of an even number is the mean of two. Undefined unless every run has a value. */
export function spreadOf(runs: readonly DemoRun[], measure: Measure): Spread | undefined {
  const values = runs.map(measure);
  if (values.length === 0 || values.includes(null)) return undefined;
  const sorted = (values as number[]).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

/** In the order in which they were made. */
export const modesOf = (runs: readonly DemoRun[]): readonly Mode[] => [...new Set(runs.map(({ mode }) => mode))];

export const ofMode = (runs: readonly DemoRun[], mode: Mode): readonly DemoRun[] =>
  runs.filter((run) => run.mode === mode);

/** The repetition that stands in the middle by a measure, for a plot. */
export function typical(runs: readonly DemoRun[], measure: Measure): DemoRun {
  const sorted = runs.toSorted((a, b) => (measure(a) ?? Infinity) - (measure(b) ?? Infinity));
  return sorted[Math.floor((sorted.length - 1) / 2)]!;
}
