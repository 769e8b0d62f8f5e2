// Whether cnpd still starts. A carrier that has come up once, or whose problem was named, has started: what happens to
// it later is no start. One that a reload creates anew starts again.
import { stagesOf } from '../diagnosis/stages.ts';
import type { Problem } from '../model/problem.ts';
import type { CarrierSummary, Stage } from '../model/telemetry-state.ts';

export interface ReadinessInputs {
  readonly isKernelOpen: () => boolean;
  readonly isPlanned: () => boolean;
  /** Everything declared was tried once. */
  readonly isTried: () => boolean;
  readonly carriers: () => readonly CarrierSummary[];
  /** The run of a carrier: it changes when the carrier is created anew. */
  readonly runOf: (carrier: CarrierSummary['carrier']) => unknown;
}

export class Readiness {
  readonly #inputs: ReadinessInputs;
  /** The runs of carriers that have started. */
  readonly #started = new Map<string, unknown>();

  constructor(inputs: ReadinessInputs) {
    this.#inputs = inputs;
  }

  /** @param problems as they are known */
  stages(problems: readonly Problem[]): Stage[] {
    const { isKernelOpen, isPlanned, runOf } = this.#inputs;
    const carriers = this.#inputs.carriers();
    const stages = stagesOf({ isKernelOpen: isKernelOpen(), isPlanned: isPlanned(), carriers, problems });
    for (const { carrier } of carriers)
      if (stages.some(({ name, state }) => name === carrier && state !== 'waiting'))
        this.#started.set(carrier, runOf(carrier));
    return stages;
  }

  /** What the start waits for, as `isis: no neighbor is up yet on cnpd-isis`; empty: it is over. */
  waitsFor(problems: readonly Problem[]): string[] {
    const waiting = this.stages(problems)
      .filter(({ state }) => state === 'waiting')
      .filter(({ name }) => !this.#hasStarted(name))
      .map(({ name, reason }) => `${name}: ${reason}`);
    return waiting.length > 0 || this.#inputs.isTried() ? waiting : ['daemon: not everything declared was tried yet'];
  }

  #hasStarted(name: string): boolean {
    const run = this.#started.get(name);
    return run !== undefined && run === this.#inputs.runOf(name as CarrierSummary['carrier']);
  }
}
