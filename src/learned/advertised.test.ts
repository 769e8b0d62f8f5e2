// The advertisements of one prefix, from few to very many and back: whichever way the choice is made, it is the most
// preferred of all that count.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { prefix } from '../model/prefix.ts';
import { Advertised } from './advertised.ts';
import { type Advertisement, type Originator, type Source, comparePreference } from './preference.ts';
import type { SenderAdvertisement } from './kinds.ts';
import { WallTime } from '../model/wall-time.ts';

const NODE = 7;
const PREFIX = prefix('2001:db8:1::/64');

function scene() {
  const advertised = new Advertised({ count: () => {}, wallTime: new WallTime({ now: () => 0 }, () => 0) });
  const originators = Array.from({ length: 6 }, (_, i): Originator => ({
    carrier: 'isis',
    name: `r${i}`,
    reachability: 'reachable',
    heldUntil: 0,
    sources: [],
  }));
  const all: Advertisement[] = [];
  let serial = 0;
  const says = (metric: number): SenderAdvertisement => ({
    kind: 'sender-prefix',
    prefix: PREFIX,
    pnc: true,
    proxy: address('2001:db8:ffff::1'),
    metric,
  });
  const add = (who: number, metric: number): void => {
    const source: Source = {
      name: `s${serial++}`,
      originator: originators[who]!,
      place: 0,
      advertisements: undefined,
      routers: [],
    };
    const a = advertised.stated(undefined, NODE, source, says(metric));
    advertised.link(a);
    all.push(a);
  };
  const remove = (at: number): void => {
    const [a] = all.splice(at % all.length, 1);
    if (a) advertised.unlink(a);
  };
  const change = (at: number, metric: number): void => {
    const i = at % all.length;
    if (all[i]) all[i] = advertised.change(all[i], says(metric));
  };
  const reach = (who: number, reachability: Originator['reachability']): void => {
    originators[who]!.reachability = reachability;
    advertised.reorder(NODE);
  };
  const listed = (): Advertisement[] => {
    const list: Advertisement[] = [];
    for (let a = advertised.first(NODE); a; a = a.next) {
      expect(a.previous).toBe(list.at(-1));
      list.push(a);
    }
    return list;
  };
  const expected = (): Advertisement | undefined =>
    all.filter((a) => a.source.originator.reachability !== 'dormant').sort(comparePreference)[0];
  return { advertised, all, add, remove, change, reach, listed, expected };
}

const who = fc.nat({ max: 5 });
const metric = fc.nat({ max: 40 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), who, metric }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), at: fc.nat(), metric }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reach' as const),
      who,
      reachability: fc.constantFrom('reachable' as const, 'held' as const, 'dormant' as const),
    }),
  },
  // The preferred one goes, again and again: what is next must come up.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('best goes' as const), times: fc.integer({ min: 1, max: 30 }) }),
  },
);

test('PNC-5-c: the most preferred advertisement is in force, among few or very many, after any additions, changes, removals and losses', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 70 }), fc.array(step, { maxLength: 60 }), (before, steps) => {
      const { advertised, all, add, remove, change, reach, listed, expected } = scene();
      for (let i = 0; i < before; i++) add(i % 6, (i * 17) % 41);
      const check = (): void => {
        expect(advertised.best(NODE)).toBe(expected());
        expect(advertised.changed.has(NODE)).toBe(true);
        advertised.changed.take();
      };
      if (before > 0) check();
      for (const s of steps) {
        if (s.kind === 'add') add(s.who, s.metric);
        else if (s.kind === 'reach') reach(s.who, s.reachability);
        else if (all.length === 0) continue;
        else if (s.kind === 'remove') remove(s.at);
        else if (s.kind === 'change') {
          const same = all[s.at % all.length]!.metric === s.metric;
          change(s.at, s.metric);
          if (same) {
            // What is advertised again is no change.
            expect(advertised.changed.has(NODE)).toBe(false);
            continue;
          }
        } else {
          for (let i = 1; i < s.times && expected(); i++) {
            remove(all.indexOf(expected()!));
            expect(advertised.best(NODE)).toBe(expected());
          }
          advertised.reorder(NODE);
        }
        check();
      }
      expect(new Set(listed())).toEqual(new Set(all));
      expect(advertised.count).toBe(all.length);
    }),
    { numRuns: 60 },
  );
});

test('many advertisements added and removed between two queries leave the order of the others intact', () => {
  const { advertised, add, remove, expected, all } = scene();
  for (let i = 0; i < 100; i++) add(i % 6, 100 - i);
  expect(advertised.best(NODE)).toBe(expected());
  for (let i = 0; i < 60; i++) add(i % 6, 200 - i);
  for (let i = 0; i < 90; i++) remove(3 * i);
  expect(advertised.best(NODE)).toBe(expected());
  while (all.length > 0) {
    remove(all.length - 1);
    expect(advertised.best(NODE)).toBe(expected());
  }
  expect({ best: advertised.best(NODE), first: advertised.first(NODE), count: advertised.count }).toEqual({
    best: undefined,
    first: undefined,
    count: 0,
  });
});

test('none is in force while the originators of very many are all dormant; the first that returns is', () => {
  const { advertised, add, reach, expected } = scene();
  for (let i = 0; i < 100; i++) add(i % 6, 100 - i);
  for (let i = 0; i < 6; i++) reach(i, 'dormant');
  expect(advertised.best(NODE)).toBeUndefined();
  // One more of a dormant originator, the most preferred of all, changes nothing.
  add(3, 0);
  expect(advertised.best(NODE)).toBeUndefined();
  reach(2, 'held');
  expect(advertised.best(NODE)).toMatchObject({ source: { originator: { name: 'r2' } } });
  expect(advertised.best(NODE)).toBe(expected());
  reach(2, 'dormant');
  expect(advertised.best(NODE)).toBeUndefined();
});

test('a dormant advertisement is never preferred, however low its metric', () => {
  for (const dormant of [0, 1, 5]) {
    const { advertised, add, reach, expected } = scene();
    for (let i = 0; i < 60; i++) add(i % 6, i % 6 === dormant ? 0 : 1 + i);
    reach(dormant, 'dormant');
    expect(advertised.best(NODE)).toBe(expected());
    expect(advertised.best(NODE)!.source.originator.name).not.toBe(`r${dormant}`);
    reach(dormant, 'reachable');
    expect(advertised.best(NODE)).toMatchObject({ metric: 0 });
  }
});
