import { expect, test } from 'vitest';
import { WallTime } from './wall-time.ts';

test('what is added to the clock for the time of day stays as it is until somebody sets the time', () => {
  const [clock, wall] = [{ at: 1000 }, { at: 50_000 }];
  const time = new WallTime({ now: () => clock.at }, () => wall.at);
  expect([time.now(), time.offset()]).toEqual([50_000, 49_000]);
  // Read one after the other, the two clocks differ a little.
  for (const late of [1, 50, -50]) {
    wall.at = 50_000 + late;
    expect([time.now(), time.offset()]).toEqual([50_000 + late, 49_000]);
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
