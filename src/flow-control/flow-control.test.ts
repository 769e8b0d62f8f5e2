// The machines at work together: what is sent, what is asked of the dataplane, and when queues are looked at. The
// dataplane here is a table of numbers; the real one is in test/bpf/flow-control and test/e2e/flow-control.test.ts.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { manualClock } from '../model/clock.ts';
import type { FilledQueue, HeldBytes, HeldTraffic } from '../model/flow-control.ts';
import { silentLog } from '../model/log.ts';
import { microtaskWork } from '../model/work.fixture.ts';
import type { ArnToSend } from './asked.ts';
import type { FlowControlDataplane } from './dataplane.ts';
import {
  EGRESS,
  INGRESS,
  LINE,
  NEIGHBOR,
  OTHER_SERVICE,
  SERVICE,
  askedOptions,
  filled,
  held,
  pausedOptions,
} from './flow-control.fixture.ts';
import { FlowControl, type FlowControlSettings } from './flow-control.ts';
import { PausedTraffic } from './paused.ts';
import { trafficKey } from './traffic-key.ts';

const WATCHED = 9;
const settings: FlowControlSettings = {
  asked: askedOptions,
  paused: pausedOptions,
  classes: { lineRate: LINE, buffer: 1_000_000 },
  silenceUs: 1000,
  watched: new Map([[WATCHED, { above: 100_000, below: 50_000 }]]),
  held: { above: 20_000, below: 10_000 },
  holdPorts: new Set([EGRESS]),
  mayHold: ({ traffic }) => traffic.mode === 'service',
};

/** Queues and classes whose lengths the test sets. */
class FakeDataplane implements FlowControlDataplane {
  queue = new Map<number, number>();
  backlog = 0;
  entered = 0n;
  calls: unknown[][] = [];
  fails = false;
  released = false;
  /** Classes that were read one by one. */
  counted = 0;
  onRemoved = (): void => {};
  onRead = (): void => {};
  #isFull = false;
  readonly #note = (...call: unknown[]): Promise<void> => {
    this.calls.push(call);
    return Promise.resolve();
  };
  classes = {
    setClass: (slot: number) => this.#note('class', slot),
    changeRate: (slot: number, { rate }: { rate: bigint }) => this.#note('rate', slot, rate),
    pause: (slot: number, microseconds: number) => this.#note('pause', slot, microseconds),
    classCounters: () => {
      this.counted++;
      return Promise.resolve({ sent: 0n, dropped: 0n, backlogPackets: 0, backlogBytes: this.backlog });
    },
    setHold: (slot: number, { egress }: HeldTraffic, { phase }: { phase: string }) =>
      void this.#note(phase, slot, egress),
    removeHold: () => {
      this.#isFull = false;
      void this.#note('removed');
      this.onRemoved();
    },
    record: () => ({ entered: 1n, released: this.released }),
  };
  setFull = (_: HeldTraffic, full: boolean): boolean => {
    if (full !== this.#isFull) void this.#note('full', full);
    this.#isFull = full;
    return true;
  };
  heldBytes = (ifindex: number): Promise<HeldBytes> => {
    void this.#note('read', ifindex);
    return Promise.resolve({ total: this.backlog, ofSlot: () => this.backlog });
  };
  enteredBytes = (): bigint => this.entered;
  setPortHeld = (ifindex: number, bytes: number, entered: bigint): void =>
    void this.#note('held', ifindex, bytes, entered);
  queueBytes = (ifindex: number): number => {
    this.onRead();
    if (this.fails) throw new Error('no such queue');
    return this.queue.get(ifindex) ?? 0;
  };
  forget: FlowControlDataplane['forget'] = ({ traffic, ingress, egress, reason }) =>
    void this.#note('forget', trafficKey(traffic), ingress, egress, reason);
  taken = (name: string): unknown[][] => this.calls.filter(([first]) => first === name);
}

