// One flow, held by one node. Several nodes: restriction.test.ts; doubled and impossible instructions, measured rates:
// holds-instructions.test.ts; limits and changes: holds-limits.test.ts.
import { expect, test } from 'vitest';
import type { HoldEffect } from './hold.ts';
import { LINE, NODE, RTT, World, flowOf } from './holds.fixture.ts';

const kinds = (effects: readonly HoldEffect[]): string[] => effects.map(({ kind }) => kind);
const view = (w: World) => [...w.holds.views(w.now)][0]!;

test('A8, LHCNP-5.6-d, LHCNP-5.5.1-e, LHCNP-5.5.1-g, LHCNP-5.5.1-h: Reduce 30 holds the flow at 70 percent, Resume 50 gives it 85, Resume 0 lets it leave', () => {
  const w = new World();
  expect(w.instruct('rate-reduce', 30)).toEqual([
    { kind: 'hold', flow: w.flow(1), slot: 1, rate: 0.7 * LINE, untilMs: 3000 },
  ]);
  expect(w.instruct('resume', 50)).toEqual([{ kind: 'rate', flow: w.flow(1), slot: 1, rate: 0.85 * LINE }]);
  expect(w.instruct('resume', 0)).toEqual([{ kind: 'leave', flow: w.flow(1), slot: 1, rate: LINE }]);
  expect(w.apply(w.holds.onDrained(flowOf(1)))).toEqual([{ kind: 'free', flow: w.flow(1), slot: 1 }]);
  expect([w.holds.size, w.holds.nextAt, w.dataplane.classes.size]).toEqual([0, undefined, 0]);
});

test('A10, LHCNP-5.5.1-c: a pause of 65,535 µs halts a flow that nothing else restricts, and ends by itself', () => {
  const w = new World();
  w.pass(100);
  expect(w.instruct('pause', 65_535)).toEqual([
    { kind: 'hold', flow: w.flow(1), slot: 1, rate: LINE, untilMs: 3100 },
    { kind: 'pause', flow: w.flow(1), slot: 1, microseconds: 65_535 },
  ]);
  expect(w.pass(165.534)).toEqual([]);
  expect(kinds(w.pass(165.536))).toEqual(['resume', 'leave']);
});

test('a pause is the time that is left of it when a shorter one of the same node follows, and Resume ends it at once', () => {
  const w = new World();
  w.instruct('rate-reduce', 50);
  w.instruct('pause', 20_000);
  w.pass(5);
  expect(w.instruct('pause', 1000)).toEqual([]);
  w.pass(8);
  expect(w.instruct('pause', 20_001)).toMatchObject([{ kind: 'pause', microseconds: 20_001 }]);
  expect(kinds(w.instruct('resume', 40))).toEqual(['rate', 'resume']);
  expect(w.rate()).toBe(0.7);
});

test('A7, LHCNP-5.6-e, LHCNP-5.6-f, LHCNP-5.6-g: recovery begins 2·RTT after the last notification, not before, a step an RTT, until the flow leaves', () => {
  const w = new World({ recoverySteps: 10 });
  w.pass(100);
  w.instruct('rate-reduce', 35);
  const seen = [119.999, 120, 129.999, 130, 140].map((at) => {
    w.pass(at);
    return w.rate();
  });
  expect(seen).toEqual([0.65, 0.75, 0.75, 0.85, 0.95]);
  expect(kinds(w.pass(149.999))).toEqual([]);
  expect(kinds(w.pass(150))).toEqual(['leave']);
});

test('A7: a new notification starts the timer anew, whatever its format; during recovery it stops it', () => {
  const w = new World({ recoverySteps: 10, response: 10 });
  w.instruct('rate-reduce', 50);
  w.pass(15);
  w.notify({ format: 'standard-cnp' });
  expect(w.rate()).toBe(0.45);
  expect(w.pass(34.999)).toEqual([]);
  expect(kinds(w.pass(35))).toEqual(['rate']);
  w.pass(40);
  w.notify({ format: 'fast-cnp' });
  expect(w.pass(59.999)).toEqual([]);
  expect(kinds(w.pass(60))).toEqual(['rate']);
});

