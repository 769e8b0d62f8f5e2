// Answers of different branches of one group that two CPUs take at the same moment (bpf/lib/multicast/aggregate.h).
import { expect, test } from 'vitest';
import { allowedCpus } from '../../support/cpus.ts';
import { compileBpf } from '../support/compile.ts';
import { ModelDriver } from '../../../src/bench/support/multicast-model/driver.ts';
import { LANES, Race, brokenIn, overlaps } from '../support/multicast-race.ts';

/** Rounds in which the CPUs really met. A busy machine may need more for them. */
const ROUNDS = 3;
const MOST = 15;
const ENOUGH = 500;

test('RMC-5.3.1-a: RMC-5.3.2-a: RMC-5.3.2-d: the minimum is never ahead of a receiver, is up to date at the end, and no more NAKs go up than came', async (context) => {
  const cpus = allowedCpus();
  context.skip(cpus.length < LANES, `this process may use CPU ${cpus.join(', ')} only`);
  const { path, remove } = compileBpf('bpf/bench/multicast-model.bpf.c');
  const driver = new ModelDriver(path);
  const race = new Race(driver, cpus);
  try {
    let met = 0;
    for (let seed = 1; met < ROUNDS && seed <= MOST; seed++) {
      const raced = await race.run(seed);
      expect(brokenIn(raced), `seed ${seed}`).toEqual([]);
      if (overlaps(raced) >= ENOUGH) met++;
    }
    expect(met).toBeGreaterThan(0);
  } finally {
    race.close();
    driver.close();
    remove();
  }
}, 120_000);
