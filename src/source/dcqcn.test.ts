import { expect, test } from 'vitest';
import { Dcqcn, type DcqcnOptions, scaledDcqcn } from './dcqcn.ts';

const LINE = 100e6;
const OPTS: DcqcnOptions = {
  lineRate: LINE,
  minimumRate: 1e6,
  gain: 1 / 16,
  alphaIntervalMs: 10,
  reductionIntervalMs: 10,
  increaseIntervalMs: 50,
  increaseBytes: 1e6,
  recoverySteps: 5,
  additiveIncrease: 1e6,
  hyperIncrease: 4e6,
};

test('the first CNP halves the rate: alpha begins at 1', () => {
  const r = new Dcqcn(OPTS);
  expect(r.onCnp(1)).toBe(true);
  expect(r.rate).toBe(LINE / 2);
  expect(r.alpha).toBe(1);
});

test('alpha decays by g once an interval without CNPs, so that later cuts are gentler', () => {
  const r = new Dcqcn({ ...OPTS, increaseIntervalMs: 1e6 });
  r.onCnp(0);
  r.advance(100);
  expect(r.alpha).toBeCloseTo((15 / 16) ** 10, 12);
  r.onCnp(100);
  expect(r.rate).toBeCloseTo((LINE / 2) * (1 - (15 / 16) ** 10 / 2), 3);
  expect(r.alpha).toBeCloseTo((15 / 16) ** 11 + 1 / 16, 12);
});

test('before the first CNP time and bytes change nothing: the first cut is one half, however late', () => {
  const r = new Dcqcn(OPTS);
  r.advance(60_000);
  r.onSent(1e9);
  r.onCnp(60_000);
  expect({ rate: r.rate, reductions: r.reductions }).toEqual({ rate: LINE / 2, reductions: 1 });
});

test('CNPs within the reduction interval cut once', () => {
  const r = new Dcqcn(OPTS);
  expect([r.onCnp(0), r.onCnp(5), r.onCnp(9.99), r.onCnp(10)]).toEqual([true, false, false, true]);
  expect(r.reductions).toBe(2);
});

test('fast recovery goes half of the way back with each step, without a higher target', () => {
  const r = new Dcqcn(OPTS);
  r.onCnp(0);
  const seen = [50, 100, 150, 200, 250].map((t) => {
    r.advance(t);
    return r.rate;
  });
  expect(seen).toEqual([75e6, 87.5e6, 93.75e6, 96.875e6, 98.4375e6]);
});

test('after recovery the timer alone raises the target additively, timer and bytes together by the hyper step', () => {
  const r = new Dcqcn({ ...OPTS, lineRate: 1e9 });
  r.onCnp(0); // target 1000, current 500 Mbit/s
  r.onCnp(10); // target 500
  r.advance(10 + 250);
  const recovered = r.rate;
  r.advance(10 + 300);
  expect(r.rate).toBeCloseTo((501e6 + recovered) / 2, 3);
  const before = r.rate;
  r.onSent(6e6); // five steps of the byte counter are recovery's; the sixth has both beyond it
  expect(r.rate).toBeGreaterThan(before);
  const target = 501e6 + 5e6 + 4e6;
  expect(r.rate).toBeLessThanOrEqual(target);
});

test('a cut starts recovery anew', () => {
  const r = new Dcqcn(OPTS);
  r.onCnp(0);
  r.advance(400);
  r.onCnp(400);
  const cut = r.rate;
  r.advance(449);
  expect(r.rate).toBe(cut);
  r.advance(450);
  expect(r.rate).toBeGreaterThan(cut);
});

test('the rate stays between its minimum and the line rate, whatever happens', () => {
  const r = new Dcqcn(OPTS);
  for (let t = 0; t < 1000; t += 10) r.onCnp(t);
  expect(r.rate).toBe(OPTS.minimumRate);
  r.onSent(1e9);
  r.advance(1e6);
  expect(r.rate).toBeLessThanOrEqual(LINE);
  expect(r.rate).toBeGreaterThan(0.9 * LINE);
});

test('the scaled defaults take a byte step about every tenth of a second at line rate', () => {
  expect(scaledDcqcn(LINE).increaseBytes * 8).toBe(LINE / 10);
});
