import { expect, test } from 'vitest';
import type { LongHaulAction } from '../model/notification.ts';
import { InstructedRate, type InstructedRateOptions, defaultInstructedRate } from './instructed-rate.ts';

const R0 = 100e6;
const RTT = 10;

function instructed(opts: Partial<InstructedRateOptions> = {}): {
  r: InstructedRate;
  instruct: (action: LongHaulAction, parameter: number, at: number, effective?: number) => number;
} {
  const r = new InstructedRate({ ...defaultInstructedRate(R0), ...opts });
  return {
    r,
    instruct: (action, parameter, at, effective = r.rate) => {
      r.onInstruction({ action, parameter }, at, effective, RTT);
      return r.rate;
    },
  };
}

test('A8, LHCNP-5.5.1-e, LHCNP-5.5.1-g, LHCNP-5.5.1-h: Reduce 30 leaves 0.70 R0; Resume 50 makes it 0.85 R0; Resume 0 makes it R0', () => {
  const { instruct } = instructed();
  expect(instruct('rate-reduce', 30, 0)).toBeCloseTo(0.7 * R0, 6);
  expect(instruct('resume', 50, 1)).toBeCloseTo(0.85 * R0, 6);
  expect(instruct('resume', 0, 2)).toBe(R0);
});

test('LHCNP-5.6-h: Resume gives back its percentage of all reductions since the normal rate, each time of what is still missing', () => {
  const { instruct } = instructed({ resumeCap: 1 });
  instruct('rate-reduce', 50, 0);
  expect(instruct('rate-reduce', 50, 1)).toBe(0.25 * R0);
  expect(instruct('resume', 40, 2)).toBeCloseTo((0.25 + 0.4 * 0.75) * R0, 3);
  expect(instruct('resume', 100, 3)).toBe(R0);
});

test('LHCNP-5.5.1-f: Resume without a reduction, and Reduce 0, change nothing', () => {
  const { r, instruct } = instructed();
  expect(instruct('resume', 0, 0)).toBe(R0);
  expect(instruct('rate-reduce', 0, 1)).toBe(R0);
  r.advance(1e6);
  expect(r.rate).toBe(R0);
});

test('LHCNP-9-i: one Resume gives back no more than the cap', () => {
  const { instruct } = instructed({ resumeCap: 0.1 });
  instruct('rate-reduce', 80, 0);
  expect(instruct('resume', 0, 1)).toBeCloseTo(0.3 * R0, 6);
  expect(instruct('resume', 100, 2)).toBeCloseTo(0.4 * R0, 6);
  expect(instruct('resume', 10, 3)).toBeCloseTo(0.46 * R0, 6);
});

test('A10, LHCNP-5.5.1-c: a pause ends by itself after its microseconds, 65535 at most', () => {
  const { r, instruct } = instructed();
  expect(instruct('pause', 65_535, 100)).toBe(R0);
  expect([r.paused(100), r.paused(165.534), r.paused(165.535)]).toEqual([true, true, false]);
});

test('a pause can lengthen another and not shorten it; Resume ends it at once', () => {
  const { r, instruct } = instructed();
  instruct('pause', 20_000, 0);
  instruct('pause', 1000, 5);
  expect([r.paused(19.9), r.paused(20)]).toEqual([true, false]);
  instruct('pause', 20_000, 15);
  expect(r.paused(34.9)).toBe(true);
  instruct('resume', 1, 16);
  expect(r.paused(16)).toBe(false);
});

test('A7, LHCNP-5.6-e, LHCNP-5.6-f, LHCNP-5.6-g: recovery starts 2·RTT after the last notification, not before, a step an RTT, up to the normal rate', () => {
  const { r, instruct } = instructed({ recoveryStep: 10e6 });
  instruct('rate-reduce', 35, 100);
  const at = (now: number): number => {
    r.advance(now);
    return Math.round(r.rate / 1e6);
  };
  expect([119.999, 120, 129.999, 130, 140, 150, 1000].map(at)).toEqual([65, 75, 75, 85, 95, 100, 100]);
});

