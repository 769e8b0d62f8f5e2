import { expect, test } from 'vitest';
import { Pacer } from './pacer.ts';

/** How many packets of `size` go when asked every `stepMs`. */
function sent(pacer: Pacer, size: number, from: number, to: number, stepMs: number): number {
  let packets = 0;
  for (let t = from; t <= to; t += stepMs) while (pacer.take(size, t)) packets++;
  return packets;
}

test('over time exactly the rate is sent, however coarse the timer', () => {
  for (const step of [0.25, 1, 3]) {
    const pacer = new Pacer(8e6, 4, 0); // 1000 bytes a millisecond
    expect(sent(pacer, 1000, 0, 999, step)).toBeGreaterThanOrEqual(996);
    expect(sent(pacer, 1000, 999, 999, 1)).toBe(0);
  }
});

test('what a stalled timer missed is made up for up to the burst only', () => {
  const pacer = new Pacer(8e6, 4, 0);
  expect(sent(pacer, 1000, 1000, 1000, 1)).toBe(4);
});

test('a new rate counts from now on', () => {
  const pacer = new Pacer(8e6, 100, 0);
  pacer.setRate(80e6, 10);
  expect(sent(pacer, 1000, 10, 10, 1)).toBe(10);
  expect(sent(pacer, 1000, 11, 11, 1)).toBe(10);
});

test('a rate so low that a packet exceeds the burst still sends, at that rate', () => {
  const pacer = new Pacer(8e3, 4, 0); // 1 byte a millisecond, burst 4 bytes
  const packets = sent(pacer, 1000, 0, 10_000, 1);
  expect(packets).toBeGreaterThanOrEqual(9);
  expect(packets).toBeLessThanOrEqual(11);
});
