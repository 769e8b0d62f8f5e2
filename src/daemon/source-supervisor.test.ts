// What becomes of held flows, and of notifications, while flows are let go because what holds them has changed.
import { beforeEach, expect, test } from 'vitest';
import type { Poller } from '../kernel/poller.ts';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { parsePrefix } from '../model/prefix.ts';
import type { Queueing } from '../model/queueing.ts';
import type { SourceNotification } from '../model/source.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import type { SourcePlan } from '../plan/source-plan.ts';
import type { Dataplane } from '../reconcile/dataplane.ts';
import { FLOW, FakeClasses, LINE } from '../source/enforcement.fixture.ts';
import { SourceSupervisor } from './source-supervisor.ts';

const prefix = parsePrefix('2001:db8:1::/64');
const plan = (queueing: Queueing) =>
  ({
    senders: [{ id: 'a', prefix, action: 'enforce' }],
    enforce: { ports: [], lineRate: LINE, rttMs: 20, response: 50, queueing, buffer: 1_000_000, flows: 10 },
  }) as unknown as SourcePlan;

let clock: ReturnType<typeof manualClock>;
let classes: FakeClasses;
/** What the program was told last: whether it takes notifications from hosts. */
let takes: boolean;
let notify: (taken: SourceNotification) => void;
let supervisor: SourceSupervisor;
beforeEach(() => {
  clock = manualClock(1000);
  classes = new FakeClasses();
  const poller = {} as Poller;
  supervisor = new SourceSupervisor({
    ...{ clock, work: microtaskWork(), log: silentLog, poller, count: () => {}, rttMs: () => new Map() },
  });
});

const apply = (queueing: Queueing): void => {
  const source = {
    setHolding: ({ untilNs }: { untilNs: bigint }) => void (takes = untilNs > 0n),
    onNotification: (on: typeof notify) => ((notify = on), { close: () => {} }),
  };
  const dataplane = { source, hold } as unknown as Dataplane;
  supervisor.apply({ source: plan(queueing) }, dataplane);
};
const hold = {
  get classes() {
    return classes;
  },
  isReady: true,
  onPorts: () => {},
};
const settled = async (): Promise<void> => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
const pass = async (ms: number): Promise<void> => {
  for (let i = 0; i < ms; i++) {
    clock.advance(1);
    await settled();
  }
};
const reduce = async (): Promise<void> => {
  notify({
    ...{ atNs: 0n, format: 'long-haul-icmpv6', action: 'enforce', node: address('2001:db8:ffff::2'), flow: FLOW },
    ...{ senderQpn: 0x64, ifindex: 1, metric: 0, trace: null },
    instruction: { level: 1, action: 'rate-reduce', parameter: 50 },
  });
  await settled();
};
const names = (): unknown[] => classes.calls.splice(0).map(([name]) => name);

/** A packet of the flow stays in its class. */
async function heldFlow(): Promise<void> {
  apply('auto');
  await reduce();
  expect([names(), takes]).toEqual([['class', 'held'], true]);
  classes.entered = 1n;
}

test('while flows are let go, notifications are left to the hosts', async () => {
  await heldFlow();
  apply('htb');
  expect(takes).toBe(false);
  await pass(400);
  expect([takes, supervisor.holds()]).toEqual([false, []]);
  await pass(200);
  expect([names().at(-1), takes]).toEqual(['removed', true]);
  await reduce();
  expect([names(), supervisor.holds().length]).toEqual([['class', 'held'], 1]);
});

test('no flow is held until all earlier ones have been let go, however often that changes', async () => {
  await heldFlow();
  for (const queueing of ['htb', 'fq', 'htb'] as const) {
    apply(queueing);
    await pass(20);
    await reduce();
    expect([takes, supervisor.holds()]).toEqual([false, []]);
  }
  let stopped = false;
  const stopping = supervisor.stop().then(() => (stopped = true));
  await pass(400);
  expect(stopped).toBe(false);
  await pass(200);
  await stopping;
  expect(names().at(-1)).toBe('removed');
});
