// Turns of a carrier on a clock turned by hand; what is due at once comes with the event loop's own next round.
import { expect, it } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { Wake } from './wake.ts';

const round = (): Promise<void> => new Promise((done) => setImmediate(done));

it('an earlier moment replaces a later one, a later one changes nothing', () => {
  const clock = manualClock();
  const turns: number[] = [];
  const wake = new Wake(clock, () => turns.push(clock.now()));
  for (const at of [100, 50, 80]) wake.by(at);
  clock.advance(49);
  expect(turns).toEqual([]);
  clock.advance(200);
  expect(turns).toEqual([50]);
});

it('what is past is due at once, but not within the call; one turn for all who ask', async () => {
  const clock = manualClock(1000);
  let turns = 0;
  const wake = new Wake(clock, () => turns++);
  for (const at of [2000, 1000, 10, -Infinity]) wake.by(at);
  expect(turns).toBe(0);
  await round();
  expect(turns).toBe(1);
  clock.advance(5000);
  expect(turns).toBe(1);
});

it('the turn itself asks for the next', async () => {
  let left = 3;
  const wake: Wake = new Wake(manualClock(), () => (--left > 0 ? wake.by(-Infinity) : undefined));
  wake.by(-Infinity);
  while (left > 0) await round();
  expect(left).toBe(0);
});

it('closed, it takes no turn any more and arranges none', async () => {
  const clock = manualClock();
  let turns = 0;
  for (const at of [-Infinity, 10]) {
    const wake = new Wake(clock, () => turns++);
    wake.by(at);
    wake.close();
    wake.by(-Infinity);
  }
  await round();
  clock.advance(100);
  expect(turns).toBe(0);
});

it('the moment is one of the clock, wherever that began: before it nothing, at it at once', async () => {
  const clock = manualClock(1000);
  const turns: number[] = [];
  const wake = new Wake(clock, () => turns.push(clock.now()));
  wake.by(1050);
  clock.advance(49);
  expect(turns).toEqual([]);
  clock.advance(1);
  expect(turns).toEqual([1050]);
  wake.by(1050);
  await round();
  expect(turns).toEqual([1050, 1050]);
});