test('LHCNP-5.6-f: RTT_est is that of the notification where it has one', () => {
  const w = new World();
  w.instruct('rate-reduce', 50, undefined, { rttMs: 40 });
  expect(w.pass(79.9)).toEqual([]);
  expect(kinds(w.pass(80))).toEqual(['rate']);
});

test.each([0, 1e-9, -5, NaN])('an RTT_est of %s is not believed', (rttMs) => {
  const w = new World();
  w.instruct('rate-reduce', 50, undefined, { rttMs });
  expect(w.pass(2 * RTT - 0.1)).toEqual([]);
  expect(kinds(w.pass(2 * RTT))).toEqual(['rate']);
});

test('an RTT_est of hours does not hold a flow for days', () => {
  const w = new World();
  w.instruct('rate-reduce', 100, undefined, { rttMs: 1e9 });
  w.pass(22 * 10_000 + w.opts.drainMs);
  expect(w.holds.size).toBe(0);
});

test('LHCNP-5.6-h, LHCNP-5.6-i: Resume acts at once during recovery, which goes on 2·RTT later', () => {
  const w = new World({ recoverySteps: 10 });
  w.instruct('rate-reduce', 50);
  w.pass(20);
  w.instruct('resume', 50);
  expect(w.rate()).toBe(0.8);
  expect(w.pass(39.9)).toEqual([]);
  w.pass(40);
  expect(w.rate()).toBe(0.9);
});

test('LHCNP-9-i: a Resume gives back no more than the cap', () => {
  const w = new World({ resumeCap: 0.1 });
  w.instruct('rate-reduce', 80);
  w.instruct('resume', 0);
  expect(w.rate()).toBe(0.3);
});

test('LHCNP-5.5.1-a, LHCNP-5.6-j, FCNP-4-n: Notify, a Fast CNP and a CNP get the default response', () => {
  for (const format of ['fast-cnp', 'standard-cnp', 'long-haul-roce'] as const) {
    const w = new World({ response: 20 });
    w.notify({ format });
    expect(w.rate(), format).toBe(0.8);
  }
  const w = new World({ response: 20 });
  w.instruct('notify', 0);
  expect([w.rate(), w.counts]).toEqual([0.8, { 'source.hold.notify': 1, 'source.hold.held': 1 }]);
});

test('the default response is that of DCQCN to its first CNP, one half, unless it is set', () => {
  const w = new World();
  w.notify();
  expect(w.rate()).toBe(0.5);
});

test('Reduce 100 stops the flow until recovery begins', () => {
  const w = new World();
  expect(w.instruct('rate-reduce', 100)).toMatchObject([{ kind: 'hold', rate: 0 }]);
  w.pass(19.9);
  expect(w.rate()).toBe(0);
  w.pass(20);
  expect(w.rate()).toBe(0.05);
});

test('LHCNP-5.5.1-f: a Resume or a Reduce 0 holds nothing', () => {
  const w = new World();
  expect([...w.instruct('resume', 0), ...w.instruct('rate-reduce', 0)]).toEqual([]);
  expect([w.holds.size, w.holds.nextAt]).toEqual([0, undefined]);
  expect(w.counts).toEqual({ 'source.hold.nothing-to-resume': 1, 'source.hold.rate-reduce': 1 });
});

test('a hold is renewed while it lasts, before the dataplane forgets it, also while the flow leaves', () => {
  const w = new World({ rttMs: 500, renewMs: 100, lifetimeMs: 250, drainMs: 300 });
  w.instruct('rate-reduce', 50);
  let renewals = 0;
  for (let at = 10; w.holds.size > 0; at += 10) {
    for (const { untilMs } of w.dataplane.classes.values()) expect(untilMs).toBeGreaterThanOrEqual(at);
    renewals += w.pass(at).filter(({ kind }) => kind === 'renew').length;
  }
  expect(renewals).toBeGreaterThan(5 + 50);
});