test('A7: a new notification starts the timer anew, whatever its format; during recovery it stops it', () => {
  const { r, instruct } = instructed({ recoveryStep: 10e6 });
  instruct('rate-reduce', 50, 0);
  r.onNotified(15, RTT);
  r.advance(34.9);
  expect(r.rate).toBe(50e6);
  r.advance(35);
  expect(r.rate).toBe(60e6);
  instruct('notify', 0, 40);
  r.advance(59.9);
  expect(r.rate).toBe(60e6);
  r.advance(60);
  expect(r.rate).toBe(70e6);
});

test('LHCNP-5.6-i: Resume acts at once during recovery, and recovery goes on 2·RTT after it', () => {
  const { r, instruct } = instructed({ recoveryStep: 10e6 });
  instruct('rate-reduce', 50, 0);
  r.advance(20);
  expect(instruct('resume', 50, 21)).toBe(80e6);
  r.advance(40.9);
  expect(r.rate).toBe(80e6);
  r.advance(61);
  expect(r.rate).toBe(100e6);
});

test('Rate Reduce 100 stops until recovery begins', () => {
  const { r, instruct } = instructed();
  expect(instruct('rate-reduce', 100, 0)).toBe(0);
  r.advance(19.9);
  expect(r.rate).toBe(0);
  r.advance(20);
  expect(r.rate).toBe(R0 / 20);
});

test('less than 100 percent never goes below the minimum, and a minimum never raises the rate', () => {
  const { instruct } = instructed({ minimumRate: 10e6 });
  for (let t = 0; t < 5; t++) instruct('rate-reduce', 90, t);
  expect(instruct('rate-reduce', 1, 6)).toBe(10e6);
  expect(instruct('rate-reduce', 100, 7)).toBe(0);
  expect(instruct('rate-reduce', 10, 8)).toBe(0);
});

test('a reduction is one of the rate it sends at, when something else holds that lower', () => {
  const { instruct } = instructed();
  expect(instruct('rate-reduce', 30, 0, 40e6)).toBeCloseTo(28e6, 3);
  expect(instruct('resume', 0, 1)).toBeCloseTo(40e6, 3);
});

test('an RTT of 0 does not make recovery endless', () => {
  const r = new InstructedRate(defaultInstructedRate(R0));
  r.onInstruction({ action: 'rate-reduce', parameter: 50 }, 0, R0, 0);
  r.advance(1e9);
  expect(r.rate).toBe(R0);
});

test('a Resume never lowers a rate that has recovered beyond the one before the reduction', () => {
  const { r, instruct } = instructed({ recoveryStep: 10e6 });
  instruct('rate-reduce', 50, 0, 40e6);
  r.advance(50);
  expect(r.rate).toBe(60e6);
  expect(instruct('resume', 0, 51)).toBe(60e6);
});

test('when it is normal again at the latest is known: not earlier, and at most a step later than it is', () => {
  for (let steps = 1; steps <= 50; steps++) {
    const { r, instruct } = instructed({ recoveryStep: R0 / steps });
    expect(r.recoveredAt).toBeUndefined();
    instruct('rate-reduce', 100, 7);
    const latest = r.recoveredAt!;
    r.advance(latest - RTT - 0.1);
    expect(r.rate).toBeLessThan(R0);
    r.advance(latest);
    expect([r.rate, r.nextStepAt, r.recoveredAt]).toEqual([R0, undefined, undefined]);
  }
});

test('with another normal rate, who sends at the old one or above the new one sends at the new one; others recover up to it', () => {
  const withNormal = (percent: number, normalRate: number): InstructedRate => {
    const { r, instruct } = instructed({ recoveryStep: 10e6 });
    instruct('rate-reduce', percent, 0);
    r.configure({ ...defaultInstructedRate(normalRate), recoveryStep: 10e6 });
    return r;
  };
  const rates = [withNormal(0, 150e6), withNormal(0, 50e6), withNormal(20, 50e6), withNormal(20, 150e6)];
  expect(rates.map(({ rate, nextStepAt }) => [rate, nextStepAt])).toEqual([
    [150e6, undefined],
    [50e6, undefined],
    [50e6, undefined],
    [80e6, 20],
  ]);
  rates[3]!.advance(1000);
  expect(rates[3]!.rate).toBe(150e6);
});
