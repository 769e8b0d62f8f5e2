// Summaries of repeated measurements, and the order in which they are made: what is compared is measured in turns
// (A/B/A/B), so that a machine that is slow for a while is slow for both.

export interface Summary {
  readonly runs: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The value below which the share `q` (0 … 1) of the samples lies, nearest rank.
 * @throws RangeError when there is none
 */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new RangeError('nothing was measured');
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))]!;
}

export function summary(samples: readonly number[]): Summary {
  return { runs: samples.length, median: quantile(samples, 0.5), min: quantile(samples, 0), max: quantile(samples, 1) };
}

/** Runs every contender once a round, in the same order each time. Returns what each measured, by its name. */
export async function inTurns<K extends string>(
  rounds: number,
  contenders: Readonly<Record<K, () => number | Promise<number>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(contenders) as K[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) measured[name].push(await contenders[name]());
  }
  return measured;
}

/** Each `a` minus the `b` of its own round: what both suffered alike is gone. */
export const differences = (a: readonly number[], b: readonly number[]): number[] => a.map((value, i) => value - b[i]!);
