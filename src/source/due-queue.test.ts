import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Due, DueQueue } from './due-queue.ts';
import { Slots } from './slots.ts';

test('the first is the earliest of those that are in the queue, however they came, moved and left', () => {
  const step = fc.tuple(fc.nat(20), fc.option(fc.nat(50)));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new DueQueue<Due>();
      const entries = Array.from({ length: 21 }, (): Due => ({ dueAt: 0, place: -1 }));
      const expected = new Map<Due, number>();
      for (const [which, at] of steps) {
        const entry = entries[which]!;
        if (at === null) {
          queue.remove(entry);
          expected.delete(entry);
        } else {
          queue.set(entry, at);
          expected.set(entry, at);
        }
        expect(queue.size).toBe(expected.size);
        expect(queue.first?.dueAt).toBe(expected.size === 0 ? undefined : Math.min(...expected.values()));
        expect(entries.filter(({ place }) => place >= 0)).toHaveLength(expected.size);
      }
    }),
  );
});

test('a slot has one owner at a time, and the lowest free one is the next', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(8)), { maxLength: 100 }), (steps) => {
      const slots = new Slots(6);
      const used = new Set<number>();
      for (const given of steps) {
        if (given === null) {
          const free = [1, 2, 3, 4, 5, 6].find((slot) => !used.has(slot));
          expect(slots.take()).toBe(free);
          if (free !== undefined) used.add(free);
        } else if (used.delete(given)) slots.give(given);
        expect(slots.used).toBe(used.size);
      }
    }),
  );
});
