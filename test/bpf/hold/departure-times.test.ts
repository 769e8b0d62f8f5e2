// Departure times (bpf/lib/hold/edt.h), which the program writes into the packet: an fq would keep them. Without a
// network, and without an fq: whether a real one does is in test/kernels.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  HOLD_EDT,
  HOLD_LONGEST_DEPARTURE_NS,
  HOLD_MAPS,
  holdSlot,
  minorOf,
} from '../../../src/kernel/dataplane/holds.ts';
import { OPCODE } from '../../../src/packet/roce/opcodes.ts';
import { HoldClasses } from '../../../src/reconcile/hold-classes.ts';
import { HoldPaces } from '../../../src/reconcile/hold-paces.ts';
import { HoldPortTable } from '../../../src/reconcile/hold-port-table.ts';
import { HoldTable } from '../../../src/reconcile/hold-table.ts';
import { FLOW, HoldUnderTest, MINOR, PORT, held } from '../support/hold-under-test.ts';
import { data, frame } from '../support/packets.ts';

let hold: HoldUnderTest;
/** Its clock is an hour ahead: what it pauses departs in an hour, however long a test takes. */
let paces: HoldPaces;
let present: HoldPaces;
let soon: HoldPaces;
const HOUR = 3_600_000_000_000n;
const now = (): bigint => process.hrtime.bigint();
const later = (): bigint => now() + HOUR;
beforeAll(() => {
  hold = new HoldUnderTest();
  const table = { recordOf: (minor: number) => hold.table.recordOf(minor) };
  paces = new HoldPaces(hold.object, { table, monotonicNs: later });
  present = new HoldPaces(hold.object, { table, monotonicNs: now });
  soon = new HoldPaces(hold.object, { table, monotonicNs: () => now() + 150_000_000n });
});
afterAll(() => hold.close());
beforeEach(() => {
  hold.clear();
  hold.portTable.setPort(PORT, HOLD_EDT);
});

const packet = frame(data({ size: 1000 }));
const LENGTH = BigInt(packet.length);
const FAST = { rate: 10_000_000_000n, limit: 1 << 30, least: 1n };
const stamp = (bytes = packet): bigint => hold.departureOf(bytes);

/** A flow at a rate, in an hour. Returns when its first packet departs. */
function heldAt(rate = FAST.rate, opts: Partial<typeof FAST> = {}): bigint {
  paces.set(MINOR, { ...FAST, rate, ...opts });
  paces.pause(MINOR, 1);
  hold.table.set(FLOW, held());
  return stamp();
}

/** How much later each departs than the one before. */
const gaps = (stamps: readonly bigint[]): bigint[] => stamps.slice(1).map((at, i) => at - stamps[i]!);

