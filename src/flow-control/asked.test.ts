// Which ARNs are sent to upstream neighbors, and when.
import { beforeEach, describe, expect, test } from 'vitest';
import { AskedNeighbors, type Upstream } from './asked.ts';
import {
  EGRESS,
  FLOW,
  INGRESS,
  NEIGHBOR,
  OTHER_NEIGHBOR,
  OTHER_SERVICE,
  PRIORITY,
  SERVICE,
  askedOptions,
  filled,
} from './flow-control.fixture.ts';

let counts: Record<string, number>;
let asked: AskedNeighbors;
const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
beforeEach(() => {
  counts = {};
  asked = new AskedNeighbors(askedOptions, { count }, 0);
});
const UPSTREAM: Upstream = { address: NEIGHBOR, ifindex: INGRESS };
const ask = (now: number, change = {}, to = UPSTREAM) => asked.onFilled(filled(change), to, 100_000, now);

test.each([
  ['FCN-4.1.2-b', SERVICE],
  ['FCN-4.1.2-c', FLOW],
  ['FCN-4.1.2-d', PRIORITY],
])('%s: the neighbor is asked for the time that is configured', (_, traffic) => {
  expect(ask(0, { traffic })).toEqual({ to: UPSTREAM, traffic, pauseMs: 10, metric: 128 });
  expect([...asked.views()]).toEqual([
    { neighbor: NEIGHBOR, ingress: INGRESS, traffic, egress: EGRESS, reason: 'queue', since: 0, until: 10, times: 1 },
  ]);
});

test('the metric says how far above its threshold the queue is', () => {
  const metric = (depth: number) => ask(0, { depth, traffic: { ...FLOW, sourcePort: depth % 65_536 } })?.metric;
  expect([100_000, 100_400, 200_000, 4_000_000_000].map(metric)).toEqual([0, 1, 255, 255]);
});

test('damping: within half of a pause the same is not asked again, whatever the storm', () => {
  let sent = 0;
  for (let us = 0; us < 100_000; us++) if (ask(us / 1000)) sent++;
  expect(sent).toBe(20);
  expect([...asked.views()]).toMatchObject([{ since: 0, times: 20 }]);
  expect(counts['flow-control.ask.suppressed']).toBe(99_980);
});

test('other traffic, another neighbor and another queue are asked for at once', () => {
  expect(ask(0)).toBeDefined();
  expect(ask(1, { traffic: OTHER_SERVICE })).toBeDefined();
  expect(ask(1, {}, { ...UPSTREAM, address: OTHER_NEIGHBOR })).toBeDefined();
  expect(ask(1, { egress: EGRESS + 1 })).toBeDefined();
});

test('nobody is asked where the packet leaves: no ARN comes back to where it came from', () => {
  expect(ask(0, { egress: INGRESS })).toBeUndefined();
  expect(counts).toEqual({ 'flow-control.ask.hairpin': 1 });
});

test('a pause that nobody looks at ends by itself, and begins anew with a packet', () => {
  ask(0);
  expect(asked.onQueues(() => false, 10)).toEqual({ arns: [], emptied: [] });
  expect(asked.size).toBe(0);
  ask(11);
  expect([...asked.views()]).toMatchObject([{ since: 11, times: 1 }]);
});

test('while the queue is not short the pause is asked for again, for eight pauses after the last packet', () => {
  const again = (from: number, to: number): number[] => {
    const at: number[] = [];
    for (let now = from; now <= to; now++) if (asked.onQueues(() => false, now).arns.length > 0) at.push(now);
    return at;
  };
  ask(0);
  expect(again(1, 20)).toEqual([5, 10, 15, 20]);
  expect([...asked.views()]).toMatchObject([{ since: 0, times: 5, until: 30 }]);
  // A packet within half of a pause prolongs that as well.
  ask(21);
  expect(again(22, 200)).toEqual([25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100]);
  expect(asked.size).toBe(0);
});

describe('elimination', () => {
  const goOn = (traffic = SERVICE) => ({ to: UPSTREAM, traffic, pauseMs: undefined, metric: 0 });
  const isHere = ({ egress }: { egress: number }): boolean => egress === EGRESS;
  test('when the queue is emptied, once', () => {
    ask(0);
    ask(0, { egress: EGRESS + 1, traffic: OTHER_SERVICE });
    const emptied = [{ traffic: SERVICE, ingress: INGRESS, egress: EGRESS, reason: 'queue' }];
    expect(asked.onQueues(isHere, 3)).toMatchObject({ arns: [goOn()], emptied });
    expect(asked.onQueues(isHere, 4)).toEqual({ arns: [], emptied: [] });
    expect(asked.egress).toEqual(new Set([EGRESS + 1]));
  });
  test.each([
    ['the queue of another port', { egress: EGRESS + 1 }],
    ['a class at the same port', { reason: 'held' as const }],
  ])('not while the same traffic fills %s, and once for all of its queues', (_, also) => {
    ask(0);
    ask(0, also);
    const isFirst = ({ egress, reason }: { egress: number; reason: string }) =>
      isHere({ egress }) && reason === 'queue';
    const first = asked.onQueues(isFirst, 3);
    expect([first.arns, first.emptied.length]).toEqual([[], 1]);
    expect(asked.onQueues(() => true, 4).arns).toEqual([goOn()]);
    ask(5);
    ask(5, also);
    const both = asked.onQueues(() => true, 6);
    expect([both.arns, both.emptied.length]).toEqual([[goOn()], 2]);
    expect(counts['flow-control.ask.eliminated']).toBe(2);
  });
  test('of one neighbor, whatever another one is asked', () => {
    ask(0);
    ask(0, { egress: EGRESS + 1 }, { ...UPSTREAM, address: OTHER_NEIGHBOR });
    expect(asked.onQueues(isHere, 3).arns).toEqual([goOn()]);
  });
  test('the next packet that finds the queue filled asks at once', () => {
    ask(0);
    asked.onQueues(() => true, 1);
    expect(ask(1)).toBeDefined();
  });
  test('when this router stops, all that it asked for goes on', () => {
    ask(0);
    ask(0, { traffic: OTHER_SERVICE });
    expect(asked.stop(1).map(({ pauseMs }) => pauseMs)).toEqual([undefined, undefined]);
    expect(asked.size).toBe(0);
  });
});

describe('limits', () => {
  const other = (sourcePort: number) => ({ traffic: { ...FLOW, sourcePort } });
  test('no more is asked for than is remembered, until something has ended', () => {
    for (let i = 0; i < 4; i++) expect(ask(0, other(i))).toBeDefined();
    expect(ask(5, other(9))).toBeUndefined();
    expect(counts['flow-control.ask.full']).toBe(1);
    expect(ask(10, other(9))).toBeDefined();
    expect(asked.size).toBe(4);
  });
  test('what has ended makes room, also behind what was asked for again', () => {
    ask(0, other(0));
    for (let i = 1; i < 4; i++) ask(2, other(i));
    expect(asked.onQueues(() => false, 5).arns).toHaveLength(1);
    expect(ask(12, other(9))).toBeDefined();
    expect([...asked.views()].map(({ until }) => until)).toEqual([12, 12, 15, 22]);
  });
  test('a token for each, earned with time', () => {
    asked = new AskedNeighbors({ ...askedOptions, mostAsked: 1000 }, { count }, 0);
    for (let i = 0; i < 20; i++) ask(0, other(i));
    expect(counts).toEqual({ 'flow-control.ask.sent': 10, 'flow-control.ask.limited': 10 });
    expect(ask(1, other(30))).toBeDefined();
  });
});
