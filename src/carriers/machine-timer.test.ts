// The timer events of a machine, with a clock and turns of work controlled by the test.
import { expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { ManualWork } from '../model/work.fixture.ts';
import { MachineTimer } from './machine-timer.ts';

/** A machine whose next event is due at a moment that the test sets; the event clears that moment or sets the next. */
function world(start = 0, next: () => number = () => Infinity) {
  const clock = manualClock(start);
  const work = new ManualWork();
  const events: number[] = [];
  let at = Infinity;
  const timer: MachineTimer = new MachineTimer(
    { clock, work },
    {
      dueAt: () => at,
      timer: () => {
        events.push(clock.now());
        at = next();
        timer.arm();
      },
    },
  );
  const by = (moment: number): void => {
    at = Math.min(at, moment);
    timer.arm();
  };
  return { clock, work, events, timer, by };
}

test('an earlier moment replaces a later one; a later one changes nothing', () => {
  const { clock, events, by } = world();
  for (const at of [100, 50, 80]) by(at);
  clock.advance(49);
  expect(events).toEqual([]);
  clock.advance(200);
  expect(events).toEqual([50]);
});

test('a moment in the past is due at once, but not within the call; several calls get one event', () => {
  const { clock, work, events, by } = world(1000);
  for (const at of [2000, 1000, 10, -Infinity]) by(at);
  expect(events).toEqual([]);
  work.settle();
  expect(events).toEqual([1000]);
  clock.advance(5000);
  expect(events).toEqual([1000]);
});

test('while more is due, the events run as work, several a turn; afterward the timer waits for the clock', () => {
  let left = 10;
  const { clock, work, events, by } = world(0, () => (--left > 0 ? -Infinity : left === 0 ? 70 : Infinity));
  by(-Infinity);
  work.turn();
  expect(events.length).toBeGreaterThan(0);
  expect(events.length).toBeLessThan(10);
  work.settle();
  expect(events).toHaveLength(10);
  clock.advance(69);
  expect(events).toHaveLength(10);
  clock.advance(1);
  expect(events.slice(10)).toEqual([70]);
});

test('an event that becomes due while a job waits for its turn needs no second job', () => {
  const { clock, work, events, by } = world();
  by(-Infinity);
  by(-Infinity);
  by(5);
  clock.advance(10);
  expect(events).toEqual([]);
  work.turn();
  expect(events).toEqual([10]);
  work.settle();
  expect(events).toEqual([10]);
});

test('after close it delivers no event and schedules none', () => {
  for (const at of [-Infinity, 10]) {
    const { clock, work, events, timer, by } = world();
    by(at);
    timer.close();
    timer.close();
    by(-Infinity);
    work.settle();
    clock.advance(100);
    expect(events).toEqual([]);
  }
});

test('an event that closes the timer is the last one', () => {
  const all = world(0, () => (all.timer.close(), -Infinity));
  all.by(-Infinity);
  all.work.settle();
  all.clock.advance(100);
  expect(all.events).toEqual([0]);
});

test('the moment is one of the clock, whatever its start: no event before it, one exactly at it', () => {
  const { clock, work, events, by } = world(1000);
  by(1050);
  clock.advance(49);
  expect(events).toEqual([]);
  clock.advance(1);
  expect(events).toEqual([1050]);
  by(1050);
  work.settle();
  expect(events).toEqual([1050, 1050]);
});
