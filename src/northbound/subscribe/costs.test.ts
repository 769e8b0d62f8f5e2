import { expect, test } from 'vitest';
import { Costs } from './costs.ts';

test('the processor time is divided among the comparisons that run', () => {
  let now = 100;
  const costs = new Costs(() => now);
  const [a, b, c] = [{}, {}, {}];
  costs.begin(a);
  now += 4;
  costs.begin(b);
  now += 6;
  expect(costs.end(a)).toBe(4 + 3);
  now += 1;
  expect(costs.end(b)).toBe(3 + 1);
  now += 50;
  costs.begin(c);
  expect(costs.end(c)).toBe(0);
  expect(costs.end(c)).toBe(0);
});
