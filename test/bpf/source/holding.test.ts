// What becomes of notifications for hosts that cnpd acts for, when it can hold a flow and when it cannot: somebody
// always hears of them. The program that holds flows runs beside the source's, over the same table.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountBpffs, unmountBpffs } from '../../../src/kernel/bpf/bpffs.ts';
import { toHex } from '../../../src/packet/hex.ts';
import { buildCnp } from '../../../src/packet/roce/cnp.ts';
import { HOLD_EDT } from '../../../src/kernel/dataplane/holds.ts';
import { HoldPaces } from '../../../src/reconcile/hold-paces.ts';
import { HoldUnderTest, MINOR, PORT, held } from '../support/hold-under-test.ts';
import { data, frame } from '../support/packets.ts';
import { A, B, DATA_SPORT, DROP, NEXT } from '../support/proxy-under-test.ts';
import {
  RECEIVER_QPN,
  SENDER_QPN,
  SourceUnderTest,
  fastCnp,
  longHaulIcmpv6,
  longHaulRoce,
} from '../support/source-under-test.ts';

const FLOW = { sender: A, receiver: B, receiverQpn: RECEIVER_QPN };
const directory = mkdtempSync(join(tmpdir(), 't-holding-'));
const pins = join(directory, 'bpffs');
let hold: HoldUnderTest;
let source: SourceUnderTest;
beforeAll(() => {
  mountBpffs(pins);
  hold = new HoldUnderTest(pins);
  source = new SourceUnderTest(pins).teach();
});
afterAll(() => {
  source?.close();
  hold?.close();
  unmountBpffs(pins);
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  hold.clear();
  source.configure('enforce').teach();
});
afterEach(() => void source.records());

const cnp = (): Uint8Array => buildCnp({ source: B, destination: A, destQpn: SENDER_QPN, sourcePort: DATA_SPORT });
/** A packet of the flow leaves by the port. */
const leave = (): number => hold.classOf(frame(data({ source: A, destination: B, qpn: RECEIVER_QPN })));
/** Whether each way to notify the sender reaches the host, as what. */
const heard = (): (string | undefined)[] =>
  [fastCnp(), longHaulRoce(), longHaulIcmpv6(), cnp()].map((packet) => {
    const { verdict, packet: after } = source.send(packet);
    return verdict === NEXT ? toHex(after) : undefined;
  });
const CNP = (sourcePort = DATA_SPORT, hopLimit = 65): string =>
  toHex(buildCnp({ source: B, destination: A, destQpn: SENDER_QPN, sourcePort, hopLimit }));
const EVERYTHING = [CNP(), CNP(), CNP(0), toHex(cnp())];
const NOTHING = [undefined, undefined, undefined, undefined];

test('while there is room the host hears nothing: the agent is told, and obeys', () => {
  expect(heard()).toEqual(NOTHING);
  expect(source.records().map(({ action }) => action)).toEqual(Array.from({ length: 4 }, () => 'enforce'));
});

test('LHCNP-5.6-d, FCNP-4-n: of a flow that finds no room the host hears: its receiver, and of nodes a standard CNP', () => {
  source.holding({ room: false });
  expect(heard()).toEqual(EVERYTHING);
  expect(source.records().map(({ format, action }) => [format, action])).toEqual([
    ['fast-cnp', 'convert'],
    ['long-haul-roce', 'convert'],
    ['long-haul-icmpv6', 'convert'],
    ['standard-cnp', 'pass'],
  ]);
  source.holding();
  expect(heard()).toEqual(NOTHING);
});

test('each is counted: why the host hears, and what it hears', () => {
  source.holding({ room: false });
  source.send(cnp()); // the counters that both objects share were cleared
  expect(source.send(fastCnp()).counted).toEqual({
    'source.received': 1,
    'source.not-held': 1,
    'source.converted': 1,
  });
  expect(source.send(cnp()).counted).toEqual({ 'source.not-held': 1 });
});

