import { describe, expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { sentNotification } from './sent-notification.fixture.ts';
import { type ClaimResume, MOST_WAITING, type ResumePort, ResumeMachine, WAIT_MS } from './resume.ts';

/** 100 Gb/s, 10 ms: K_max 125 MB, K_min 62.5 MB (A1). */
const PORT: ResumePort = {
  ifindex: 3,
  kMin: 62_500_000,
  kMax: 125_000_000,
  rttNs: 10_000_000,
  perFlowIntervalNs: 50_000_000,
};
const HIGH = 130_000_000;
const LOW = 30_000_000;

function bench(ports: readonly ResumePort[] = [PORT], claim: ClaimResume = () => 'granted') {
  const counters: Record<string, number> = {};
  const machine = new ResumeMachine({
    count: (name, by = 1) => void (counters[name] = (counters[name] ?? 0) + by),
    claim,
  });
  machine.configure(ports);
  /** Samples as often as the machine wants; returns the times at which Resumes were ordered. */
  const run = (from: number, to: number, depthAt: (now: number) => number): { at: number; orders: number }[] => {
    const ordered: { at: number; orders: number }[] = [];
    for (let now = from; now <= to;) {
      const sampling = machine.nextSampling(now);
      if (!sampling) break;
      for (const ifindex of sampling.ifindexes) {
        const orders = machine.sample(ifindex, depthAt(now), now);
        if (orders.length > 0) ordered.push({ at: now, orders: orders.length });
      }
      now += sampling.inMs;
    }
    return ordered;
  };
  return { machine, counters, run };
}

describe('Resume', () => {
  test('A3: comes after the queue was below K_min for more than 10 ms, once', () => {
    const { machine, run } = bench();
    machine.notified(sentNotification(), 0);
    const resumed = run(0, 1000, (now) => (now < 100 ? HIGH : LOW));
    expect(resumed).toHaveLength(1);
    expect(resumed[0]!.at).toBeGreaterThan(110);
    expect(resumed[0]!.at).toBeLessThan(120);
    expect(machine.nextSampling(1000)).toBeUndefined();
  });

  test('LHCNP-5.5.1-i: the time below K_min must be uninterrupted: a sample above it restarts the time', () => {
    const { machine, run } = bench();
    machine.notified(sentNotification(), 0);
    expect(run(0, 500, (now) => (now % 10 < 2 ? HIGH : LOW))).toEqual([]);
    expect(run(500, 700, () => LOW)).toHaveLength(1);
  });

  test('LHCNP-5.5.1-i: K_min itself is not below K_min', () => {
    const { machine, run } = bench();
    machine.notified(sentNotification(), 0);
    expect(run(0, 500, () => PORT.kMin!)).toEqual([]);
    expect(run(500, 1000, () => PORT.kMin! - 1)).toHaveLength(1);
  });

  test('a notification meanwhile, of any format, shows that the port is still congested', () => {
    const { machine } = bench();
    machine.notified(sentNotification(), 0);
    machine.sample(3, LOW, 10);
    machine.sample(3, LOW, 15);
    machine.notified(sentNotification({ format: 'proxy', action: null }), 18);
    expect(machine.sample(3, LOW, 21)).toEqual([]);
    expect(machine.sample(3, LOW, 26)).toEqual([]);
    expect(machine.sample(3, LOW, 32)).toHaveLength(1);
  });

  test('a gap between samples is no evidence that the queue was low', () => {
    const { machine } = bench();
    machine.notified(sentNotification(), 0);
    expect(machine.sample(3, LOW, 10)).toEqual([]);
    expect(machine.sample(3, LOW, 5000)).toEqual([]);
    expect(machine.sample(3, LOW, 5011)).toHaveLength(1);
  });

  test('a machine that can read its queues only every 100 ms still sends a Resume', () => {
    const { machine } = bench();
    machine.notified(sentNotification(), 0);
    const orders = [0, 100, 200, 300].map((now) => machine.sample(3, LOW, now).length);
    expect(orders).toEqual([0, 0, 1, 0]);
  });

  test('only senders instructed to pause or to slow down wait; others have nothing to resume', () => {
    const { machine } = bench();
    for (const more of [
      { action: 'notify', parameter: 0 },
      { format: 'fast-cnp', action: null },
      { format: 'proxy', action: null },
      { action: 'resume' },
    ] as const) {
      machine.notified(sentNotification(more), 0);
    }
    expect(machine.nextSampling(0)).toBeUndefined();
    machine.notified(sentNotification({ action: 'pause', parameter: 10_000 }), 0);
    expect(machine.nextSampling(0)).toEqual({ ifindexes: [3], inMs: 5 });
  });

  test('a flow that was notified several times is resumed once, with the latest Queue Pair', () => {
    const { machine } = bench();
    const endCon = address('2001:db8:c::1');
    machine.notified(sentNotification({ endCon, sourceQpn: 7 }), 0);
    machine.notified(sentNotification({ endCon }), 20);
    machine.sample(3, LOW, 30);
    expect(machine.sample(3, LOW, 41)).toEqual([{ flow: sentNotification({ endCon }), queueBytes: LOW }]);
  });

  test('flows that differ in their tenant or in their datagrams\u2019 source are each resumed', () => {
    const { machine } = bench();
    const two = [
      { endCon: address('2001:db8:c::1') },
      { endCon: address('2001:db8:c::2') },
      { datagram: true, sourceQpn: 7 },
      { datagram: true, sourceQpn: 8 },
    ];
    for (const more of two) machine.notified(sentNotification(more), 0);
    machine.sample(3, LOW, 10);
    expect(machine.sample(3, LOW, 21).map(({ flow }) => flow)).toEqual(two.map(sentNotification));
  });

  test('LHCNP-9-f, LHCNP-5.5-h: a flow without a token waits on and blocks no other; a port without a token blocks all its flows', () => {
    let tokens = 10;
    const early = new Set([3]);
    const claim: ClaimResume = ({ destinationQpn }) =>
      early.has(destinationQpn) ? 'flow-waits' : tokens-- > 0 ? 'granted' : 'port-waits';
    const { machine, counters, run } = bench([PORT], claim);
    for (let i = 0; i < 50; i++) machine.notified(sentNotification({ destinationQpn: i }), 0);
    expect(run(0, 100, () => LOW)).toMatchObject([{ orders: 10 }]);
    expect(machine.waiting).toBe(40);
    expect(counters['congestion.resume.rate-limited']!).toBeGreaterThan(1);
    tokens = 1000;
    early.clear();
    expect(run(100, 200, () => LOW)).toMatchObject([{ orders: 40 }]);
    expect(machine.waiting).toBe(0);
  });

  test('ports are independent', () => {
    const { machine } = bench([PORT, { ...PORT, ifindex: 4 }]);
    machine.notified(sentNotification(), 0);
    machine.notified(sentNotification({ ifindex: 4, destinationQpn: 9 }), 0);
    expect(machine.nextSampling(0)!.ifindexes).toEqual([3, 4]);
    for (const now of [5, 10, 16]) {
      expect(machine.sample(3, HIGH, now)).toEqual([]);
      expect(machine.sample(4, LOW, now)).toHaveLength(now === 16 ? 1 : 0);
    }
    expect(machine.nextSampling(16)!.ifindexes).toEqual([3]);
  });

  test('without K_min half of K_max is used, without both the queue must be empty', () => {
    const { machine, run } = bench([{ ...PORT, kMin: null }]);
    machine.notified(sentNotification(), 0);
    expect(run(0, 100, () => 62_500_000)).toEqual([]);
    machine.configure([{ ...PORT, kMin: null, kMax: null }]);
    expect(run(100, 200, () => 1)).toEqual([]);
    expect(run(200, 300, () => 0)).toHaveLength(1);
  });

  test('without RTT_est the least interval of a flow is used', () => {
    const { machine, run } = bench([{ ...PORT, rttNs: null }]);
    machine.notified(sentNotification(), 0);
    expect(run(0, 500, () => LOW)[0]!.at).toBeGreaterThan(50);
  });

  test('an RTT far below what can be sampled still ends in a Resume', () => {
    const { machine, run } = bench([{ ...PORT, rttNs: 50_000 }]);
    machine.notified(sentNotification(), 0);
    expect(run(0, 100, () => LOW)).toHaveLength(1);
  });

  test('a sender that has waited too long has recovered by itself (LHCNP-5.6-g)', () => {
    const { machine, run, counters } = bench();
    machine.notified(sentNotification(), 0);
    run(0, WAIT_MS + 1000, () => HIGH);
    expect(machine.nextSampling(WAIT_MS + 1000)).toBeUndefined();
    expect(counters).toEqual({ 'congestion.resume.expired': 1 });
  });

  test('the table is bounded: the sender notified longest ago is evicted', () => {
    const { machine, counters } = bench();
    for (let i = 0; i <= MOST_WAITING; i++) machine.notified(sentNotification({ destinationQpn: i }), i / 1000);
    expect(machine.waiting).toBe(MOST_WAITING);
    expect(counters).toEqual({ 'congestion.resume.table-full': 1 });
  });

  test('senders at a port that is no longer watched are forgotten; notifications of unwatched ports are ignored', () => {
    const { machine, counters } = bench();
    machine.notified(sentNotification(), 0);
    machine.configure([]);
    expect({ waiting: machine.waiting, counters }).toEqual({
      waiting: 0,
      counters: { 'congestion.resume.port-gone': 1 },
    });
    machine.notified(sentNotification(), 2);
    expect(machine.waiting).toBe(0);
    expect(machine.sample(3, LOW, 3)).toEqual([]);
  });
});
