import { expect, test } from 'vitest';
import { DEAD_MS, Liveness } from './liveness.ts';

function at() {
  const clock = { at: 1000, now: () => clock.at };
  return { clock, live: new Liveness(clock) };
}

test('silence begins with the first question and ends with anything that is heard', () => {
  const { clock, live } = at();
  expect(live.silentMs).toBe(0);
  live.asked();
  clock.at += 300;
  live.asked();
  clock.at += 200;
  expect(live.silentMs).toBe(500);
  live.heard();
  expect(live.silentMs).toBe(0);
});

test('who goes on sending events lives, however late the answer is', () => {
  const { clock, live } = at();
  live.asked();
  for (let i = 0; i < 10; i++) {
    clock.at += DEAD_MS - 1;
    expect(live.heardWithin(DEAD_MS)).toBe(i > 0);
    live.heard();
    expect({ heardWithin: live.heardWithin(DEAD_MS), silentMs: live.silentMs }).toEqual({
      heardWithin: true,
      silentMs: 0,
    });
    live.asked();
  }
  clock.at += DEAD_MS;
  expect({ heardWithin: live.heardWithin(DEAD_MS), silentMs: live.silentMs }).toEqual({
    heardWithin: false,
    silentMs: DEAD_MS,
  });
});