let clock: ReturnType<typeof manualClock>;
let dataplane: FakeDataplane;
let sent: ArnToSend[];
let counts: Record<string, number>;
let neighbors: { address: typeof NEIGHBOR; ifindex: number }[];
let control: FlowControl;
let sendFails: boolean;
beforeEach(() => {
  clock = manualClock(1000);
  dataplane = new FakeDataplane();
  [sent, counts, sendFails] = [[], {}, false];
  neighbors = [{ address: NEIGHBOR, ifindex: INGRESS }];
  control = new FlowControl(settings, {
    ...{ dataplane, clock, work: microtaskWork(), log: silentLog, upstreamOf: () => neighbors },
    send: (arn) => {
      if (sendFails) throw new Error('no route');
      sent.push(arn);
    },
    monotonicNs: () => BigInt(Math.round(clock.now() * 1e6)),
    count: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
  });
});
const settled = async (): Promise<void> => {
  for (let i = 0; i < 60; i++) await Promise.resolve();
};
const pass = async (ms: number): Promise<void> => {
  for (const end = clock.now() + ms; clock.now() < end;) {
    clock.advance(1);
    await settled();
  }
};
const find = (change: Partial<FilledQueue> = {}): void => control.onFilled(filled({ egress: WATCHED, ...change }));
const ask = async (pauseMs: number | undefined, of = held()): Promise<void> => {
  control.onRequest({ held: of, neighbor: NEIGHBOR, pauseMs });
  await settled();
};
const pauses = (): (number | undefined)[] => sent.map(({ pauseMs }) => pauseMs);

describe('FCN-4.1.2-a: a filled queue', () => {
  test('asks the neighbor to pause, and to go on once it is below the lower threshold', async () => {
    dataplane.queue.set(WATCHED, 120_000);
    find();
    expect(sent).toMatchObject([{ to: { address: NEIGHBOR, ifindex: INGRESS }, traffic: SERVICE, pauseMs: 10 }]);
    await pass(2);
    dataplane.queue.set(WATCHED, 50_001);
    await pass(2);
    expect(pauses()).toEqual([10]);
    await pass(2);
    expect(pauses()).toEqual([10, 10]);
    dataplane.queue.set(WATCHED, 50_000);
    await pass(3);
    expect(pauses()).toEqual([10, 10, undefined]);
    expect(dataplane.taken('forget')).toEqual([['forget', trafficKey(SERVICE), INGRESS, WATCHED, 'queue']]);
  });
  test('what is held at the port does not count', async () => {
    control.configure({ ...settings, watched: new Map([[EGRESS, { above: 100_000, below: 50_000 }]]) });
    await ask(100);
    dataplane.backlog = 500_000;
    dataplane.queue.set(EGRESS, 540_000);
    find({ egress: EGRESS, traffic: OTHER_SERVICE });
    await pass(3);
    expect(pauses()).toEqual([10, undefined]);
  });
  test('is asked for again in time also by an agent that has to wait for a processor at each look', async () => {
    dataplane.queue.set(WATCHED, 120_000);
    dataplane.onRead = () => clock.advance(2);
    find();
    await pass(60);
    dataplane.queue.set(WATCHED, 0);
    await pass(10);
    expect(pauses().length).toBeGreaterThan(8);
    expect(pauses().at(-1)).toBeUndefined();
    expect(counts).not.toHaveProperty('flow-control.look-failed');
  });
  test('of a port that is not watched asks nobody', () => {
    find({ egress: WATCHED + 1 });
    expect(sent).toEqual([]);
    expect(counts).toMatchObject({ 'flow-control.ask.not-watched': 1 });
  });
  test('without a neighbor is counted', () => {
    neighbors = [];
    find();
    expect(counts).toMatchObject({ 'flow-control.ask.no-neighbor': 1 });
  });
  test('asks all routers that may have sent the packet', () => {
    neighbors = [...neighbors, { address: { ...NEIGHBOR, value: NEIGHBOR.value + 1n }, ifindex: INGRESS }];
    find();
    expect(sent).toHaveLength(2);
  });
});

