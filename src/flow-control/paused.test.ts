// What is paused for downstream neighbors, and until when.
import { beforeEach, describe, expect, test } from 'vitest';
import type { HeldTraffic } from '../model/flow-control.ts';
import {
  EGRESS,
  FLOW,
  LINE,
  NEIGHBOR,
  OTHER_NEIGHBOR,
  OTHER_SERVICE,
  PRIORITY,
  SERVICE,
  held,
  pausedOptions,
} from './flow-control.fixture.ts';
import { PausedTraffic } from './paused.ts';

let counts: Record<string, number>;
let paused: PausedTraffic;
const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
beforeEach(() => {
  counts = {};
  paused = new PausedTraffic(pausedOptions, { count });
});

const ask = (pauseMs: number | undefined, now: number, { of = held(), by = NEIGHBOR } = {}) =>
  paused.onRequest({ held: of, neighbor: by, pauseMs }, now);
const kinds = (effects: readonly { kind: string }[]): string[] => effects.map(({ kind }) => kind);
const views = (now: number) => [...paused.views(now)];
/** Lets time pass, one millisecond after another. */
function pass(from: number, to: number): string[] {
  const seen: string[] = [];
  for (let now = from; now <= to; now++) seen.push(...kinds(paused.advance(now)).map((kind) => `${now} ${kind}`));
  return seen;
}

test.each([
  ['service', SERVICE],
  ['flow', FLOW],
  ['priority', PRIORITY],
])('FCN-4.1.2-e: a %s is halted for the time that is asked for, and then goes on by itself', (_, traffic) => {
  const of = held(traffic);
  expect(ask(10, 0, { of })).toEqual([{ flow: of, slot: 1, kind: 'hold', rate: 0, untilMs: 3000 }]);
  expect(views(0)).toMatchObject([
    { ...of, state: 'paused', neighbor: NEIGHBOR, pauseUs: 10_000, times: 1, since: 0, until: 10 },
  ]);
  expect(paused.nextAt).toBe(10);
  expect(paused.advance(9)).toEqual([]);
  expect(paused.advance(10)).toEqual([{ flow: of, slot: 1, kind: 'leave', rate: LINE }]);
  expect(views(10)).toMatchObject([{ state: 'leaving', since: 10, until: 5010 }]);
  expect(kinds(paused.onDrained(of))).toEqual(['free']);
  expect(paused.size).toBe(0);
  expect(paused.nextAt).toBeUndefined();
});

test('elimination ends the pause of the neighbor that asked; that of another one stays', () => {
  ask(50, 0);
  ask(80, 0, { by: OTHER_NEIGHBOR });
  expect(ask(undefined, 10)).toEqual([]);
  expect(views(10)).toMatchObject([{ state: 'paused', neighbor: OTHER_NEIGHBOR, times: 2, until: 80 }]);
  expect(kinds(ask(undefined, 20, { by: OTHER_NEIGHBOR }))).toEqual(['leave']);
  ask(undefined, 21);
  expect(counts['flow-control.pause.nothing-to-eliminate']).toBe(1);
});

test('an ARN in a pause extends it without an effect; the latest end of several neighbors counts', () => {
  ask(10, 0);
  expect(ask(10, 8)).toEqual([]);
  expect(ask(5, 8, { by: OTHER_NEIGHBOR })).toEqual([]);
  expect(pass(9, 18)).toEqual(['18 leave']);
});

test('the same neighbor may shorten its pause', () => {
  ask(50, 0);
  ask(5, 10);
  expect(pass(10, 20)).toEqual(['15 leave']);
});

test('traffic at another port, and other traffic, is not concerned', () => {
  ask(10, 0);
  ask(undefined, 1, { of: held(SERVICE, EGRESS + 1) });
  ask(undefined, 1, { of: held(OTHER_SERVICE) });
  expect(views(1)).toMatchObject([{ state: 'paused' }]);
  expect(kinds(ask(10, 1, { of: held(OTHER_SERVICE) }))).toEqual(['hold']);
  expect([...paused.classes()].map(({ slot }) => slot)).toEqual([1, 2]);
});

test('what leaves is paused again in its own class', () => {
  ask(10, 0);
  paused.advance(10);
  expect(ask(10, 12)).toEqual([{ flow: held(), slot: 1, kind: 'hold', rate: 0, untilMs: 3012 }]);
  expect(paused.onDrained(held())).toEqual([]);
  expect(views(12)).toMatchObject([{ state: 'paused', since: 12 }]);
});

test('a time of 2³² µs is the longest pause', () => {
  ask(2 ** 32 / 1000, 0);
  expect(views(0)).toMatchObject([{ until: 100 }]);
  expect(counts['flow-control.pause.shortened']).toBe(1);
});

test('a hold that lasts is renewed before the dataplane forgets it', () => {
  const seen: string[] = [];
  for (let now = 0; now < 900; now += 50) seen.push(...kinds(ask(100, now)).map((kind) => `${now} ${kind}`));
  expect([...seen, ...pass(900, 960)]).toEqual(['0 hold', '400 renew', '800 renew', '950 leave']);
});

