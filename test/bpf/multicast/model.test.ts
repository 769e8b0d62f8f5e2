// The aggregation of answers against the truth: simulated groups whose nodes are the programs' own functions
// (bpf/bench/multicast-model.bpf.c). Hosts are RC as InfiniBand has it; links lose, repeat and overtake.
import { describe, expect, test } from 'vitest';
import { compileBpf } from '../support/compile.ts';
import { ModelDriver } from '../../../src/bench/support/multicast-model/driver.ts';
import { Simulation } from '../../../src/bench/support/multicast-model/simulation.ts';

/** A longer run: MODEL_EVENTS=100000000. */
const EVENTS = Number(process.env['MODEL_EVENTS'] ?? 10_000_000);

describe('answers of simulated groups', () => {
  test('A18: RMC-5.3.1-a: RMC-5.3.2-a: the source never learns more than every receiver has, no node sends more NAKs than it got, and all completes', () => {
    const { path, remove } = compileBpf('bpf/bench/multicast-model.bpf.c');
    const driver = new ModelDriver(path);
    try {
      const outcome = new Simulation(driver, 1).run(EVENTS);
      expect(outcome.violations).toEqual([]);
      expect(outcome.events).toBeGreaterThanOrEqual(EVENTS);
      expect(Math.min(outcome.joined, outcome.moved, outcome.restarted, outcome.naksAtSource)).toBeGreaterThan(0);
    } finally {
      driver.close();
      remove();
    }
  }, 1_200_000);
});
