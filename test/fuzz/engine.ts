// Makes inputs and gives them to a target. The same seed, target and corpus make the same inputs, on any machine, at
// any load.
import { type Chance, chance, mutated } from './mutate.ts';
import type { Target } from './target.ts';

export class Finding extends Error {
  readonly target: string;
  readonly input: Uint8Array;
  constructor(target: string, input: Uint8Array, cause: unknown) {
    const deeper = cause instanceof Error && cause.cause instanceof Error ? `: ${cause.cause.message}` : '';
    super(`${target}: ${cause instanceof Error ? cause.message : String(cause)}${deeper}`, { cause });
    this.name = 'Finding';
    this.target = target;
    this.input = input;
  }
}

/** @throws Finding */
export function tryInput(target: Target, input: Uint8Array): void {
  try {
    target.run(input);
  } catch (error) {
    throw new Finding(target.name, input, error);
  }
}

/** Half of the inputs as they were mutated, half of them repaired. */
export function nextInput(target: Target, corpus: readonly Uint8Array[], pick: Chance): Uint8Array {
  const input = mutated(corpus, pick, target.mostBytes);
  return target.repair && pick(2) === 0 ? target.repair(input) : input;
}

/** All of `corpus` as it is, then `runs` inputs made from it. @throws Finding */
export function fuzz(target: Target, corpus: readonly Uint8Array[], runs: number, seed: number): void {
  for (const input of corpus) tryInput(target, input);
  const pick = chance(seed);
  for (let n = 0; n < runs; n++) tryInput(target, nextInput(target, corpus, pick));
}
