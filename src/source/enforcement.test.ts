// What reaches the classes of the dataplane, and when. The dataplane here counts packets as a class does; real classes
// are in test/bpf/hold and test/e2e/enforce.test.ts.
import { beforeEach, describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import type { LongHaulAction } from '../model/notification.ts';
import type { SourceNotification } from '../model/source.ts';
import { FLOW, FakeClasses, LINE, RTT } from './enforcement.fixture.ts';
import { Enforcement } from './enforcement.ts';
import { defaultHoldOptions } from './hold.ts';
import type { HoldDataplane } from './hold-dataplane.ts';

let clock: ReturnType<typeof manualClock>;
let classes: FakeClasses;
let counts: Record<string, number>;
let enforcement: Enforcement;
let warnings: { error?: unknown }[];
/** What the program is told. */
let holding: Parameters<ConstructorParameters<typeof Enforcement>[1]['onHolding']>[0][];
let ready: boolean;
const settings = { options: { ...defaultHoldOptions(LINE), rttMs: RTT, rateIntervalMs: 0 }, buffer: 1_000_000 };
beforeEach(() => {
  clock = manualClock(1000);
  classes = new FakeClasses();
  counts = {};
  warnings = [];
  holding = [];
  ready = true;
  enforcement = new Enforcement(settings, {
    dataplane: classes,
    clock,
    work: microtaskWork(),
    monotonicNs: () => BigInt(Math.round(clock.now() * 1e6)),
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    log: { ...silentLog, warn: (fields) => void warnings.push(fields) },
    isReady: () => ready,
    onHolding: (told) => void holding.push(told),
  });
});

const notification = (action: LongHaulAction, parameter: number): SourceNotification => ({
  atNs: 0n,
  format: 'long-haul-icmpv6',
  action: 'enforce',
  node: address('2001:db8:ffff::2'),
  flow: FLOW,
  senderQpn: 0x64,
  ifindex: 1,
  instruction: { level: 1, action, parameter },
  metric: 0,
  trace: null,
});
/** Lets what is under way come to its end. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
const instruct = async (action: LongHaulAction, parameter: number): Promise<void> => {
  enforcement.onNotification(notification(action, parameter));
  await settled();
};
const pass = async (ms: number): Promise<void> => {
  for (const end = clock.now() + ms; clock.now() < end;) {
    clock.advance(Math.min(1, end - clock.now()));
    await settled();
  }
};
const taken = (): unknown[][] => classes.calls.splice(0);

test('LHCNP-5.6-d: Rate Reduce 30 gives the flow a class of 70 percent of the line, with its buffer, then holds it', async () => {
  await instruct('rate-reduce', 30);
  expect(taken()).toEqual([
    ['class', 1, 7_000_000n, 1_000_000],
    ['held', 1],
  ]);
  // It lives for three seconds from now, unless it is renewed.
  expect(classes.hold).toEqual({ phase: 'held', untilNs: 4_000_000_000n, drained: 0n });
});

test('what a program has made of an instruction by itself is over in the flow’s class, once the machine has decided', async () => {
  Object.assign(classes, { confirm: (slot: number) => void classes.calls.push(['confirm', slot]) });
  await instruct('notify', 0);
  taken();
  await instruct('rate-reduce', 60);
  expect(taken()).toEqual([
    ['rate', 1, 2_000_000n],
    ['confirm', 1],
  ]);
  await instruct('resume', 0);
  expect(taken().at(-1)).toEqual(['confirm', 1]);
});

test('LHCNP-5.6-g: it recovers two round trips later, step by step, and its class is let go at line rate', async () => {
  await instruct('rate-reduce', 10);
  taken();
  await pass(2 * RTT - 1);
  expect(taken()).toEqual([]);
  await pass(1);
  expect(taken()).toEqual([['rate', 1, 9_500_000n]]);
  await pass(RTT);
  expect(taken().slice(0, 2)).toEqual([
    ['rate', 1, 10_000_000n],
    ['leaving', 1],
  ]);
});

describe('a leaving flow', () => {
  beforeEach(async () => {
    [classes.sent, classes.dropped, classes.backlog] = [100n, 5n, 3];
    await instruct('rate-reduce', 10);
    classes.entered = 20n;
    await pass(3 * RTT);
    taken();
  });

  test('stays in its class until all that entered has left it; what was in the class before does not count', async () => {
    [classes.sent, classes.backlog] = [122n, 0];
    await pass(20);
    expect(classes.hold).toMatchObject({ phase: 'leaving', drained: 19n });
    expect(enforcement.views()).toMatchObject([{ state: 'leaving' }]);
    classes.sent = 123n;
    await pass(10);
    expect(taken().at(-1)).toEqual(['removed']);
    expect(enforcement.views()).toEqual([]);
  });

  test('that is notified again stays in its class, and its packets there are still its own', async () => {
    await instruct('rate-reduce', 50);
    expect(classes.hold).toMatchObject({ phase: 'held' });
    classes.sent = 123n;
    await pass(20 * RTT);
    expect(taken().at(-1)).toEqual(['removed']);
  });

  test('dropped packets have left, too', async () => {
    [classes.sent, classes.dropped] = [121n, 7n];
    await pass(20);
    expect(classes.hold).toBeUndefined();
  });
});

describe('LHCNP-5.5.1-c: a pause', () => {
  test('is the dataplane’s, and the former rate is set again while the silence lasts', async () => {
    await instruct('pause', 40_000);
    expect(taken()).toEqual([
      ['class', 1, 10_000_000n, 1_000_000],
      ['held', 1],
      ['pause', 1, 40_000],
    ]);
    classes.sent++;
    await pass(20);
    expect(taken()).toEqual([['rate', 1, 10_000_000n]]);
  });

  test('is asked for again for what is left of it while no frame has come that it could cost', async () => {
    await instruct('pause', 40_000);
    taken();
    await pass(20);
    expect(taken()).toEqual([['pause', 1, 20_000]]);
    await pass(10);
    expect(taken()).toEqual([['pause', 1, 10_000]]);
    await pass(40);
    expect(classes.hold?.phase ?? 'leaving').toBe('leaving');
  });

  test('ends at once with a Resume, as far as the dataplane can', async () => {
    await instruct('rate-reduce', 50);
    await instruct('pause', 60_000);
    taken();
    await instruct('resume', 50);
    expect(taken()).toContainEqual(['rate', 1, 7_500_000n]);
    await pass(30);
    expect(taken().filter(([name]) => name === 'pause')).toEqual([]);
  });
});

test('a hold is renewed while it lasts: an agent that dies lets go after the lifetime', async () => {
  await instruct('rate-reduce', 50);
  for (let i = 0; i < 100; i++) {
    await pass(25);
    await instruct('rate-reduce', 50);
  }
  expect(classes.hold!.untilNs).toBeGreaterThan(5_000_000_000n);
});

test('what the kernel refuses is counted, and the flow goes on as it was', async () => {
  classes.refuses = 'class';
  await instruct('rate-reduce', 50);
  expect(counts['source.hold.refused']).toBe(1);
  expect(classes.hold).toBeUndefined();
  await pass(30 * RTT);
  expect(counts['source.hold.refused']).toBe(1);
});

test('refusals are logged once a second with what the kernel said, and all are counted', async () => {
  classes.refuses = 'class';
  for (let i = 0; i < 500; i++) await instruct('rate-reduce', 50);
  expect(warnings).toEqual([{ error: 'the kernel said no' }]);
  expect(counts['source.hold.refused']).toBe(500);
  clock.advance(1000);
  await instruct('rate-reduce', 50);
  expect(warnings).toHaveLength(2);
});

test('release lets a flow go, and the next notification holds it again', async () => {
  await instruct('rate-reduce', 50);
  enforcement.release('all');
  await settled();
  expect(enforcement.views()).toMatchObject([{ state: 'leaving' }]);
  await instruct('rate-reduce', 50);
  expect(enforcement.views()).toMatchObject([{ state: 'held' }]);
});

test('a program that obeys by itself goes no lower than a hundredth of the line', async () => {
  const least: bigint[] = [];
  classes.setClass = (_slot, wanted) => {
    least.push((wanted as Parameters<HoldDataplane['setClass']>[1]).least);
    return Promise.resolve();
  };
  await instruct('rate-reduce', 50);
  expect(least).toEqual([BigInt(LINE / 100 / 8)]);
});

test('stop: every flow goes straight, and what is in its class leaves at line rate', async () => {
  await instruct('rate-reduce', 50);
  taken();
  await enforcement.stop();
  expect(taken()).toEqual([['rate', 1, 10_000_000n], ['leaving', 1], ['removed']]);
  await pass(1000);
  expect(taken()).toEqual([]);
});

test('two notifications in one turn of the event loop: one that changes nothing keeps no other waiting', async () => {
  await instruct('rate-reduce', 30);
  taken();
  enforcement.onNotification(notification('rate-reduce', 30)); // the network has doubled it
  enforcement.onNotification(notification('pause', 40_000));
  await settled();
  expect(taken()).toEqual([['pause', 1, 40_000]]);
});

test('LHCNP-5.5.1-e: a flow that is stopped at once never has a class so slow that one frame silences it for a minute', async () => {
  await instruct('rate-reduce', 100);
  expect(taken()).toEqual([
    ['class', 1, 10_000_000n, 1_000_000],
    ['pause', 1, 65_535],
    ['held', 1],
  ]);
});

test('a pause that is asked for again does not outlast the Resume that comes meanwhile', async () => {
  await instruct('pause', 40_000);
  let asked = 0;
  const counters = classes.classCounters;
  classes.classCounters = async () => {
    // The timer at the half of the pause has begun to ask for the rest of it.
    if (++asked === 2) enforcement.onNotification(notification('resume', 0));
    if (asked === 2) await settled();
    return counters();
  };
  clock.advance(20);
  await settled();
  await settled();
  const names = classes.calls.map(([name]) => name);
  expect(names).toContain('leaving');
  expect(names.lastIndexOf('pause')).toBeLessThan(names.lastIndexOf('rate'));
});

test('a flow whose class the kernel has refused is not shown as held, and its next notification tries again', async () => {
  classes.refuses = 'class';
  await instruct('rate-reduce', 50);
  expect(enforcement.views()).toEqual([]);
  classes.refuses = undefined;
  await instruct('rate-reduce', 50);
  expect(enforcement.views()).toMatchObject([{ state: 'held', slot: 1 }]);
  expect(classes.hold).toMatchObject({ phase: 'held' });
});

test('a flow that is to be held again, which the kernel refuses, leaves as before, and is held by the next notification', async () => {
  await instruct('rate-reduce', 50);
  classes.entered = 5n;
  enforcement.release('all');
  await settled();
  classes.refuses = 'class';
  await instruct('rate-reduce', 50);
  expect(enforcement.views()).toMatchObject([{ state: 'leaving', slot: 1 }]);
  expect(classes.hold).toMatchObject({ phase: 'leaving' });
  classes.refuses = undefined;
  await instruct('rate-reduce', 50);
  expect(enforcement.views()).toMatchObject([{ state: 'held', slot: 1 }]);
  expect(classes.hold).toMatchObject({ phase: 'held' });
});