describe('a held flow', () => {
  test('departs at once, if nothing of it waits', () => {
    const before = now();
    present.set(MINOR, { ...FAST, rate: 1n });
    hold.table.set(FLOW, held());
    const first = stamp();
    expect([first >= before, first <= now()]).toEqual([true, true]);
  });

  test('departs at its rate: each packet takes its length from those behind it', () => {
    const first = heldAt(100_000n);
    const short = frame(data({ size: 100 }));
    const stamps = [first, stamp(short), stamp(), stamp()];
    const cost = (bytes: Uint8Array): bigint => BigInt(bytes.length) * 10_000n;
    expect(gaps(stamps)).toEqual([cost(packet), cost(short), cost(packet)]);
    expect(hold.table.record(FLOW)).toMatchObject({ entered: 4n, stamped: 4n, released: false });
    expect(hold.count('held')).toBe(4);
  });

  test('has a changed rate with the next packet; what has a time keeps it, and no later packet departs before', () => {
    const first = heldAt(100_000n);
    const second = stamp();
    paces.changeRate(MINOR, { rate: 1_000_000n });
    const [third, fourth] = [stamp(), stamp()];
    expect(gaps([first, second, third, fourth])).toEqual([LENGTH * 10_000n, LENGTH * 10_000n, LENGTH * 1000n]);
    paces.changeRate(MINOR, { rate: 50_000n });
    expect(gaps([fourth, stamp(), stamp()])).toEqual([LENGTH * 1000n, LENGTH * 20_000n]);
  });

  test('departs no sooner than the end of its pause, whatever its rate; a longer or shorter pause replaces it', () => {
    paces.set(MINOR, FAST);
    hold.table.set(FLOW, held());
    const before = later();
    paces.pause(MINOR, 1);
    paces.pause(MINOR, 65_535);
    const [first, second] = [stamp(), stamp()];
    expect(first - before).toBeGreaterThanOrEqual(65_535_000n);
    expect(first - later()).toBeLessThanOrEqual(65_535_000n);
    expect(second - first).toBe(LENGTH / 10n);
    // In order, although the next ones may depart sooner.
    paces.resume(MINOR);
    expect(stamp() - second).toBe(LENGTH / 10n);
    expect(() => paces.pause(MINOR, 0)).toThrow(RangeError);
    expect(() => paces.pause(MINOR, 65_536)).toThrow(RangeError);
  });

  test('that is paused goes on at the rate that it is given meanwhile, after the pause', () => {
    paces.set(MINOR, FAST);
    hold.table.set(FLOW, held());
    const before = later();
    paces.pause(MINOR, 60_000);
    paces.changeRate(MINOR, { rate: 100_000n });
    const [first, second] = [stamp(), stamp()];
    expect(first - before).toBeGreaterThanOrEqual(60_000_000n);
    expect(second - first).toBe(LENGTH * 10_000n);
  });

  test('that is stopped sends one frame after each silence, until it has a rate again', () => {
    paces.set(MINOR, FAST);
    hold.table.set(FLOW, held());
    const before = later();
    paces.stop(MINOR, 40_000);
    const [first, second] = [stamp(), stamp()];
    expect(first - before).toBeGreaterThanOrEqual(40_000_000n);
    expect(second - first).toBe(40_000_000n + LENGTH / 10n);
    paces.changeRate(MINOR, { rate: 100_000n });
    const [third, fourth] = [stamp(), stamp()];
    expect(third - second).toBe(40_000_000n + LENGTH / 10n);
    expect(fourth - third).toBe(LENGTH * 10_000n);
  });

  test('that was stopped loses nothing when it goes on, at whatever rate', () => {
    paces.set(MINOR, { ...FAST, rate: LENGTH * 100n }); // 10 ms each
    hold.table.set(FLOW, held());
    paces.stop(MINOR, 40_000);
    const stamps = Array.from({ length: 4 }, () => stamp());
    expect(stamps.map((at) => at > 0n)).toEqual([true, true, true, false]);
    paces.changeRate(MINOR, { rate: LENGTH * 100n });
    expect(stamp()).toBe(stamps[2]! + 50_000_000n);
  });

  test('that waits too long loses packets: by its bytes, or after 100 ms of waiting, pauses aside', () => {
    // 100 µs a packet; four of them may wait behind the first.
    heldAt(LENGTH * 10_000n, { limit: packet.length * 4 });
    const sent = Array.from({ length: 9 }, () => stamp());
    expect(sent.filter((at) => at === 0n)).toHaveLength(5);
    expect(hold.count('full')).toBe(5);
    expect(hold.table.record(FLOW)!.entered).toBe(5n);
    paces.set(MINOR + 1, { ...FAST, rate: LENGTH * 50n });
    paces.pause(MINOR + 1, 65_535);
    hold.table.set(FLOW, held({ minor: MINOR + 1 }));
    // 20 ms a packet: six depart within 100 ms.
    expect(Array.from({ length: 10 }, () => stamp()).filter((at) => at > 0n)).toHaveLength(6);
  });

  test('loses nothing because it is faster: as much as before may wait, behind what waits', () => {
    // 10 ms a packet; nine may wait behind the first.
    const stamps = [heldAt(LENGTH * 100n, { limit: packet.length * 100 })];
    for (let i = 0; i < 9; i++) stamps.push(stamp());
    // 0.1 ms a packet, of which a hundred may wait: 10 ms.
    paces.changeRate(MINOR, { rate: LENGTH * 10_000n });
    for (let i = 0; i < 101; i++) stamps.push(stamp());
    expect(gaps(stamps).filter((gap) => gap === 10_000_000n)).toHaveLength(10);
    expect(gaps(stamps).filter((gap) => gap === 100_000n)).toHaveLength(100);
    expect([stamp(), hold.count('full')]).toEqual([0n, 1]);
    paces.changeRate(MINOR, FAST);
    expect(stamp()).toBe(stamps.at(-1)! + 100_000n);
  });

  test('has its READ responses and what answers them in one order; answers alone have no time', () => {
    const answer = frame(data({ opcode: OPCODE.acknowledge, size: 4 }));
    heldAt(100_000n);
    expect(stamp(answer)).toBe(0n);
    const response = stamp(frame(data({ opcode: OPCODE.readResponseOnly })));
    expect(stamp(answer)).toBeGreaterThan(response);
  });

  test('that is held again while it leaves loses nothing: as much as before may wait behind what waits', () => {
    // 10 ms a packet; what waits would be too much at once.
    const stamps = [heldAt(LENGTH * 100n, { limit: packet.length * 5 })];
    for (let i = 0; i < 5; i++) stamps.push(stamp());
    expect(stamp()).toBe(0n);
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    paces.changeRate(MINOR, FAST);
    stamps.push(stamp());
    paces.set(MINOR, { ...FAST, limit: packet.length * 5 });
    hold.table.set(FLOW, held());
    for (let i = 0; i < 5; i++) stamps.push(stamp());
    expect(gaps(stamps).every((gap) => gap > 0n)).toBe(true);
    expect(hold.count('full')).toBe(1);
  });

  test('whose pause is replaced by a shorter one loses nothing', () => {
    paces.set(MINOR, FAST);
    hold.table.set(FLOW, held());
    paces.pause(MINOR, 65_535);
    stamp();
    paces.pause(MINOR, 1);
    expect([stamp() > later(), hold.count('full')]).toEqual([true, 0]);
  });

  test.each([7, 0x10007])('of a priority that an fq does not delay, %i, gets another one', (priority) => {
    heldAt();
    expect(hold.priorityOf(packet, priority)).toBe(priority - 1);
    expect(hold.priorityOf(packet, 5)).toBe(5);
    hold.table.remove(FLOW);
    expect(hold.priorityOf(packet, priority)).toBe(priority - 1);
    hold.clear();
    expect(hold.priorityOf(packet, priority)).toBe(priority);
  });

  test('without a pace goes straight, and is counted', () => {
    hold.table.set(FLOW, held({ minor: MINOR + 2 }));
    expect(stamp()).toBe(0n);
    expect(hold.count('invalid')).toBe(1);
    expect(() => paces.set(MINOR, { ...FAST, rate: 0n })).toThrow(RangeError);
  });
});

