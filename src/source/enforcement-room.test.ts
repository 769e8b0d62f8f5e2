// What the program that takes notifications from hosts is told: until when flows are held, and whether further ones can
// be. With it, a flow that nobody slows down stays its host's.
import { beforeEach, expect, test } from 'vitest';
import { manualClock } from '../model/clock.ts';
import { silentLog } from '../model/log.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import { address } from '../model/address.ts';
import type { SourceNotification } from '../model/source.ts';
import { FakeClasses, LINE, flow } from './enforcement.fixture.ts';
import { Enforcement } from './enforcement.ts';
import { defaultHoldOptions } from './hold.ts';

let clock: ReturnType<typeof manualClock>;
let classes: FakeClasses;
let enforcement: Enforcement;
let ready: boolean;
let told: { readonly untilNs: bigint; readonly room: boolean }[];
let counts: Record<string, number>;
const settings = (mostFlows: number) => ({
  options: {
    ...defaultHoldOptions(LINE),
    mostFlows,
    rttMs: 5000,
    enforces: ({ receiverQpn }: { receiverQpn: number }) => receiverQpn < 100,
  },
  buffer: 1_000_000,
});
beforeEach(() => {
  clock = manualClock(1000);
  classes = new FakeClasses();
  ready = true;
  told = [];
  counts = {};
  enforcement = new Enforcement(settings(2), {
    ...{ dataplane: classes, clock, work: microtaskWork(), log: silentLog },
    monotonicNs: () => BigInt(Math.round(clock.now() * 1e6)),
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    isReady: () => ready,
    onHolding: (holding) => void told.push(holding),
  });
});

const notification = (receiverQpn: number): SourceNotification => ({
  ...{ atNs: 0n, format: 'fast-cnp', action: 'enforce', node: address('2001:db8:ffff::2'), flow: flow(receiverQpn) },
  ...{ senderQpn: 1, ifindex: 1, instruction: null, metric: null, trace: null },
});
const notify = (receiverQpn: number): void => enforcement.onNotification(notification(receiverQpn));
const settled = async (): Promise<void> => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};
const since = (): readonly (readonly [seconds: number, room: boolean])[] =>
  told.splice(0).map(({ untilNs, room }) => [Number(untilNs) / 1e9, room]);

test('it promises three seconds, and renews that every second: what a dead agent has promised ends', () => {
  expect(since()).toEqual([[4, true]]);
  clock.advance(999);
  expect(since()).toEqual([]);
  clock.advance(1);
  expect(since()).toEqual([[5, true]]);
});

test('with the last slot there is no more room, and with the first free one there is, at once', async () => {
  since();
  notify(1);
  expect(since()).toEqual([]);
  notify(2);
  expect(since()).toEqual([[4, false]]);
  await settled();
  enforcement.release('all');
  await settled();
  clock.advance(10); // their classes are empty
  await settled();
  expect(since().at(-1)).toEqual([4.01, true]);
});

test('fewer or more slots change it, too', () => {
  notify(1);
  since();
  enforcement.configure(settings(1));
  expect(since()).toEqual([[4, false]]);
  enforcement.configure(settings(2));
  expect(since()).toEqual([[4, true]]);
});

test('without a port nothing is held; a port that is prepared changes that at once', () => {
  since();
  ready = false;
  enforcement.look();
  expect(since()).toEqual([[0, false]]);
  ready = true;
  enforcement.look();
  expect(since()).toEqual([[4, true]]);
});

test('a class that the kernel refuses gives its slot back', async () => {
  classes.refuses = 'class';
  notify(1);
  notify(2);
  since();
  await settled();
  expect(since().at(-1)![1]).toBe(true);
});

test('while more flows wait for the kernel than may, no further one is taken from its host', () => {
  enforcement.configure(settings(4096));
  classes.setClass = () => new Promise(() => {});
  since();
  const notifyAll = (most: number): void => {
    for (let n = 0; n < most; n++)
      enforcement.onNotification({ ...notification(1), flow: { ...flow(1), sender: address(`2001:db8:1::1:${n}`) } });
  };
  notifyAll(1000);
  expect(since()).toEqual([]);
  notifyAll(1100);
  expect(since().at(-1)![1]).toBe(false);
});

test('a flow that the program has left to its host for want of a slot is known, and counted', () => {
  enforcement.onLeftToHost(notification(3));
  expect(enforcement.flowWithoutSlot(60_000)).toBeUndefined();
  notify(1);
  notify(2);
  enforcement.onLeftToHost(notification(1)); // held meanwhile
  enforcement.onLeftToHost(notification(200)); // of a sender that is not enforced
  expect(enforcement.flowWithoutSlot(60_000)).toBeUndefined();
  enforcement.onLeftToHost(notification(3));
  expect(enforcement.flowWithoutSlot(60_000)).toEqual(flow(3));
  expect(counts['source.hold.no-slot']).toBe(1);
});

test('stop takes the promise back before anything else', async () => {
  notify(1);
  since();
  const stopped = enforcement.stop();
  expect(since()).toEqual([[0, false]]);
  await stopped;
  clock.advance(5000);
  expect(since()).toEqual([]);
});