test('recovery changes the rate no more often than the interval, and is no slower for that', () => {
  const w = new World({ rateIntervalMs: 100, rttMs: 1, recoverySteps: 200 });
  w.instruct('rate-reduce', 100);
  expect(w.pass(99.9)).toEqual([]);
  expect(w.pass(150)).toMatchObject([{ kind: 'rate', rate: (99 / 200) * LINE }]);
  expect(w.pass(200)).toMatchObject([{ kind: 'rate', rate: (199 / 200) * LINE }]);
});

test('a flow that is notified while it leaves is held again in its slot, from the normal rate', () => {
  const w = new World();
  w.instruct('rate-reduce', 50);
  w.apply(w.holds.release(w.flow(1), 0));
  expect(w.instruct('rate-reduce', 10)).toMatchObject([{ kind: 'hold', slot: 1, rate: 0.9 * LINE }]);
  // Its class was empty a moment before that.
  expect(w.holds.onDrained(w.flow(1))).toEqual([]);
  w.pass(10_000);
  expect(w.dataplane.classes.size).toBe(0);
});

test('a leaving flow whose class is not reported as empty is freed after a time', () => {
  const w = new World({ drainMs: 200 });
  w.instruct('pause', 1000);
  expect(kinds(w.pass(200.9))).toEqual(['resume', 'leave']);
  expect(kinds(w.pass(201))).toEqual(['free']);
  expect(w.counts).toMatchObject({ 'source.hold.recovered': 1, 'source.hold.drain-overdue': 1 });
});

test('a view says who holds the flow, why, since when, and until when at the latest', () => {
  const w = new World({ recoverySteps: 10, drainMs: 500, rateIntervalMs: 3 });
  w.pass(7);
  w.instruct('rate-reduce', 50);
  expect(view(w)).toMatchObject({
    state: 'held',
    rate: 0.5 * LINE,
    normalRate: LINE,
    since: 7,
    slot: 1,
    senderQpn: 0x11,
  });
  expect(view(w).until).toBeGreaterThanOrEqual(7 + 20 + 4 * RTT + 500);
  expect(view(w).until).toBeLessThanOrEqual(7 + 20 + 5 * RTT + 500 + 3);
  expect(view(w).why).toMatchObject({
    format: 'long-haul-icmpv6',
    instruction: { action: 'rate-reduce', parameter: 50 },
  });
  w.pass(8);
  w.instruct('pause', 4000, undefined, { senderQpn: 0x12 });
  expect(view(w)).toMatchObject({ senderQpn: 0x12 });
  expect([11.9, 12].map((at) => [...w.holds.views(at)][0]!.state)).toEqual(['paused', 'held']);
  expect(view(w)).toMatchObject({ state: 'paused', pausedUntil: 12, why: { at: 8, instruction: { parameter: 4000 } } });
  w.pass(12);
  expect(view(w)).toMatchObject({ state: 'held', pausedUntil: undefined });
  w.pass(28);
  expect(view(w)).toMatchObject({ state: 'recovering', rate: 0.6 * LINE, since: 7 });
  w.pass(68);
  expect(view(w)).toMatchObject({ state: 'leaving', rate: LINE, nodes: [], until: 568 });
});

test('flows in a few numbers: as their views, for metrics', () => {
  const w = new World();
  for (const qpn of [1, 2, 3, 4])
    w.apply(w.holds.onNotification({ flow: flowOf(qpn), senderQpn: 1, node: NODE, format: 'fast-cnp' }, w.now));
  w.instruct('pause', 65_535);
  w.apply(w.holds.release(flowOf(2), w.now));
  w.pass(5);
  const views = [...w.holds.views(w.now)];
  const count = (state: string): number => views.filter((one) => one.state === state).length;
  const summary = w.holds.summary(w.now);
  expect(summary.states).toEqual({ paused: count('paused'), leaving: count('leaving'), held: count('held') });
  expect(summary.states).toEqual({ paused: 1, leaving: 1, held: 2 });
  expect(Object.values(summary.formats).reduce((sum, of) => sum + of, 0)).toBe(4);
  expect(summary.rate).toBe(views.filter((one) => one.state === 'held').reduce((sum, { rate }) => sum + rate, 0));
});
