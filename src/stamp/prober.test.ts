import { describe, expect, test } from 'vitest';
import { type IpAddress, address } from '../model/address.ts';
import { manualClock } from '../model/clock.ts';
import { ESTIMATE_HOLD_MS, LOST_MS, Prober } from './prober.ts';
import { MAX_TARGETS } from './targets.ts';

const FAR = address('2001:db8:ffff::1');
const NEAR = address('192.0.2.1');

/** A prober, its clock and its counters, and a network whose reflectors answer after an RTT in milliseconds. */
function bench(intervalMs = 1000) {
  const clock = manualClock(5_000_000);
  const counters: Record<string, number> = {};
  const prober = new Prober(
    { intervalMs },
    { clock, count: (name, by = 1) => void (counters[name] = (counters[name] ?? 0) + by) },
  );
  const nowNs = (): bigint => BigInt(Math.round(clock.now() * 1e6));
  const send = (target: IpAddress, queueNs: bigint | null = 0n) => {
    const sentNs = nowNs();
    const sequence = prober.sent(target, sentNs + 77n, sentNs, queueNs)!;
    return { senderSequence: sequence, senderTimestamp: sentNs + 77n, sentNs };
  };
  /** The reflector kept it for 3 ms, on a clock of its own. */
  const answer = (target: IpAddress, probe: ReturnType<typeof send>, rttMs: number) =>
    prober.answered(target, { ...probe, heldNs: 3_000_000n }, probe.sentNs + BigInt(Math.round((rttMs + 3) * 1e6)));
  const run = (ms: number, rttOf: (target: IpAddress) => number | undefined, port: string | null = 'eth2'): number => {
    let probes = 0;
    const end = clock.now() + ms;
    while (clock.now() < end) {
      for (const target of prober.due()) {
        prober.routed(target, port);
        const probe = send(target);
        probes++;
        const rtt = rttOf(target);
        if (rtt !== undefined) answer(target, probe, rtt);
      }
      clock.advance(Math.max(1, Math.min(prober.nextDueIn() ?? ms, end - clock.now())));
    }
    return probes;
  };
  return { clock, counters, prober, send, answer, run };
}

