// Whatever comes, in whatever order: the dataplane of the fixture complains of effects that make no sense.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LINE, NODE, OTHER, THIRD, World, flowOf } from './holds.fixture.ts';

const FLOWS = 6;
const SLOTS = 4;

const flow = fc.integer({ min: 1, max: FLOWS });
const instruction = fc.oneof(
  fc.record({ action: fc.constant('pause' as const), parameter: fc.nat(70_000) }),
  fc.record({ action: fc.constantFrom('rate-reduce', 'resume', 'notify'), parameter: fc.nat(110) }),
);
const notification = fc.record({
  kind: fc.constant('notification' as const),
  flow,
  node: fc.constantFrom(NODE, OTHER, THIRD),
  instruction: fc.option(instruction, { nil: undefined }),
  rttMs: fc.option(fc.double({ min: 0, max: 30 }), { nil: undefined }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: notification },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.double({ min: 0, max: 50, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drained' as const), flow }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), flow: fc.option(flow) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('line' as const), share: fc.double({ min: 0.1, max: 2, noNaN: true }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limits' as const),
      mostFlows: fc.integer({ min: 1, max: SLOTS }),
      mostNodes: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A world that also remembers what must hold at any moment. */
class Watched extends World {
  line = LINE;
  limits = { mostFlows: SLOTS, mostNodes: 2 };
  /** By slot: the latest end that a pause can have. */
  readonly lastPause = new Map<number, number>();

  constructor(rateIntervalMs: number) {
    super({ mostFlows: SLOTS, mostNodes: 2, rateIntervalMs, renewMs: 40, lifetimeMs: 100, drainMs: 60 });
  }

  do(step: Step): void {
    if (step.kind === 'time') this.pass(this.now + step.ms);
    else if (step.kind === 'notification') {
      const { node, rttMs } = step;
      const before = { rate: this.rate(step.flow), paused: this.paused(step.flow) };
      const effects = this.notify({
        flow: this.flow(step.flow),
        node,
        instruction: step.instruction && { level: 1, ...step.instruction },
        rttMs,
      });
      expect(effects.length).toBeLessThanOrEqual(3);
      // Also when it displaces another node. With an interval, steps that were due before it may come with it.
      if (step.instruction?.action !== 'resume' && before.rate !== undefined && this.opts.rateIntervalMs === 0) {
        expect(this.rate(step.flow)).toBeLessThanOrEqual(before.rate);
        expect(Number(this.paused(step.flow))).toBeGreaterThanOrEqual(Number(before.paused));
      }
      if (step.instruction?.action === 'pause' && effects.some(({ kind }) => kind === 'pause'))
        this.lastPause.set(step.flow, this.now);
    } else if (step.kind === 'drained') this.apply(this.holds.onDrained(this.flow(step.flow)));
    else if (step.kind === 'release')
      this.apply(this.holds.release(step.flow === null ? 'all' : flowOf(step.flow), this.now));
    else if (step.kind === 'line') {
      this.line = step.share * LINE;
      this.apply(this.holds.reconfigure({ ...this.opts, ...this.limits, lineRate: this.line }, this.now));
    } else {
      this.limits = { mostFlows: step.mostFlows, mostNodes: step.mostNodes };
      this.apply(this.holds.reconfigure({ ...this.opts, ...this.limits, lineRate: this.line }, this.now));
    }
    this.check();
  }

  check(): void {
    const views = new Map([...this.holds.views(this.now)].map((view) => [view.slot, view]));
    expect([...views.keys()].sort()).toEqual([...this.dataplane.classes.keys()].sort());
    for (const [slot, held] of this.dataplane.classes) {
      const view = views.get(slot)!;
      expect(held.rate).toBeGreaterThanOrEqual(0);
      expect(held.rate).toBeLessThanOrEqual(Math.max(Math.round(this.line), this.line));
      if (!held.leaving) expect(held.rate).toBeLessThanOrEqual(Math.round(view.normalRate));
      expect(held.untilMs).toBeGreaterThan(this.now);
      expect(view.nodes.length).toBeLessThanOrEqual(this.limits.mostNodes);
      // The strictest holds: no node is given more than it asked for.
      for (const { rate, pausedUntil } of view.nodes) {
        expect(view.rate).toBeLessThanOrEqual(Math.round(rate));
        if (pausedUntil !== undefined) expect(view.pausedUntil).toBeGreaterThanOrEqual(pausedUntil);
      }
      if (held.pausedUntil > this.now)
        expect(held.pausedUntil).toBeLessThanOrEqual(this.lastPause.get(held.flow.receiverQpn)! + 65.535 + 1e-9);
    }
    for (const view of views.values()) expect(view.slot).toBeLessThanOrEqual(SLOTS);
    expect(this.holds.nextAt ?? Infinity).toBeGreaterThan(this.now);
  }
}

// No slot has two flows, no rate is above the normal one, only Resume and time raise a rate, no pause outlives the last
// Pause by more than 65,535 µs, and each flow is free when its view said, at the latest.
test('A10, LHCNP-5.6-d, LHCNP-5.6-g: rates, pauses and slots keep their bounds, and each flow is free in time', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 3), fc.array(step, { maxLength: 80 }), (interval, steps) => {
      const w = new Watched(interval);
      for (const one of steps) w.do(one);
      const until = new Map([...w.holds.views(w.now)].map((view) => [view.slot, view.until]));
      for (const end of [...until.values()].sort((a, b) => a - b)) {
        w.pass(Math.max(w.now, end + 1e-6));
        for (const [slot, latest] of until) if (latest <= end) expect(w.dataplane.classes.has(slot)).toBe(false);
      }
      expect([w.holds.size, w.holds.nextAt]).toEqual([0, undefined]);
    }),
    { numRuns: 500 },
  );
});

test('with 5,000 held flows, advance looks at those that are due alone', () => {
  const w = new World({ mostFlows: 5000, rttMs: 1000, renewMs: 100_000, lifetimeMs: 200_000 });
  for (let qpn = 1; qpn <= 5000; qpn++)
    w.instruct('rate-reduce', 50, NODE, { flow: w.flow(qpn), rttMs: qpn <= 10 ? 5 : 1000 });
  let looks = 0;
  let effects = 0;
  for (let at = w.holds.nextAt!; at < 1000; at = w.holds.nextAt!) {
    effects += w.apply(w.holds.advance(at, 1)).length;
    looks++;
  }
  // Ten flows with ten steps of recovery each, after the last of which they leave.
  expect([looks, effects]).toEqual([100, 100]);
  expect(w.holds.size).toBe(5000);
});
