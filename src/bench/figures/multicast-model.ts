// RMC-5.3.1-a and RMC-5.3.2-a in 10⁸ events of simulated groups: the programs' own functions, against a simulation that
// knows what every receiver has. `npm test` has 10⁷ of them. It takes some minutes; MODEL_EVENTS=N makes
// it another number.
import { setImmediate } from 'node:timers/promises';
import { type Bench, type Figure, bpfObject } from '../support/bench.ts';
import { ModelDriver } from '../support/multicast-model/driver.ts';
import { type Outcome, Simulation } from '../support/multicast-model/simulation.ts';
import type { Row } from '../support/report.ts';

const EVENTS = Number(process.env['MODEL_EVENTS'] ?? 100_000_000);
/** Without a turn of the event loop. */
const AT_ONCE = 5_000_000;
/** Seeds of the worlds of one simulation. */
const SEEDS = 100_000;

interface Total extends Outcome {
  readonly programNs: number;
}

function simulate(seed: number, events: number): Total {
  const driver = new ModelDriver(bpfObject('bench_multicast-model'));
  try {
    return { ...new Simulation(driver, seed).run(events), programNs: driver.programNs };
  } finally {
    driver.close();
  }
}

const added = (a: Total, b: Total): Total => ({
  events: a.events + b.events,
  worlds: a.worlds + b.worlds,
  joined: a.joined + b.joined,
  moved: a.moved + b.moved,
  restarted: a.restarted + b.restarted,
  timeouts: a.timeouts + b.timeouts,
  sent: a.sent + b.sent,
  repeated: a.repeated + b.repeated,
  naks: a.naks + b.naks,
  naksAtSource: a.naksAtSource + b.naksAtSource,
  violations: [...a.violations, ...b.violations],
  programNs: a.programNs + b.programNs,
});

async function measured(bench: Bench): Promise<Total> {
  let total = simulate(SEEDS, Math.min(EVENTS, AT_ONCE));
  for (let n = 2; total.events < EVENTS && total.violations.length === 0; n++) {
    await setImmediate();
    bench.signal.throwIfAborted();
    total = added(total, simulate(n * SEEDS, Math.min(EVENTS - total.events, AT_ONCE)));
    if (n % 4 === 0) bench.say(`${(total.events / 1e6).toFixed(0)} million events, ${total.worlds} groups`);
  }
  return total;
}

export const multicastModel: Figure = {
  name: 'multicast-model',
  title: `${EVENTS.toExponential(0)} events of simulated groups: what the source is told, against what the receivers have`,
  async measure(bench) {
    const { events, worlds, joined, moved, restarted, timeouts, naks, naksAtSource, violations, programNs } =
      await measured(bench);
    const row: Row = {
      figure: this.name,
      what: `${(events / 1e6).toFixed(0)} million events: answers that confirm more than every receiver has`,
      unit: 'answers',
      measured: violations.length,
      reference: 'events',
      referenceValue: events,
      ratio: violations.length / events,
      target: '0',
      met: violations.length === 0,
      note:
        violations[0] ??
        `${worlds} groups, all completed; ${joined} receivers joined, ${moved} subtrees moved, ${restarted} nodes ` +
          `restarted, ${timeouts} timeouts of sources; ${naks} NAKs of receivers, ${naksAtSource} at the ` +
          `sources; ${(programNs / events).toFixed(0)} ns an event in the programs`,
    };
    return [row];
  },
};
