import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TextMap } from './text-map.ts';

const keys = fc.constantFrom('', '/', '10.0.0.0/8', '10.0.1.0/24', '2001:db8:1::/64', '2001:db8:2::/64', '::/0');
const many = Array.from({ length: 5000 }, (_, i) => `2001:db8:${i.toString(16)}:ffff::/64`);
const step = fc.oneof(fc.record({ set: keys, value: fc.nat(9) }), fc.record({ delete: keys }));

describe('a map by text', () => {
  test.each([
    ['few', []],
    ['many', many],
  ])('it holds what a Map would hold, with %s others', (_, others) => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const [ours, model] = [new TextMap<number>(), new Map<string, number>()];
        for (const key of others) {
          ours.set(key, 1);
          model.set(key, 1);
        }
        for (const one of steps) {
          if ('set' in one) {
            ours.set(one.set, one.value);
            model.set(one.set, one.value);
          } else expect(ours.delete(one.delete)).toBe(model.delete(one.delete));
        }
        expect([...ours].sort()).toEqual([...model].sort());
        expect([...ours.values()].sort()).toEqual([...model.values()].sort());
        expect(ours.size).toBe(model.size);
        for (const key of ['', '10.0.0.0/8', '::/0', many[0]!, many[4999]!])
          expect({ key: ours.get(key), hasKey: ours.has(key) }).toEqual({
            key: model.get(key),
            hasKey: model.has(key),
          });
      }),
      { numRuns: 30 },
    );
  });

  test('a few entries keep the order of insertion', () => {
    const map = new TextMap<number>();
    const keys = ['b', 'a', '10.0.0.0/8', '2001:db8::/32', 'c'];
    for (const [i, key] of keys.entries()) map.set(key, i);
    expect([...map]).toEqual(keys.map((key, i) => [key, i]));
  });

  test('an entry deleted during iteration is not visited, every other one once', () => {
    const map = new TextMap<number>();
    for (let i = 0; i < 10_000; i++) map.set(`10.0.${i}.0/24`, i);
    const seen = new Set<string>();
    for (const [key, i] of map) {
      expect(seen.has(key)).toBe(false);
      seen.add(key);
      map.delete(key);
      map.delete(`10.0.${i ^ 1}.0/24`);
    }
    expect({ seenSize: seen.size, mapSize: map.size }).toEqual({ seenSize: 5000, mapSize: 0 });
  });
});