test('what is converted has the limits of convert: one CNP in the interval of the flow, and none for a Resume', () => {
  source.configure('enforce', { perFlowIntervalNs: 60e9 }).holding({ room: false });
  expect([fastCnp(), longHaulRoce()].map((packet) => source.send(packet).verdict)).toEqual([NEXT, DROP]);
  source.configure('enforce').holding({ room: false });
  expect(source.send(longHaulRoce({ action: 'resume', parameter: 50 }))).toMatchObject({
    verdict: DROP,
    counted: { 'source.resume': 1 },
  });
});

test('a flow that is held stays so while others find no room, and so does one that leaves', () => {
  hold.table.set(FLOW, held());
  source.holding({ room: false });
  expect(leave()).not.toBe(0);
  expect(heard()).toEqual(NOTHING);
  hold.table.set(FLOW, held({ phase: 'leaving' }));
  expect(heard()).toEqual(NOTHING);
  hold.table.remove(FLOW);
  expect(heard()).toEqual(EVERYTHING);
});

test('a flow whose packets leave by a port without classes is held in name only: the host hears, until they enter a class', () => {
  hold.table.set(FLOW, held());
  hold.portTable.removePort(PORT);
  expect(leave()).toBe(0);
  expect(heard()).toEqual(EVERYTHING);
  hold.clear();
  hold.table.set(FLOW, held());
  leave();
  expect(heard()).toEqual(NOTHING);
});

