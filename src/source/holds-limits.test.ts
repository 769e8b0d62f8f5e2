// Many flows: slots, limits, what changes while flows are held, and what is asked of bad options.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultHoldOptions } from './hold.ts';
import { Holds } from './holds.ts';
import { LINE, NODE, World, flowOf } from './holds.fixture.ts';

const reduce = (w: World, qpn: number, percent = 50) =>
  w.instruct('rate-reduce', percent, NODE, { flow: w.flow(qpn), senderQpn: qpn });
const slots = (w: World): number[] => [...w.holds.views(w.now)].map(({ slot }) => slot);

test('slots are given lowest first, and again once they are free', () => {
  const w = new World();
  for (let qpn = 1; qpn <= 4; qpn++) reduce(w, qpn);
  expect(slots(w)).toEqual([1, 2, 3, 4]);
  for (const qpn of [3, 2]) {
    w.apply(w.holds.release(w.flow(qpn), 0));
    w.apply(w.holds.onDrained(w.flow(qpn)));
  }
  expect(reduce(w, 5)).toMatchObject([{ kind: 'hold', slot: 2 }]);
  expect(reduce(w, 6)).toMatchObject([{ kind: 'hold', slot: 3 }]);
  expect(reduce(w, 7)).toMatchObject([{ kind: 'hold', slot: 5 }]);
});

test('the slot of a leaving flow is not another’s until it is free', () => {
  const w = new World({ mostFlows: 1 });
  reduce(w, 1);
  w.apply(w.holds.release(w.flow(1), 0));
  expect(reduce(w, 2)).toEqual([]);
  w.apply(w.holds.onDrained(w.flow(1)));
  expect(reduce(w, 2)).toMatchObject([{ kind: 'hold', slot: 1 }]);
});

test('a flow that finds no slot is not held, counted and reported; no held flow is displaced', () => {
  const w = new World({ mostFlows: 2 });
  for (let qpn = 1; qpn <= 3; qpn++) reduce(w, qpn);
  w.pass(3);
  expect(reduce(w, 4, 100)).toEqual([]);
  expect([w.rate(1), w.rate(2), w.rate(3)]).toEqual([0.5, 0.5, undefined]);
  expect([w.counts['source.hold.no-slot'], w.holds.withoutSlot]).toEqual([2, { flow: flowOf(4), at: 3 }]);
});

test('a leaving flow is held again in its slot, the last one too; one whose slot there is no more gets no second one', () => {
  const w = new World({ mostFlows: 3 });
  for (let qpn = 1; qpn <= 3; qpn++) reduce(w, qpn);
  w.apply(w.holds.release('all', 0));
  expect(reduce(w, 3)).toMatchObject([{ kind: 'hold', slot: 3 }]);
  w.apply(w.holds.onDrained(w.flow(1)));
  w.apply(w.holds.reconfigure({ ...w.opts, mostFlows: 2 }, 0));
  expect(reduce(w, 3)).toEqual([]);
  w.apply(w.holds.onDrained(w.flow(3)));
  expect(reduce(w, 3)).toMatchObject([{ kind: 'hold', slot: 1 }]);
});

test('flows differ by tenant, receiver, sender and Queue Pair', () => {
  const w = new World();
  const one = w.flow(1);
  for (const flow of [one, { ...one, tenant: 1 }, { ...one, receiver: one.sender }, { ...one, sender: one.receiver }])
    w.instruct('rate-reduce', 50, NODE, { flow });
  expect(w.holds.size).toBe(4);
});

test('an operator releases a flow, or all: pauses end, and they leave', () => {
  const w = new World();
  for (let qpn = 1; qpn <= 3; qpn++) reduce(w, qpn);
  w.instruct('pause', 9000, NODE, { flow: w.flow(2) });
  expect(w.holds.release(flowOf(9), 0)).toEqual([]);
  expect(w.apply(w.holds.release(flowOf(2), 0)).map(({ kind }) => kind)).toEqual(['resume', 'leave']);
  expect(w.apply(w.holds.release('all', 0)).map(({ kind, slot }) => [kind, slot])).toEqual([
    ['leave', 1],
    ['leave', 3],
  ]);
  expect(w.holds.release('all', 0)).toEqual([]);
  expect(w.counts['source.hold.released']).toBe(3);
});

test('an empty class of a flow that is held is no reason to free it', () => {
  const w = new World();
  reduce(w, 1);
  expect([...w.holds.onDrained(w.flow(1)), ...w.holds.onDrained(w.flow(2))]).toEqual([]);
  expect(w.rate(1)).toBe(0.5);
});

test('LHCNP-5.6-d: flows of other senders than the declared are not held; those whose declaration is gone leave', () => {
  const w = new World({ enforces: ({ receiverQpn }) => receiverQpn < 3 });
  for (let qpn = 1; qpn <= 3; qpn++) reduce(w, qpn);
  expect([w.rate(3), w.counts['source.hold.not-enforced']]).toEqual([undefined, 1]);
  const effects = w.apply(w.holds.reconfigure({ ...w.opts, enforces: ({ receiverQpn }) => receiverQpn < 2 }, 0));
  expect(effects).toMatchObject([{ kind: 'leave', slot: 2 }]);
  expect(reduce(w, 2)).toEqual([]);
});

