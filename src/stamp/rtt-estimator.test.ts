import { describe, expect, test } from 'vitest';
import { RttEstimator } from './rtt-estimator.ts';

const after = (samples: Iterable<number>, estimator = new RttEstimator()): RttEstimator => {
  for (const sample of samples) estimator.add(sample);
  return estimator;
};
const repeat = (count: number, value: (i: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => value(i));

describe('LHCNP-5.3.1-e: RTT_est from probes', () => {
  test('needs three samples', () => {
    expect(after([10, 10]).smoothedMs).toBeUndefined();
    expect(after([10, 11, 12]).smoothedMs).toBe(10);
  });

  test('three late samples of four do not move it: a standing queue is not the path', () => {
    const estimator = after(repeat(16, () => 10));
    after(
      repeat(400, (i) => (i % 4 === 0 ? 10 : 60)),
      estimator,
    );
    expect(estimator.smoothedMs).toBe(10);
  });

  test('one sample that is too short does not move it', () => {
    const estimator = after(repeat(32, () => 10));
    after([0.01, ...repeat(20, () => 10)], estimator);
    expect(estimator.smoothedMs).toBe(10);
    expect(estimator.leastMs).toBe(0.01);
  });

  test('a shorter path is adopted within one window', () => {
    const estimator = after(repeat(32, () => 40));
    after(
      repeat(16, () => 10),
      estimator,
    );
    expect(estimator.smoothedMs).toBeLessThan(10.5);
  });

  test('a longer path is adopted slowly', () => {
    const estimator = after(repeat(32, () => 10));
    after(
      repeat(16, () => 20),
      estimator,
    );
    expect(estimator.smoothedMs).toBeLessThan(13);
    after(
      repeat(80, () => 20),
      estimator,
    );
    expect(estimator.smoothedMs).toBeGreaterThan(19.5);
  });

  test('forgets the samples of another path', () => {
    const estimator = after(repeat(32, () => 10));
    estimator.restart();
    expect({ smoothedMs: estimator.smoothedMs, leastMs: estimator.leastMs }).toEqual({
      smoothedMs: undefined,
      leastMs: undefined,
    });
    expect(after([50, 50, 50], estimator).smoothedMs).toBe(50);
  });
});