describe('FCN-4.1.2-e: a request', () => {
  test('stops the class of the traffic for its time, and lets it go on', async () => {
    await ask(10);
    expect(dataplane.calls.slice(0, 3)).toEqual([
      ['class', 1],
      ['pause', 1, 1000],
      ['held', 1, EGRESS],
    ]);
    await pass(9);
    expect(dataplane.taken('rate')).toEqual([]);
    await pass(1);
    expect(dataplane.taken('rate')).toEqual([['rate', 1, BigInt(LINE / 8)]]);
    expect(dataplane.taken('leaving')[0]).toEqual(['leaving', 1, EGRESS]);
  });
  test('that is over lets it go on at once', async () => {
    await ask(100);
    await pass(2);
    await ask(undefined);
    expect(dataplane.taken('rate')).toEqual([['rate', 1, BigInt(LINE / 8)]]);
  });
  test('the dataplane learns how much is held, and what had entered before', async () => {
    dataplane.entered = 77n;
    dataplane.backlog = 5000;
    await ask(100);
    await pass(2);
    expect(dataplane.calls).toContainEqual(['held', EGRESS, 5000, 77n]);
  });
});

describe('hop by hop', () => {
  test('a class that fills is reported, its neighbor is asked, and let go on when the class is emptied', async () => {
    await ask(100);
    dataplane.backlog = 20_001;
    await pass(2);
    expect(dataplane.taken('full')).toEqual([['full', true]]);
    find({ egress: EGRESS, reason: 'held', depth: 0 });
    expect(pauses()).toEqual([10]);
    dataplane.backlog = 10_001;
    await pass(2);
    expect(dataplane.taken('full')).toHaveLength(1);
    dataplane.backlog = 10_000;
    await pass(2);
    expect(dataplane.taken('full')).toEqual([
      ['full', true],
      ['full', false],
    ]);
    expect(pauses()).toEqual([10, undefined]);
  });
  test('a class that is too full and leaves keeps its neighbor waiting until it is emptied', async () => {
    await ask(100);
    dataplane.backlog = 20_001;
    await pass(2);
    find({ egress: EGRESS, reason: 'held', depth: 0 });
    await ask(undefined);
    dataplane.backlog = 10_001;
    await pass(4);
    expect(pauses()).toEqual([10]);
    dataplane.backlog = 10_000;
    await pass(4);
    expect(pauses()).toEqual([10, undefined]);
  });
  test('traffic that is held again before the next look is reported again', async () => {
    await ask(100);
    dataplane.backlog = 20_001;
    await pass(2);
    dataplane.released = true;
    dataplane.onRemoved = () => {
      dataplane.released = false;
      control.onRequest({ held: held(), neighbor: NEIGHBOR, pauseMs: 100 });
    };
    await ask(undefined);
    await pass(15);
    expect(dataplane.taken('removed')).toHaveLength(1);
    expect(dataplane.taken('full')).toEqual([
      ['full', true],
      ['full', true],
    ]);
  });
  test('a class that leaves asks nobody because of what follows its packets', async () => {
    await ask(100);
    await ask(undefined);
    dataplane.backlog = 20_001;
    await pass(4);
    expect(dataplane.taken('full')).toEqual([]);
  });
  test('traffic that arrives under another name is let go on with the classes of its port', async () => {
    await ask(100);
    dataplane.backlog = 30_000;
    await pass(2);
    find({ egress: EGRESS, reason: 'held', traffic: OTHER_SERVICE });
    await pass(2);
    expect(pauses()).toEqual([10]);
    dataplane.backlog = 0;
    await pass(2);
    expect(pauses()).toEqual([10, undefined]);
  });
});

test('a port that cannot be read once is looked at until nothing of its queue counts as held', async () => {
  await pass(3);
  dataplane.calls = [];
  await ask(100);
  await pass(3);
  dataplane.backlog = 5000;
  await pass(3);
  const { heldBytes } = dataplane;
  dataplane.heldBytes = () => Promise.reject(new Error('no answer'));
  dataplane.released = true;
  await ask(undefined);
  await pass(20);
  expect(control.view().paused).toEqual([]);
  dataplane.heldBytes = heldBytes;
  dataplane.backlog = 0;
  await pass(5);
  expect(counts['flow-control.look-failed']).toBeGreaterThan(0);
  expect(dataplane.taken('held').at(-1)).toEqual(['held', EGRESS, 0, 0n]);
});