test('with fewer slots, the flows in those that are gone leave, and get no such slot again', () => {
  const w = new World({ mostFlows: 3 });
  for (let qpn = 1; qpn <= 3; qpn++) reduce(w, qpn);
  expect(w.apply(w.holds.reconfigure({ ...w.opts, mostFlows: 2 }, 0))).toMatchObject([{ kind: 'leave', slot: 3 }]);
  expect(reduce(w, 3)).toEqual([]);
  w.apply(w.holds.onDrained(w.flow(3)));
  expect(reduce(w, 3)).toEqual([]);
  expect(w.counts['source.hold.no-slot']).toBe(2);
  w.apply(w.holds.reconfigure({ ...w.opts, mostFlows: 3 }, 0));
  expect(reduce(w, 3)).toMatchObject([{ kind: 'hold', slot: 3 }]);
});

test('with fewer nodes, the strictest stay', () => {
  const w = new World();
  reduce(w, 1, 10);
  w.instruct('rate-reduce', 60, flowOf(1).receiver);
  w.apply(w.holds.reconfigure({ ...w.opts, mostNodes: 1 }, 0));
  expect([...w.holds.views(0)][0]!.nodes.map(({ instruction }) => instruction.parameter)).toEqual([60]);
});

test('a slower line lowers the rates above it, and flows at it leave; a faster one lets flows recover further', () => {
  const w = new World({ recoverySteps: 10 });
  reduce(w, 1, 30);
  reduce(w, 2, 80);
  w.instruct('pause', 30_000, NODE, { flow: w.flow(3) });
  const withLine = (lineRate: number): unknown[] =>
    w.apply(w.holds.reconfigure({ ...w.opts, lineRate }, 0)).map(({ kind, slot }) => [kind, slot]);
  expect(withLine(LINE / 2)).toEqual([
    ['leave', 1],
    ['rate', 3],
  ]);
  expect([w.rate(2), w.rate(3)]).toEqual([0.2, 0.5]);
  expect(withLine(2 * LINE)).toEqual([
    ['rate', 1],
    ['rate', 3],
  ]);
  expect([w.rate(2), w.rate(3), w.dataplane.classes.get(1)!.rate]).toEqual([0.2, 2, 2 * LINE]);
  w.pass(90);
  expect(w.rate(2)).toBeCloseTo(0.2 + 8 * 0.2, 9);
});

test('what is reconfigured counts for flows that are held', () => {
  const w = new World();
  reduce(w, 1);
  w.apply(w.holds.reconfigure({ ...w.opts, recoverySteps: 5, response: 10 }, 0));
  w.pass(20);
  expect(w.rate(1)).toBe(0.7);
  w.notify();
  expect(w.rate(1)).toBeCloseTo(0.63, 9);
});

test.each([
  ['lineRate', 0],
  ['lineRate', NaN],
  ['mostFlows', 0],
  ['mostNodes', 0],
  ['rttMs', 1e6],
  ['response', 0],
  ['response', 101],
  ['recoverySteps', 0],
  ['renewMs', 0],
  ['renewMs', 3000],
  ['drainMs', Infinity],
])('%s %d is refused, and the former options stay in force', (name, value) => {
  const bad = { ...defaultHoldOptions(LINE), [name]: value };
  expect(() => new Holds(bad, { count: () => {} })).toThrow(RangeError);
  const w = new World();
  expect(() => w.holds.reconfigure(bad, 0)).toThrow(name);
  expect(reduce(w, 1)).toMatchObject([{ rate: LINE / 2, untilMs: 3000 }]);
});

test('with a limit, advance does a part of what is due, and says that the rest is', () => {
  const w = new World();
  for (let qpn = 1; qpn <= 10; qpn++) reduce(w, qpn);
  expect(w.apply(w.holds.advance(20, 4))).toHaveLength(4);
  expect(w.holds.nextAt).toBe(20);
  expect(w.apply(w.holds.advance(20))).toHaveLength(6);
  expect(w.holds.nextAt).toBeGreaterThan(20);
});

test('every counter of holds is in docs/reference/counters.md', () => {
  const counted = [
    ...['notify', 'pause', 'rate-reduce', 'resume', 'duplicate', 'nothing-to-resume', 'bad-instruction'],
    ...[
      'held',
      'recovered',
      'released',
      'not-enforced',
      'slot-removed',
      'no-slot',
      'node-displaced',
      'drain-overdue',
      'trace-used',
      'trace-without-congestion',
    ],
  ];
  const document = readFileSync('docs/reference/counters.md', 'utf8');
  const family = document.slice(document.indexOf('## Holding flows'));
  expect(
    counted.filter((name) => !family.includes(`\`source.hold.${name}\``) && !family.includes(`\`${name}\``)),
  ).toEqual([]);
});
