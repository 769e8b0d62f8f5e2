import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DelayQueue } from './delay-queue.ts';

const queue = (limit = 4): DelayQueue => new DelayQueue({ delayMs: 10, limit, maxFrame: 8 });
const frames = (q: DelayQueue, now: number): number[][] => {
  const out: number[][] = [];
  q.release(now, (f) => out.push([...f]));
  return out;
};

test('a frame leaves after the delay, not before, in order and unchanged', () => {
  const q = queue();
  q.push(Uint8Array.of(1, 2, 3), 0);
  q.push(Uint8Array.of(4), 5);
  expect(q.nextDue).toBe(10);
  expect(frames(q, 9.9)).toEqual([]);
  expect(frames(q, 10)).toEqual([[1, 2, 3]]);
  expect(frames(q, 100)).toEqual([[4]]);
  expect(q.nextDue).toBeUndefined();
});

test('a full queue drops the newest and counts it; a frame that is too long is counted apart', () => {
  const q = queue(2);
  expect([1, 2, 3].map((b) => q.push(Uint8Array.of(b), 0))).toEqual([true, true, false]);
  expect(q.push(new Uint8Array(9), 0)).toBe(false);
  expect({ dropped: q.dropped, oversized: q.oversized }).toEqual({ dropped: 1, oversized: 1 });
  expect(frames(q, 10)).toEqual([[1], [2]]);
});

test('whatever comes and goes, what was taken comes out once and in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.nat(20)), { maxLength: 60 }),
      (list) => {
        const q = queue(5);
        const taken: number[][] = [];
        const out: number[][] = [];
        let now = 0;
        for (const [frame, gap] of list) {
          now += gap;
          out.push(...frames(q, now));
          if (q.push(frame, now)) taken.push([...frame]);
        }
        out.push(...frames(q, now + 10));
        expect(out).toEqual(taken);
        expect(q.length).toBe(0);
      },
    ),
  );
});