test('a look reads each port once, however many classes it has and however much is asked for', async () => {
  const listed = vi.spyOn(PausedTraffic.prototype, 'classes');
  const services = [1, 2, 3].map((protocol) => ({ ...SERVICE, protocol }) as typeof SERVICE);
  dataplane.backlog = 20_001;
  const costs: number[][] = [];
  for (const traffic of services) {
    await ask(100, held(traffic));
    await pass(3); // the first look marks the class as full
    find({ egress: EGRESS, reason: 'held', traffic });
    [dataplane.calls, dataplane.counted] = [[], 0];
    listed.mockClear();
    await pass(2);
    costs.push([dataplane.taken('read').length, dataplane.counted, listed.mock.calls.length]);
  }
  listed.mockRestore();
  expect(costs.map(([reads, counted]) => [reads, counted])).toEqual([1, 1, 1].map((looks) => [looks, 0]));
  expect(new Set(costs.map(([, , lists]) => lists)).size).toBe(1);
});

test('queues are looked at only while there is something to do', async () => {
  find();
  await pass(50);
  let timers = 0;
  const { after } = clock;
  clock.after = (ms, run) => {
    timers++;
    return after(ms, run);
  };
  await pass(50);
  expect(timers).toBe(0);
  find();
  await pass(5);
  expect(timers).toBeGreaterThan(0);
});

test('a change of the maps that the kernel refuses is counted, and the next look follows', async () => {
  await ask(100);
  dataplane.setFull = () => {
    throw new Error('no memory');
  };
  dataplane.backlog = 20_001;
  await pass(3);
  expect(counts['flow-control.look-failed']).toBe(1);
  dataplane.setFull = () => true;
  find();
  await pass(5);
  expect(pauses()).toEqual([10, undefined]);
});

test('a queue that cannot be read is counted, and keeps nobody paused', async () => {
  dataplane.fails = true;
  find();
  await pass(5);
  expect(counts['flow-control.look-failed']).toBe(1);
  expect(pauses()).toEqual([10, undefined]);
});

test('many classes together let no more frames out than one', async () => {
  for (let i = 0; i < 3; i++) await ask(100, held({ ...SERVICE, protocol: i } as typeof SERVICE));
  expect(dataplane.taken('pause').map(([, , us]) => us)).toEqual([1000, 2000, 3000]);
});

test('a new machine tells the dataplane that nothing is held, whatever an earlier one has told it', async () => {
  await pass(3);
  expect(dataplane.taken('held').at(-1)).toEqual(['held', EGRESS, 0, 0n]);
});

test('an ARN that cannot be sent is counted', () => {
  sendFails = true;
  find();
  expect(counts).toMatchObject({ 'flow-control.ask.not-sent': 1 });
});

test('at the end neighbors and held traffic go on, and nothing is done any more', async () => {
  dataplane.queue.set(WATCHED, 120_000);
  find();
  await ask(100);
  const stopped = control.stop();
  // What does not leave meanwhile goes straight.
  await pass(600);
  await stopped;
  expect(pauses()).toEqual([10, undefined]);
  expect(dataplane.calls.slice(-3)).toEqual([['rate', 1, BigInt(LINE / 8)], ['leaving', 1, 7], ['removed']]);
  const before = dataplane.calls.length;
  find();
  await ask(100);
  await pass(20);
  expect(sent).toHaveLength(2);
  expect(dataplane.calls).toHaveLength(before);
});

test('shown are both what was asked and what is paused; release lets it go', async () => {
  find();
  await ask(100);
  expect(control.view()).toMatchObject({
    asked: [{ traffic: SERVICE, egress: WATCHED, ingress: INGRESS, neighbor: NEIGHBOR }],
    paused: [{ traffic: SERVICE, egress: EGRESS, neighbor: NEIGHBOR, state: 'paused' }],
  });
  control.releaseAll();
  expect(control.view().paused).toMatchObject([{ state: 'leaving' }]);
});