describe('the watchdog', () => {
  const keepPaused = (from: number, to: number): string[] => {
    const seen: string[] = [];
    for (let now = from; now <= to; now += 10)
      seen.push(...[...ask(50, now), ...paused.advance(now)].map(({ kind }) => `${now} ${kind}`));
    return seen;
  };
  test('lets traffic go that a neighbor keeps paused, ignores it for as long, and then obeys again', () => {
    expect(keepPaused(0, 2010)).toEqual([
      '0 hold',
      '400 renew',
      '800 renew',
      '1000 leave',
      '1200 renew',
      '1600 renew',
      '2000 hold',
    ]);
    expect(counts['flow-control.pause.watchdog']).toBe(1);
    expect(counts['flow-control.pause.watchdog-ignored']).toBe(99);
    expect(paused.watchdogAt).toBe(1000);
  });
  test('is shown while it ignores what neighbors ask', () => {
    keepPaused(0, 1010);
    expect(views(1010)).toMatchObject([{ ...held(), state: 'watchdog', neighbor: NEIGHBOR, since: 1000, until: 2000 }]);
  });
  test('a break begins its time anew', () => {
    keepPaused(0, 900);
    ask(undefined, 905);
    paused.onDrained(held());
    expect(keepPaused(910, 1800).filter((each) => each.endsWith('leave'))).toEqual([]);
  });
  test('is not deceived by a neighbor that ends each pause and asks at once for the next', () => {
    const seen: string[] = [];
    for (let now = 0; now <= 1100; now += 10) {
      seen.push(...ask(undefined, now).map(({ kind }) => `${now} ${kind}`));
      ask(100, now);
      paused.advance(now);
    }
    expect(counts['flow-control.pause.watchdog']).toBe(1);
    expect(views(1100)).toMatchObject([{ state: 'watchdog', since: 1000 }]);
  });
  test('takes a pause of some milliseconds for a break, in which the traffic goes on', () => {
    keepPaused(0, 900);
    ask(undefined, 903);
    expect(keepPaused(910, 1800).filter((each) => each.endsWith('leave'))).toEqual([]);
  });
  test('remembers no more traffic than there are slots', () => {
    for (let i = 0; i < 12; i++) {
      const of = held({ mode: 'priority', priority: i % 8 }, EGRESS + i);
      for (let now = 0; now <= 1000; now += 100) {
        ask(100, now, { of });
        paused.advance(now);
      }
      paused.onDrained(of);
    }
    expect(counts['flow-control.pause.watchdog']).toBe(12);
    expect(paused.size).toBe(0);
  });
});

describe('limits', () => {
  const many = (n: number): HeldTraffic[] =>
    Array.from({ length: n }, (_, i) => held({ ...FLOW, sourcePort: i } as typeof FLOW));
  test('without a slot traffic is not paused, and that is told; a held one is never displaced', () => {
    for (const of of many(5)) ask(10, 0, { of });
    expect(counts['flow-control.pause.no-slot']).toBe(1);
    expect(paused.withoutSlotAt).toBe(0);
    expect(paused.size).toBe(4);
    paused.advance(10);
    paused.onDrained(many(1)[0]!);
    expect(kinds(ask(10, 11, { of: many(5)[4]! }))).toEqual(['hold']);
  });
  test('the neighbor behind one port leaves slots to those behind others', () => {
    paused.reconfigure({ ...pausedOptions, mostAtPort: 2 }, () => true, 0);
    for (const of of many(4)) ask(10, 0, { of });
    expect([paused.size, counts['flow-control.pause.no-slot']]).toEqual([2, 2]);
    expect(kinds(ask(10, 0, { of: held(SERVICE, EGRESS + 1) }))).toEqual(['hold']);
    paused.advance(10);
    paused.onDrained(many(1)[0]!);
    expect(kinds(ask(10, 11, { of: many(4)[3]! }))).toEqual(['hold']);
  });
  test('of too many neighbors the first ones count', () => {
    for (let i = 0n; i < 20n; i++) ask(10, 0, { by: { family: 6, value: i } });
    expect(views(0)).toMatchObject([{ times: 16 }]);
    expect(counts['flow-control.pause.too-many-neighbors']).toBe(4);
  });
  test('what is never reported as drained is given up', () => {
    ask(10, 0);
    paused.advance(10);
    expect(kinds(paused.advance(5010))).toEqual(['free']);
    expect(counts['flow-control.pause.drain-overdue']).toBe(1);
  });
});

test('what the dataplane refuses has no slot; the next ARN tries again', () => {
  ask(10, 0);
  expect(kinds(paused.onRefused(held(), 1, false, 0))).toEqual(['free']);
  expect(kinds(ask(10, 1))).toEqual(['hold']);
});

test('what leaves, and cannot be paused again, leaves as before; the next ARN tries again', () => {
  ask(10, 0);
  expect(kinds(paused.advance(10))).toEqual(['leave']);
  expect(kinds(ask(10, 11))).toEqual(['hold']);
  expect(kinds(paused.onRefused(held(), 1, true, 12))).toEqual(['leave']);
  expect([...paused.views(12)]).toMatchObject([{ state: 'leaving' }]);
  expect(kinds(ask(10, 13))).toEqual(['hold']);
});

test('an operator lets traffic go; the next ARN pauses it again', () => {
  ask(10, 0);
  ask(10, 0, { of: held(OTHER_SERVICE) });
  expect(kinds(paused.releaseAll(1))).toEqual(['leave', 'leave']);
  expect(kinds(ask(10, 2))).toEqual(['hold']);
});

test('what is no longer configured leaves', () => {
  ask(10, 0);
  ask(10, 0, { of: held(OTHER_SERVICE) });
  expect(paused.reconfigure({ ...pausedOptions, mostTraffic: 4 }, ({ traffic }) => traffic === SERVICE, 1)).toEqual([
    { flow: held(OTHER_SERVICE), slot: 2, kind: 'leave', rate: LINE },
  ]);
  expect(kinds(paused.reconfigure({ ...pausedOptions, mostTraffic: 1 }, () => true, 2))).toEqual([]);
});
