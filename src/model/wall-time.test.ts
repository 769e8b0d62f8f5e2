import { expect, test } from 'vitest';
import { WallTime } from './wall-time.ts';

test('the offset to the time of day stays constant until the time is set', () => {
  const [clock, wall] = [{ at: 1000 }, { at: 50_000 }];
  const time = new WallTime({ now: () => clock.at }, () => wall.at);
  expect({ now: time.now(), offset: time.offset() }).toEqual({ now: 50_000, offset: 49_000 });
  // Read one after the other, the two clocks differ a little.
  for (const late of [1, 50, -50]) {
    wall.at = 50_000 + late;
    expect({ now: time.now(), offset: time.offset() }).toEqual({ now: 50_000 + late, offset: 49_000 });
  }
  clock.at += 7000;
  wall.at = 57_000;
  expect(time.offset()).toBe(49_000);
  for (const set of [51, -3_600_000, 86_400_000]) {
    wall.at = clock.at + 49_000 + set;
    expect(time.offset()).toBe(49_000 + set);
    wall.at = clock.at + 49_000;
    expect(time.offset()).toBe(49_000);
  }
});

test('a process that waits between the two readings shows what it did', () => {
  let at = 1000;
  let wait = 0;
  const time = new WallTime({ now: () => at }, () => 49_000 + (at += wait));
  expect(time.offset()).toBe(49_000);
  wait = 51;
  expect(time.offset()).toBe(49_000);
  wait = 0;
  expect(time.offset()).toBe(49_000);
});

test('a moment is always shown alike, whatever lies between the readings of the two clocks', () => {
  let at = 1000;
  const time = new WallTime({ now: () => at }, () => 1_700_000_000_000.4 + at + Math.random());
  const shown = new Set<string>();
  for (let i = 0; i < 200; i++) {
    at += 1 / 3;
    shown.add(time.iso(500.0001));
  }
  expect(shown.size).toBe(1);
});
