import { expect, test } from 'vitest';
import { type PortSample, arrivalRate, crossingOf, peakOf, recoveryOf } from './overload.ts';

/** A sample each millisecond: what arrives is given in Mbit/s by the time, and the port drains `capacity`. */
function port(rateAt: (t: number) => number, capacityAt: (t: number) => number, end: number): PortSample[] {
  const samples: PortSample[] = [];
  for (let t = 0, backlog = 0, arrived = 0; t <= end; t++) {
    samples.push({ t, backlog, arrived });
    const more = rateAt(t) * 125;
    arrived += more;
    backlog = Math.max(0, backlog + more - capacityAt(t) * 125);
  }
  return samples;
}
/** 60 Mbit/s over a port that has 40 Mbit/s from 200 to 500 ms; the sender slows down at 250 ms, and is back at 560. */
const episode = port(
  (t) => (t < 250 || t >= 560 ? 60 : 30),
  (t) => (t >= 200 && t < 500 ? 40 : 1000),
  700,
);
const overload = { threshold: 50_000, capacity: 40e6, from: 200, until: 500 };

test('the rate of what arrives is that between two samples', () => {
  expect(arrivalRate(episode, 100, 200)).toBe(60e6);
  expect(arrivalRate(episode, 300, 400)).toBe(30e6);
  expect(arrivalRate(episode, 650, 800)).toBeUndefined();
  expect(arrivalRate(episode, -1, 100)).toBeUndefined();
});

test('the queue crosses the threshold between two samples, and the overload is what arrived more than can leave', () => {
  // 20 Mbit/s are 2,500 bytes a millisecond.
  expect(crossingOf(episode, overload)).toEqual({ at: 220, overload: 20e6 });
  expect(crossingOf(episode, { ...overload, threshold: 51_000 })!.at).toBeCloseTo(220.4);
});

test('a port that has spoken before a sample showed the crossing knows better', () => {
  expect(crossingOf(episode, overload, 219)!.at).toBe(219);
  expect(crossingOf(episode, overload, 230)!.at).toBe(220);
});

test('a queue that never comes to the threshold has not crossed it', () => {
  expect(crossingOf(episode, { ...overload, threshold: 200_000 })).toBeUndefined();
  expect(crossingOf([], overload)).toBeUndefined();
});

test('the highest queue is that of the time asked for', () => {
  expect(peakOf(episode, 220, 230)).toMatchObject({ t: 230, backlog: 75_000 });
  expect(peakOf(episode, 220, 500)).toMatchObject({ t: 250, backlog: 125_000 });
  expect(peakOf(episode, 800, 900)).toBeUndefined();
});

test('a flow is back with the first window in which enough arrives', () => {
  const back = { from: 500, rate: 54e6, windowMs: 40 };
  // 80 % of this window are at 60 Mbit/s, the rest at 30.
  expect(recoveryOf(episode, back)).toBe(52);
  expect(recoveryOf(episode, { ...back, rate: 61e6 })).toBeUndefined();
  expect(recoveryOf(episode, { ...back, from: 670 })).toBeUndefined();
  expect(recoveryOf(episode, { ...back, from: 600 })).toBe(0);
});
