// What the dataplane is asked for when effects come faster than it can follow, and when it refuses.
import { beforeEach, describe, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import { FakeClasses, LINE, flow } from './enforcement.fixture.ts';
import { HeldClasses } from './held-classes.ts';
import type { HoldEffect, SourceFlow } from './hold.ts';

let clock: ReturnType<typeof manualClock>;
let dataplane: FakeClasses;
let told: unknown[][];
let classes: HeldClasses<SourceFlow>;
beforeEach(() => {
  clock = manualClock(1000);
  dataplane = new FakeClasses();
  told = [];
  classes = new HeldClasses(
    { lineRate: LINE, minimumRate: LINE / 100, buffer: 1_000_000, silenceUs: () => 65_535 },
    {
      ...{ dataplane, clock, work: microtaskWork(), log: silentLog },
      monotonicNs: () => BigInt(Math.round(clock.now() * 1e6)),
    },
    {
      onDrained: ({ receiverQpn }) => void told.push(['drained', receiverQpn]),
      onRefused: ({ receiverQpn }, slot, leaves) => void told.push(['refused', receiverQpn, slot, leaves]),
      onError: () => void told.push(['error']),
    },
  );
});

type Kind = HoldEffect extends infer E ? (E extends HoldEffect ? Omit<E, 'flow' | 'slot'> : never) : never;
const A = flow(1);
const B = flow(2);
const ask = (effect: Kind, of = A, slot = 1): void =>
  classes.apply([{ flow: of, slot, ...effect } as HoldEffect<SourceFlow>]);
const hold = (rate: number, of = A): void => ask({ kind: 'hold', rate, untilMs: 4000 }, of);
const rate = (wanted: number): void => ask({ kind: 'rate', rate: wanted });
const leave = (): void => ask({ kind: 'leave', rate: LINE });
const free = (of = A): void => ask({ kind: 'free' }, of);
const settled = async (): Promise<void> => {
  for (let i = 0; i < 60; i++) await Promise.resolve();
};
const pass = async (ms: number): Promise<void> => {
  clock.advance(ms);
  await settled();
};
const taken = (): unknown[][] => dataplane.calls.splice(0);

describe('of what waits for the kernel, only the latest is asked for', () => {
  test('the rate of a hold', async () => {
    hold(8000);
    for (let i = 1; i <= 1000; i++) rate(8000 * i);
    await settled();
    expect(taken()).toEqual([
      ['class', 1, 1_000_000n, 1_000_000],
      ['held', 1],
    ]);
    for (let i = 1; i <= 1000; i++) rate(16_000 * i);
    expect(classes.waiting).toBe(1);
    await settled();
    expect(taken()).toEqual([['rate', 1, 2_000_000n]]);
  });

  test('a pause that has been taken back before its turn is none; one that has not is as long as what is left of it', async () => {
    hold(8000);
    await settled();
    taken();
    ask({ kind: 'pause', microseconds: 40_000 });
    ask({ kind: 'resume' });
    rate(16_000);
    await settled();
    expect(taken()).toEqual([['rate', 1, 2000n]]);
    ask({ kind: 'pause', microseconds: 40_000 });
    clock.advance(10);
    rate(24_000);
    await settled();
    expect(taken()).toEqual([['pause', 1, 30_000]]);
  });

  test('a flow that leaves before its turn has never been held', async () => {
    hold(8000);
    leave();
    await settled();
    expect([taken(), told]).toEqual([[], [['drained', 1]]]);
    free();
    await settled();
    expect(taken()).toEqual([]);
  });

  test('a slot that is another’s by its turn is the other’s', async () => {
    hold(8000);
    await settled();
    taken();
    leave();
    free();
    hold(16_000, B);
    await settled();
    expect(taken()).toEqual([['removed'], ['class', 1, 2000n, 1_000_000], ['held', 1]]);
    expect(told).toEqual([]);
  });
});

test('a flow that is freed while its class is made is not held', async () => {
  let made = (): void => {};
  dataplane.setClass = () => new Promise((resolve) => (made = resolve));
  hold(8000);
  await settled();
  free();
  made();
  await settled();
  expect([taken(), dataplane.hold, told]).toEqual([[], undefined, []]);
});

test('a new flow that is refused is told so; what comes for its slot asks for nothing', async () => {
  dataplane.refuses = 'class';
  hold(8000);
  await settled();
  expect(told).toEqual([['refused', 1, 1, false], ['error']]);
  rate(16_000);
  free();
  await settled();
  expect(taken()).toEqual([]);
});

describe('a flow that leaves and is to be held again, which the kernel refuses', () => {
  beforeEach(async () => {
    hold(8000);
    await settled();
    dataplane.entered = 5n;
    leave();
    await settled();
    taken();
    dataplane.refuses = 'class';
    hold(16_000);
    await settled();
  });

  test('goes on leaving in the dataplane, and the machine is told', () => {
    expect(dataplane.hold).toMatchObject({ phase: 'leaving' });
    expect(told).toEqual([['refused', 1, 1, true], ['error']]);
  });

  test('is let go at line rate, whatever rate its class was left with, once its packets have left', async () => {
    leave();
    await settled();
    expect(taken()).toEqual([['rate', 1, 10_000_000n]]);
    dataplane.sent = 5n;
    await pass(10);
    expect(told.at(-1)).toEqual(['drained', 1]);
  });

  test('is held once the kernel lets it', async () => {
    leave();
    await settled();
    taken();
    dataplane.refuses = undefined;
    hold(16_000);
    await settled();
    expect(taken()).toEqual([
      ['class', 1, 2000n, 1_000_000],
      ['held', 1],
    ]);
    expect(dataplane.hold).toEqual({ phase: 'held', untilNs: 4_000_000_000n, drained: 0n });
  });
});

describe('when all ends', () => {
  test('a flow stays in its class until that is empty', async () => {
    hold(8000);
    await settled();
    Object.assign(dataplane, { entered: 5n, sent: 4n });
    const stopped = classes.stop();
    await pass(50);
    expect(dataplane.hold).toMatchObject({ phase: 'leaving', drained: 4n });
    dataplane.sent = 5n;
    await pass(10);
    await stopped;
    expect([dataplane.hold, dataplane.calls.at(-1)]).toEqual([undefined, ['removed']]);
  });

  test('one that does not leave goes straight after half a second', async () => {
    hold(8000);
    await settled();
    dataplane.entered = 5n;
    const stopped = classes.stop();
    await settled();
    await pass(490);
    expect(dataplane.hold).toMatchObject({ phase: 'leaving' });
    await pass(20);
    await stopped;
    expect(dataplane.hold).toBeUndefined();
  });
});

test('a program that obeys by itself goes no lower than the machine does', async () => {
  const least: bigint[] = [];
  const { setClass } = dataplane;
  dataplane.setClass = (slot, wanted) => (
    least.push((wanted as { least: bigint } & typeof wanted).least),
    setClass(slot, wanted)
  );
  hold(8000);
  await settled();
  expect(least).toEqual([BigInt(LINE / 100 / 8)]);
});

test('a flow whose rate is refused when it leaves leaves at the rate that it has', async () => {
  hold(8000);
  await settled();
  dataplane.refuses = 'rate';
  leave();
  await settled();
  expect(dataplane.hold).toMatchObject({ phase: 'leaving' });
  await pass(10);
  expect(told).toEqual([['error'], ['drained', 1]]);
});

describe('a dataplane that gives packets departure times is told more', () => {
  beforeEach(() => {
    const call = (name: string) => (slot: number, microseconds?: number) => {
      dataplane.calls.push([name, slot, ...(microseconds === undefined ? [] : [microseconds])]);
    };
    Object.assign(dataplane, { confirm: call('confirm'), resume: call('resume'), stop: call('stop') });
    Object.assign(dataplane, {
      departed: async () => void dataplane.calls.push(['departed']),
    });
  });

  test('what a program has done by itself is over behind what the notification asks for, once for all that wait', async () => {
    hold(8000);
    await settled();
    taken();
    for (let i = 1; i <= 1000; i++) {
      classes.confirm(1);
      rate(8000 * i);
    }
    expect(classes.waiting).toBe(1);
    await settled();
    expect(taken()).toEqual([
      ['rate', 1, 1_000_000n],
      ['confirm', 1],
    ]);
  });

  test('it is over although the notification asks for nothing, or the kernel refuses', async () => {
    hold(8000);
    await settled();
    taken();
    classes.confirm(1);
    await settled();
    expect(taken()).toEqual([['confirm', 1]]);
    dataplane.refuses = 'rate';
    rate(16_000);
    classes.confirm(1);
    await settled();
    expect([taken(), told]).toEqual([[['confirm', 1]], [['error']]]);
  });

  test('what is asked for while the kernel is busy comes before the next confirmation', async () => {
    hold(8000);
    await settled();
    taken();
    let done = (): void => {};
    const { changeRate } = dataplane;
    dataplane.changeRate = async (...asked) => {
      await new Promise<void>((resolve) => (done = resolve));
      return changeRate(...asked);
    };
    rate(16_000);
    classes.confirm(1);
    await settled();
    dataplane.changeRate = changeRate;
    rate(4000);
    classes.confirm(1);
    done();
    await settled();
    expect(taken()).toEqual([
      ['rate', 1, 2000n],
      ['rate', 1, 500n],
      ['confirm', 1],
    ]);
  });

  test('the end of a pause, and that a rate of 0 is a stop', async () => {
    hold(8000);
    await settled();
    ask({ kind: 'pause', microseconds: 40_000 });
    await settled();
    taken();
    ask({ kind: 'resume' });
    await settled();
    rate(0);
    await settled();
    expect(taken()).toEqual([
      ['resume', 1],
      ['rate', 1, 1000n],
      ['stop', 1, 65_535],
      ['pause', 1, 65_535],
    ]);
  });

  test('when all ends, what waits departs before the flows go straight', async () => {
    hold(8000);
    await settled();
    taken();
    await classes.stop();
    expect(taken()).toEqual([['resume', 1], ['rate', 1, 10_000_000n], ['leaving', 1], ['removed'], ['departed']]);
  });
});
