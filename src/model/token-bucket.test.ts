import { describe, expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

const taken = (bucket: TokenBucket, from: number, to: number, step: number): number => {
  let count = 0;
  for (let now = from; now < to; now += step) count += bucket.take(now) ? 1 : 0;
  return count;
};

describe('token bucket', () => {
  test('allows the burst at once, then the rate, however often it is asked', () => {
    const bucket = new TokenBucket({ perSecond: 100, burst: 10 }, 0);
    expect(taken(bucket, 0, 1, 0.01)).toBe(10);
    const later = taken(bucket, 1, 10_001, 0.5);
    expect(later).toBeGreaterThanOrEqual(999);
    expect(later).toBeLessThanOrEqual(1001);
  });

  test('saves up no more than the burst', () => {
    const bucket = new TokenBucket({ perSecond: 100, burst: 3 }, 0);
    expect(taken(bucket, 1e9, 1e9 + 1, 0.1)).toBe(3);
  });

  test('a new limit takes effect from now on', () => {
    const bucket = new TokenBucket({ perSecond: 1000, burst: 100 }, 0);
    bucket.configure({ perSecond: 1, burst: 2 }, 0);
    expect(taken(bucket, 0, 1000, 1)).toBe(2);
    expect(bucket.take(1000)).toBe(true);
    expect(bucket.take(1001)).toBe(false);
  });
});
