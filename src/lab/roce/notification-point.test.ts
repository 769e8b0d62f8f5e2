import { expect, test } from 'vitest';
import { NotificationPoint, ecnOf } from './notification-point.ts';

test('only "congestion experienced" is answered, whatever the DSCP', () => {
  const n = new NotificationPoint(0);
  expect([0x00, 0x01, 0x02, 0xb8 | 2].map((tc) => n.onData(tc, 1))).toEqual([false, false, false, false]);
  expect(n.onData(0xb8 | 3, 1)).toBe(true);
  expect(ecnOf(0xc2)).toBe(2);
});

test('one CNP an interval; every mark is counted, and when the first came', () => {
  const n = new NotificationPoint(0.05);
  expect([5, 5.01, 5.04, 5.06].map((t) => n.onData(3, t))).toEqual([true, false, false, true]);
  expect({ marked: n.marked, sent: n.sent, firstMarkedAt: n.firstMarkedAt }).toEqual({
    marked: 4,
    sent: 2,
    firstMarkedAt: 5,
  });
});

test('switched off, marks are counted and not answered', () => {
  const n = new NotificationPoint(undefined);
  expect(n.onData(3, 1)).toBe(false);
  expect({ marked: n.marked, sent: n.sent }).toEqual({ marked: 1, sent: 0 });
});