describe('a flow that is held by departure times', () => {
  const HOUR = 3_600_000_000_000n;
  const now = (): bigint => process.hrtime.bigint();
  let paces: HoldPaces;
  const packet = frame(data({ source: A, destination: B, qpn: RECEIVER_QPN }));
  const LENGTH = BigInt(packet.length);
  const depart = (): bigint => hold.departureOf(packet);
  /** Between two packets, at a rate that the flow has now. */
  const gap = (): bigint => {
    const first = depart();
    return depart() - first;
  };
  beforeEach(() => {
    // Of an hour later: what it pauses does not depart while a test looks.
    paces = new HoldPaces(hold.object, { table: hold.table, monotonicNs: () => now() + HOUR });
    hold.portTable.setPort(PORT, HOLD_EDT);
    // A packet in a millisecond, and no less than a hundredth of that.
    paces.set(MINOR, { rate: LENGTH * 1000n, limit: 1 << 20, least: LENGTH * 10n });
    hold.table.set(FLOW, held());
    depart();
    source.send(cnp()); // the counters that both objects share were cleared
  });
  const reduce = (parameter: number): Uint8Array => longHaulIcmpv6({ action: 'rate-reduce', parameter });

  test('is paused with its next packet, before the agent has read the instruction', () => {
    const before = now();
    const { counted } = source.send(longHaulRoce({ action: 'pause', parameter: 65_535 }));
    expect(depart() - before).toBeGreaterThanOrEqual(65_535_000n);
    expect(counted).toMatchObject({ 'source.enforced': 1, 'source.obeyed': 1 });
    source.send(longHaulRoce({ action: 'pause', parameter: 1 })); // ends earlier
    expect(depart() - before).toBeGreaterThanOrEqual(65_535_000n);
  });

  test('is not paused any more once the agent has taken the instruction for doubled, for example', () => {
    source.send(longHaulRoce({ action: 'pause', parameter: 65_535 }));
    paces.confirm(MINOR);
    expect(depart() - now()).toBeLessThan(60_000_000n);
  });

  test('loses nothing once a doubled pause is over, although what came meanwhile waits for its end', () => {
    const soon = new HoldPaces(hold.object, { table: hold.table, monotonicNs: now });
    soon.set(MINOR, { rate: LENGTH * 1_000_000n, limit: packet.length * 2, least: 1n });
    soon.pause(MINOR, 20_000);
    source.send(longHaulRoce({ action: 'pause', parameter: 65_535 }));
    const later = depart();
    soon.confirm(MINOR);
    expect(depart()).toBeGreaterThan(later);
  });

  test('loses nothing when the agent sets a rate that is higher than what the program has made of it', () => {
    paces.set(MINOR, { rate: LENGTH * 1000n, limit: packet.length * 10, least: 1n });
    paces.pause(MINOR, 1);
    source.send(reduce(90));
    // 10 ms each, of which ten wait; two of them at half of the former rate.
    for (let i = 0; i < 10; i++) depart();
    paces.changeRate(MINOR, { rate: LENGTH * 500n });
    expect(Array.from({ length: 10 }, depart).filter((at) => at === 0n)).toEqual([]);
  });

  test('that is paused behind what waits for longer loses nothing', () => {
    paces.set(MINOR, { rate: LENGTH * 1_000_000n, limit: packet.length * 2, least: 1n });
    paces.pause(MINOR, 65_535);
    depart();
    paces.resume(MINOR);
    source.send(longHaulRoce({ action: 'pause', parameter: 100 }));
    expect(depart()).toBeGreaterThan(now() + HOUR);
  });

  test('and was let go while packets of it wait is not held: the host hears', () => {
    paces.pause(MINOR, 65_535);
    depart();
    source.holding({ room: false });
    expect(heard()).toEqual(NOTHING);
    hold.table.remove(FLOW);
    expect(heard()).toEqual(EVERYTHING);
  });

  test('is slower with its next packets, by as much of what the agent has set, however often it is said', () => {
    paces.pause(MINOR, 1);
    source.send(reduce(50));
    expect(gap()).toBe(2_000_000n);
    source.send(reduce(50));
    source.send(reduce(20));
    expect(gap()).toBe(2_000_000n);
    source.send(reduce(75));
    expect(gap()).toBe(4_000_000n);
    paces.changeRate(MINOR, { rate: LENGTH * 250n });
    source.send(reduce(50));
    expect(gap()).toBe(8_000_000n);
    paces.confirm(MINOR);
    depart();
    expect(gap()).toBe(4_000_000n);
  });

  test('may have as many bytes waiting as before, up to a hundred milliseconds', () => {
    const sent = (): number => Array.from({ length: 60 }, depart).filter((at) => at > 0n).length;
    paces.set(MINOR, { rate: LENGTH * 1000n, limit: packet.length * 20, least: 1n });
    paces.pause(MINOR, 1);
    source.send(reduce(50));
    expect(sent()).toBe(21);
    paces.set(MINOR, { rate: LENGTH * 1000n, limit: packet.length * 20, least: 1n });
    hold.table.remove(FLOW);
    hold.table.set(FLOW, held());
    depart();
    paces.pause(MINOR, 1);
    source.send(reduce(90));
    // 10 ms each.
    expect(sent()).toBe(11);
  });

  test('is not made slower than the least rate, nor stopped, nor sped up by the program', () => {
    paces.set(MINOR, { rate: LENGTH * 1000n, limit: 1 << 20, least: LENGTH * 500n });
    paces.pause(MINOR, 1);
    source.send(reduce(99));
    expect(gap()).toBe(2_000_000n);
    const { counted } = source.send(reduce(100));
    expect(counted).not.toHaveProperty('source.obeyed');
    source.send(longHaulIcmpv6({ action: 'resume', parameter: 100 }));
    expect(gap()).toBe(2_000_000n);
  });

  test('that leaves, that nobody renews or that nobody holds, is the agent’s affair', () => {
    const obeyed = (): boolean => 'source.obeyed' in source.send(reduce(50)).counted;
    hold.table.set(FLOW, held({ phase: 'leaving' }));
    expect(obeyed()).toBe(false);
    hold.table.set(FLOW, held({ untilNs: process.hrtime.bigint() }));
    expect(obeyed()).toBe(false);
    hold.table.remove(FLOW);
    expect(obeyed()).toBe(false);
  });
});

test('of a flow that has a class, only the agent obeys', () => {
  hold.table.set(FLOW, held());
  leave();
  expect(source.send(longHaulRoce({ action: 'pause', parameter: 1000 })).counted).not.toHaveProperty('source.obeyed');
});

test('once the agent is dead, or can hold nothing, the host hears, though there are holds and was room', () => {
  hold.table.set(FLOW, held());
  source.holding({ alive: false });
  expect(heard()).toEqual(EVERYTHING);
  hold.table.set(FLOW, held({ untilNs: process.hrtime.bigint() }));
  source.holding({ room: false });
  expect(heard()).toEqual(EVERYTHING);
});