describe('the end of a hold', () => {
  const answer = frame(data({ opcode: OPCODE.acknowledge, size: 4 }));
  const response = frame(data({ opcode: OPCODE.readResponseOnly, size: 1000 }));
  /** A packet departs in 150 ms. Returns when the next one may. */
  function waiting(): bigint {
    soon.set(MINOR, FAST);
    soon.pause(MINOR, 1);
    hold.table.set(FLOW, held());
    stamp();
    return hold.table.record(FLOW)!.nextNs;
  }

  test('a flow that leaves is given times while one of its packets waits', () => {
    heldAt(LENGTH * 20n); // 50 ms
    const second = stamp();
    expect(paces.counters(MINOR)).toMatchObject({ sent: 1n, backlogPackets: 1 });
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    paces.changeRate(MINOR, FAST);
    expect(stamp() - second).toBe(50_000_000n);
    expect([hold.count('leaving'), hold.table.record(FLOW)!.released]).toEqual([1, false]);
  });

  test('it goes straight once none waits, whatever the agent has seen', () => {
    present.set(MINOR, FAST);
    hold.table.set(FLOW, held());
    for (let i = 0; i < 3; i++) stamp();
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    while (hold.table.record(FLOW)!.nextNs > now());
    expect(present.counters(MINOR)).toMatchObject({ sent: 3n, backlogPackets: 0 });
    expect(stamp()).toBe(0n);
    expect(hold.table.record(FLOW)).toMatchObject({ entered: 3n, released: true });
    expect([hold.count('released'), hold.count('held')]).toEqual([1, 3]);
  });

  test('a hold that nobody renews delays nothing; what waits is not overtaken', () => {
    const nextNs = waiting();
    hold.table.set(FLOW, held({ untilNs: now() }));
    expect([stamp(), stamp()]).toEqual([nextNs, nextNs]);
    expect([hold.count('expired'), hold.count('behind')]).toEqual([2, 2]);
    expect(stamp(answer)).toBe(0n);
    hold.table.set(FLOW, held({ untilNs: now() }));
    while (hold.table.record(FLOW)!.nextNs > now());
    expect(stamp()).toBe(0n);
  });

  test.each<readonly [string, () => void]>([
    ['its hold is removed', () => hold.table.remove(FLOW)],
    ['its port holds nothing any more', () => hold.portTable.removePort(PORT)],
    ['it has no pace', () => hold.object.map(HOLD_MAPS.paces).update(holdSlot(MINOR), new Uint8Array(56))],
    ['the next agent begins', () => void new HoldPortTable(hold.object)],
    [
      'the next agent lets it go',
      () => {
        hold.table = new HoldTable(hold.object);
        for (const { flow } of hold.table.read()) hold.table.remove(flow);
        void new HoldPortTable(hold.object);
      },
    ],
  ])('while packets wait nothing overtakes them, although %s; then it goes straight', (_, end) => {
    const lastNs = waiting();
    end();
    expect([stamp(), stamp()]).toEqual([lastNs, lastNs]);
    // Answers have a queue of their own, unless READ responses wait.
    expect(stamp(answer)).toBe(0n);
    expect([stamp(response), stamp(answer)]).toEqual([lastNs, lastNs]);
    expect(hold.count('behind')).toBe(4);
    while (now() <= lastNs);
    expect([stamp(), stamp(answer), hold.count('behind')]).toEqual([0n, 0n, 4]);
  });

  test('what was let go is forgotten once nothing waits, and nothing is looked at any more', async () => {
    waiting();
    hold.table.remove(FLOW);
    expect([hold.table.size, hold.table.record(FLOW), hold.table.sweep()]).toEqual([0, undefined, true]);
    expect([...hold.object.map(HOLD_MAPS.holds).entries()]).toHaveLength(1);
    await new HoldClasses('enforce', { ports: undefined as never, table: hold.table }).departed();
    expect([...hold.object.map(HOLD_MAPS.holds).entries()]).toHaveLength(0);
    expect([hold.table.sweep(), hold.table.lastDepartureOf(FLOW)]).toEqual([false, 0n]);
    const cut = packet.subarray(0, 60);
    stamp(cut);
    expect(hold.count('unparseable')).toBe(0);
  });

  test('a flow that is held again meanwhile, in another class, goes on behind what waits, and loses nothing', () => {
    const classes = new HoldClasses('enforce', { ports: undefined as never, table: hold.table, paces: present });
    const slot = 5;
    waiting();
    stamp(response);
    const lastNs = hold.table.record(FLOW)!.nextNs;
    hold.table.remove(FLOW);
    // Its class is another flow's by then.
    const other = { ...FLOW, receiverQpn: FLOW.receiverQpn + 1 };
    hold.table.set(other, held());
    present.set(minorOf('enforce', slot), FAST);
    classes.setHold(slot, FLOW, { phase: 'held', untilNs: held().untilNs, drained: 0n });
    // Behind the READ response.
    expect([stamp(answer), stamp() > lastNs]).toEqual([lastNs, true]);
    expect([hold.count('full'), hold.table.record(FLOW)]).toMatchObject([0, { entered: 2n, stamped: 2n }]);
    hold.table.remove(other);
  });

  test('a READ response that waits once its flow was let go precedes its answers when the flow is held again', () => {
    const lastNs = waiting();
    hold.table.remove(FLOW);
    expect([stamp(answer), stamp(response)]).toEqual([0n, lastNs]);
    present.set(MINOR, FAST);
    present.follow(MINOR, lastNs);
    hold.table.set(FLOW, held());
    expect(stamp(answer)).toBe(lastNs);
  });

  test('a flow that leaves at once, held again meanwhile, goes straight only after what waited before', () => {
    const lastNs = waiting();
    hold.table.remove(FLOW);
    present.set(MINOR + 1, FAST);
    present.follow(MINOR + 1, lastNs);
    hold.table.set(FLOW, held({ minor: MINOR + 1, phase: 'leaving' }));
    expect([stamp(), hold.table.record(FLOW)!.released]).toEqual([lastNs, false]);
  });

  test('no packet follows one that departs too late for an fq', () => {
    heldAt();
    hold.table.set(FLOW, held({ untilNs: now() }));
    expect(stamp() - now()).toBeLessThanOrEqual(BigInt(HOLD_LONGEST_DEPARTURE_NS));
    hold.table.remove(FLOW);
    expect(stamp() - now()).toBeLessThanOrEqual(BigInt(HOLD_LONGEST_DEPARTURE_NS));
  });

  test('a class that another flow gets has nothing of the former one', () => {
    heldAt();
    expect(paces.counters(MINOR).sent).toBe(1n);
    hold.table.remove(FLOW);
    expect(paces.counters(MINOR)).toMatchObject({ sent: 0n, backlogPackets: 0 });
    const other = { ...FLOW, receiverQpn: FLOW.receiverQpn + 1 };
    present.set(MINOR, FAST);
    hold.table.set(other, held());
    const at = stamp(frame(data({ qpn: other.receiverQpn })));
    expect(at).toBeLessThanOrEqual(now());
    expect(at).toBeGreaterThan(0n);
    hold.table.remove(other);
  });
});

test('at a port with classes the same flow has a class and no time', () => {
  heldAt();
  hold.portTable.setPort(PORT, 0x6e70_0000);
  expect(stamp()).toBe(0n);
  expect(hold.classOf(packet)).toBe(0x6e70_0000 + MINOR);
  // Then the agent has to see it leave the class: departure times say nothing of that.
  hold.table.set(FLOW, held({ phase: 'leaving' }));
  expect(hold.classOf(packet)).toBe(0x6e70_0000 + MINOR);
});
