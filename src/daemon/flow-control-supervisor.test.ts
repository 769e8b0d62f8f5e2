// Precise flow control that cannot be started: nothing is left open, and it is tried again.
import { beforeEach, expect, test } from 'vitest';
import type { Poller } from '../kernel/poller.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import type { FlowControlPlan } from '../plan/flow-control-plan.ts';
import type { Hold } from '../reconcile/hold.ts';
import { FlowControlSupervisor } from './flow-control-supervisor.ts';

const plan = (udpPort: number): FlowControlPlan => ({
  ...{ bitOrder: 'msb-first', mode: 'service', udpPort },
  ...{ interfaces: [], watch: [], hold: [], above: 1, below: 1, lineRate: 1e9 },
  ...{ buffer: 1e6, neighbors: [], acceptFrom: [], pauseUs: 10_000, longestPauseUs: 60_000, watchdogMs: 100 },
  ...{ perSecond: 1000, burst: 10, priorities: [] },
});

let clock: ReturnType<typeof manualClock>;
let counts: Record<string, number>;
/** Ports of sockets that are open. */
let open: number[];
let rings: number;
let fails: boolean;
/** Machines in the recording. */
let recorded: string[];
let supervisor: FlowControlSupervisor;
beforeEach(() => {
  clock = manualClock();
  [counts, open, rings, fails, recorded] = [{}, [], 0, false, []];
  supervisor = new FlowControlSupervisor({
    ...{ clock, work: microtaskWork(), log: silentLog, poller: {} as Poller, interfaceName: () => undefined },
    ...{ routesBack: { routersTo: () => [] }, neighbors: { routersAt: () => [] } },
    recorder: { begin: (machine) => void recorded.push(machine), carrierStopped: () => undefined },
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    openSocket: ({ port }) => {
      open.push(port);
      return {
        configure: () => {},
        send: () => {},
        problems: () => [],
        close: () => void open.splice(open.indexOf(port), 1),
      };
    },
  });
});
const hold = {
  flowControl: {
    onFilled: () => {
      if (fails) throw new Error('cannot map the ring');
      rings++;
      return { close: () => void rings-- };
    },
  },
} as unknown as Hold;
const apply = (udpPort?: number): void =>
  supervisor.apply({ flowControl: udpPort === undefined ? undefined : plan(udpPort) } as never, { hold });
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};
const problems = (): string[] => supervisor.problems().map(({ code }) => code);

test('it is a problem, and is tried again until it succeeds', () => {
  fails = true;
  apply(1022);
  clock.advance(9999);
  expect([open, rings, counts, problems()]).toEqual([
    [],
    0,
    { 'flow-control.not-started': 1 },
    ['flow-control.not-started'],
  ]);
  fails = false;
  clock.advance(1);
  expect([open, rings, problems()]).toEqual([[1022], 1, []]);
  clock.advance(60_000);
  expect([open, rings]).toEqual([[1022], 1]);
});

test('the same where it follows one that ran: that one is closed', async () => {
  apply(1022);
  fails = true;
  apply(1023);
  await settled();
  expect([open, rings, problems()]).toEqual([[], 0, ['flow-control.not-started']]);
  fails = false;
  apply(1023);
  expect([open, rings, problems()]).toEqual([[1023], 1, []]);
});

test('it is not tried again where no file asks for it any more', async () => {
  fails = true;
  apply(1022);
  apply();
  expect(problems()).toEqual([]);
  apply(1022);
  await supervisor.stop();
  fails = false;
  clock.advance(60_000);
  expect([open, problems()]).toEqual([[], []]);
});

test('a restart for a recording: the machines are made anew, on the same port', async () => {
  const both = ['flow-control-asked', 'flow-control-paused'];
  apply(1022);
  expect(recorded).toEqual(both);
  await supervisor.restart();
  await settled();
  expect([open, rings, recorded, problems()]).toEqual([[1022], 1, [...both, ...both], []]);
  apply();
  await settled();
  await supervisor.restart();
  expect([open, rings]).toEqual([[], 0]);
});