describe('STAMP Session-Sender (RFC 8762 §4.2)', () => {
  test('LHCNP-5.3.1-e: RTT_est is the round-trip time without the time in the reflector', () => {
    const { prober, run } = bench();
    prober.setTargets([FAR], []);
    expect(run(5000, () => 20)).toBe(5);
    expect(prober.evaluate()).toBe(true);
    expect([...prober.rttMs]).toEqual([['eth2', 20]]);
    expect(prober.evaluate()).toBe(false);
  });

  test("LHCNP-5.3.2-h: the port's own queue does not raise RTT_est, which would raise the threshold of that queue", () => {
    const { prober, run, send, answer, clock, counters } = bench();
    prober.setTargets([FAR], []);
    run(5000, () => 20);
    for (let i = 0; i < 600; i++) {
      clock.advance(1000);
      answer(FAR, send(FAR, 380_000_000n), 400);
    }
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth2', 20]]);
    expect(counters['stamp.prober.own-queue']).toBe(600);
  });

  test('LHCNP-5.3.2-h: a first estimate is taken through a queue too, without the time of the queue', () => {
    const { prober, send, answer, clock } = bench();
    prober.setTargets([FAR], []);
    prober.routed(FAR, 'eth2');
    for (let i = 0; i < 3; i++) {
      clock.advance(1000);
      answer(FAR, send(FAR, 380_000_000n), 400);
    }
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth2', 20]]);
  });

  test('LHCNP-5.3.2-h: a queue of unknown delay gives no first estimate: a restart during congestion would raise K_max beyond the queue', () => {
    const { prober, send, answer, clock, counters } = bench();
    prober.setTargets([FAR], []);
    prober.routed(FAR, 'eth2');
    for (const queueNs of [null, null, null, 401_000_000n]) {
      clock.advance(1000);
      answer(FAR, send(FAR, queueNs), 400);
    }
    prober.evaluate();
    expect(prober.rttMs.size).toBe(0);
    expect(counters['stamp.prober.own-queue']).toBe(4);
  });

  test('LHCNP-5.3.2-h: an estimate that is too long is corrected through a shorter queue of any delay', () => {
    const { prober, send, answer, clock } = bench();
    prober.setTargets([FAR], []);
    prober.routed(FAR, 'eth2');
    for (let i = 0; i < 40; i++) {
      clock.advance(1000);
      answer(FAR, send(FAR, i < 3 ? 0n : null), i < 3 ? 400 : 25);
    }
    prober.evaluate();
    expect(prober.rttMs.get('eth2')).toBeLessThan(30);
  });

  test('LHCNP-5.3.1-d: RTT_est of a port is the smallest RTT of the targets behind it', () => {
    const { prober, run } = bench();
    prober.setTargets([FAR, NEAR], []);
    run(10_000, (target) => (target === NEAR ? 2 : 20));
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth2', 2]]);
    prober.setTargets([FAR], []);
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth2', 20]]);
  });

  test('sequence numbers begin at 0 and increase by one, for each target', () => {
    const { prober, send } = bench();
    prober.setTargets([FAR, NEAR], []);
    expect([send(FAR), send(FAR), send(NEAR), send(FAR)].map((p) => p.senderSequence)).toEqual([0, 1, 0, 2]);
  });

  test('answers to no own probe are counted and not measured', () => {
    const { prober, send, answer, counters } = bench();
    prober.setTargets([FAR], []);
    const probe = send(FAR);
    answer(NEAR, probe, 20);
    answer(FAR, { ...probe, senderSequence: 1 }, 20);
    answer(FAR, { ...probe, senderTimestamp: probe.senderTimestamp + 1n }, 20);
    answer(FAR, probe, 20);
    answer(FAR, probe, 20);
    expect(counters).toMatchObject({
      'stamp.prober.unknown-source': 1,
      'stamp.prober.unexpected': 3,
      'stamp.prober.received': 1,
    });
    expect(prober.state(String)[0]).toMatchObject({ sent: 1, received: 1, minRttMs: 20 });
  });

  test('impossible times are counted and not measured', () => {
    const { prober, send, counters } = bench();
    prober.setTargets([FAR], []);
    const times: [bigint, bigint][] = [
      [-1n, 1_000_000n],
      [2_000_000n, 1_000_000n],
      [0n, 20_000_000_000n],
      [0n, 0n],
    ];
    for (const [heldNs, afterNs] of times) {
      const probe = send(FAR);
      prober.answered(FAR, { ...probe, heldNs }, probe.sentNs + afterNs);
    }
    expect(counters['stamp.prober.bad-times']).toBe(4);
    expect(prober.state(String)[0]!.minRttMs).toBeNull();
  });

  test('a silent target is probed ever less often, and at full rate again once it answers', () => {
    const { prober, run } = bench();
    prober.setTargets([FAR], []);
    expect(run(600_000, () => undefined)).toBeLessThan(20);
    expect(run(64_000, () => 20)).toBeGreaterThan(0);
    expect(run(60_000, () => 20)).toBe(60);
  });

  test('unanswered probes are lost after a while', () => {
    const { prober, run, counters, send, answer, clock } = bench();
    prober.setTargets([FAR], []);
    const late = send(FAR);
    clock.advance(LOST_MS + 1);
    run(1, () => undefined);
    answer(FAR, late, 20);
    expect(counters).toMatchObject({ 'stamp.prober.lost': 1, 'stamp.prober.unexpected': 1 });
  });

  test('of thousands of learned routers a limited number is probed at a time, and the few that answer are found and kept', () => {
    const { prober, run } = bench();
    const learned = Array.from({ length: 1000 }, (_, i) => address(`2001:db8:ffff::1:${i.toString(16)}`));
    prober.setTargets([], learned);
    const probes = run(900_000, (target) => (target === learned[777] || target === learned[3] ? 10 : undefined));
    expect(prober.state(String)).toHaveLength(MAX_TARGETS);
    const answering = prober.state(String).filter((t) => t.received > 0);
    expect(answering.map((t) => t.target).sort()).toEqual(['2001:db8:ffff::1:3', '2001:db8:ffff::1:309']);
    expect(probes).toBeLessThan(900 * MAX_TARGETS);
  });

  test('a new path to a target begins a new estimate; a missing route does not', () => {
    const { prober, run } = bench();
    prober.setTargets([FAR], []);
    run(20_000, () => 20);
    run(4000, () => 50, 'eth3');
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth3', 50]]);
    prober.routed(FAR, null);
    prober.evaluate();
    expect(prober.rttMs.size).toBe(0);
    prober.routed(FAR, 'eth3');
    prober.evaluate();
    expect([...prober.rttMs]).toEqual([['eth3', 50]]);
  });

  test("an estimate survives its reflector's restart, not its removal", () => {
    const { prober, run, clock } = bench();
    prober.setTargets([FAR], []);
    run(5000, () => 20);
    prober.evaluate();
    run(ESTIMATE_HOLD_MS - 5000, () => undefined);
    expect(prober.evaluate()).toBe(false);
    clock.advance(10_000);
    expect(prober.evaluate()).toBe(true);
    expect(prober.rttMs.size).toBe(0);
  });

  test('first probes are spread over the interval', () => {
    const { prober, clock } = bench(1000);
    prober.setTargets(
      [],
      Array.from({ length: 10 }, (_, i) => address(`2001:db8::${i + 1}`)),
    );
    expect(prober.due()).toHaveLength(1);
    clock.advance(500);
    expect(prober.due()).toHaveLength(5);
    clock.advance(400);
    expect(prober.due()).toHaveLength(4);
  });

  test('a shorter interval is in force from the next probe on', () => {
    const { prober, run } = bench(100_000);
    prober.setTargets([FAR], []);
    run(1, () => 20);
    prober.configure({ intervalMs: 100 });
    expect(run(1000, () => 20)).toBeGreaterThanOrEqual(9);
  });
});
