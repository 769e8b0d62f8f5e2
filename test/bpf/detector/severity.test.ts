// What Long-haul CNPs say, how often, and when they wait for another node's to work (LHCNP §5.5, §5.5.1, §5.7). RTTs
// are long and pass by themselves (detector-time.ts).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EgressInstruction, EgressPort } from '../../../src/kernel/dataplane/egress.ts';
import type { SentNotification } from '../../../src/model/notification.ts';
import { CongestedRouter } from '../support/congested-router.ts';
import { H1, H2, QPN, data, frame } from '../support/packets.ts';
import { passTime } from '../support/detector-time.ts';

/**
 * What really passes in a test is next to nothing of it. A flow that is silent for a minute is forgotten: no step may
 * be longer than that.
 */
const RTT = 50_000_000_000;
const INTERVAL = RTT / 10;
const KMIN = 50_000;
const KMAX = 100_000;

const EARLY: EgressInstruction = { fromBytes: null, level: 100, action: 'notify', parameter: 0 };
const INSTRUCTIONS: readonly EgressInstruction[] = [
  EARLY,
  { fromBytes: KMAX, level: 180, action: 'rate-reduce', parameter: 30 },
  { fromBytes: 1.25 * KMAX, level: 205, action: 'rate-reduce', parameter: 40 },
  { fromBytes: 1.5 * KMAX, level: 230, action: 'rate-reduce', parameter: 50 },
  { fromBytes: null, level: 245, action: 'rate-reduce', parameter: 75 },
  { fromBytes: null, level: 255, action: 'pause', parameter: 10_000 },
];

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
});
afterAll(() => r.close());
beforeEach(() => {
  r.policies(['::/0', ['long-haul-icmpv6']]);
  r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 100]);
  r.configure({});
  port();
  r.clear();
});

/** A fall by half is a reduction; every flow counts. */
const port = (more: Partial<EgressPort> = {}): void =>
  r.port({
    kMin: KMIN,
    kMax: KMAX,
    rttNs: RTT,
    intervalNs: INTERVAL,
    deferral256: 128,
    instructions: INSTRUCTIONS,
    ...more,
  });
const send = (packets = 1, flow = {}): void => void r.send(frame(data(flow)), { repeat: packets });
/** Notifications since this was asked last. */
const sent = (): SentNotification[] => r.records().splice(0);
/** One RTT in which the flow sends as many packets. The last of them, after its end, is what ends the window. */
function roundTrip(packets: number): void {
  passTime(r, RTT / 2, INTERVAL);
  send(packets);
  passTime(r, RTT / 2, INTERVAL);
}
const instructionOf = ({ level, action, parameter }: EgressInstruction): object => ({ level, action, parameter });

describe('the instruction', () => {
  test.each([
    [100_001, 1],
    [124_999, 1],
    [125_000, 2],
    [149_999, 2],
    [150_000, 3],
    [900_000, 3],
  ])('LHCNP-5.5-d: A2: at %i bytes is row %i of the table', async (depth, row) => {
    await r.fill(depth);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[row]!), reason: 'queue-depth' }]);
  });

  test('LHCNP-5.5.1-b: below K_max, where another condition triggers, is the first row', async () => {
    await r.fill(60_000);
    port({ vGrowthBytes: 0, intervalNs: RTT });
    send();
    passTime(r, RTT, RTT);
    await r.deepen(90_000);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(EARLY), reason: 'queue-growth' }]);
  });

  test('of a port with one row only is that row at any depth', async () => {
    await r.fill(900_000);
    port({ instructions: [EARLY] });
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(EARLY), reason: 'queue-depth' }]);
  });
});

describe('the least interval', () => {
  test('LHCNP-5.5-h: LHCNP-9-e: between two Long-haul CNPs for one flow is the RTT, whatever the interval of other formats', async () => {
    await r.fill(110_000);
    // A tenth of it is longer than a test may run: however slow the machine is, only passTime makes it pass.
    const rtt = 20 * RTT;
    port({ perFlowIntervalNs: 1, rttNs: rtt });
    send(1000);
    passTime(r, 0.9 * rtt, INTERVAL);
    send(1000);
    expect(sent().length).toBe(1);
    expect(Number(r.stats().suppressedPerFlow)).toBe(1999);
    passTime(r, 0.1 * rtt, INTERVAL);
    send(1000);
    expect(sent().length).toBe(1);
  });

  test('LHCNP-9-d: is the interval of the flow where that is longer', async () => {
    await r.fill(110_000);
    port({ perFlowIntervalNs: 2 * RTT });
    send();
    passTime(r, 1.5 * RTT, INTERVAL);
    send();
    expect(sent().length).toBe(1);
    passTime(r, 0.5 * RTT, INTERVAL);
    send();
    expect(sent().length).toBe(1);
  });

  test('FCNP-5-b: of a Fast CNP does not become a RTT, and a Long-haul CNP after it waits for one', async () => {
    await r.fill(110_000);
    port({ perFlowIntervalNs: RTT / 10 });
    r.policies(['::/0', ['fast-cnp']]);
    send();
    passTime(r, RTT / 10, INTERVAL);
    send();
    expect(sent().map((s) => s.format)).toEqual(['fast-cnp', 'fast-cnp']);
    r.policies(['::/0', ['long-haul-icmpv6']]);
    passTime(r, RTT / 2, INTERVAL);
    send();
    expect(sent()).toEqual([]);
    passTime(r, RTT / 2, INTERVAL);
    send();
    expect(sent().map((s) => s.format)).toEqual(['long-haul-icmpv6']);
  });
});

describe('deferral', () => {
  /** Two round trips of history in front of K_max: full rate, then `packets`; then the queue is above K_max. */
  async function afterRate(packets: number): Promise<void> {
    await r.fill(60_000);
    send();
    roundTrip(1000);
    send();
    roundTrip(packets);
    await r.deepen(130_000);
  }

  test('LHCNP-5.7-b: LHCNP-5.7-c: LHCNP-5.7-d: A9: a flow whose rate has just fallen is left alone for one RTT', async () => {
    await afterRate(100);
    send(500);
    passTime(r, 0.9 * RTT, INTERVAL);
    send(500);
    expect(sent()).toEqual([]);
    expect(Number(r.stats().deferred)).toBe(1000);
    expect(r.count('egress.suppressed.deferral')).toBe(1000);
    // It did not get worse: the row of the depth.
    passTime(r, 0.1 * RTT, INTERVAL);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[2]!), reason: 'queue-depth' }]);
  });

  test.each([[600], [1000], [50_000]])(
    'LHCNP-5.7-c: a rate of 1000 packets an RTT that becomes %i is no reduction: the flow is notified at once',
    async (packets) => {
      await afterRate(packets);
      send();
      expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[2]!), reason: 'queue-depth' }]);
      expect(r.stats().deferred).toBe(0n);
    },
  );

  test('LHCNP-5.7-a: the node that congests first has no history to wait for', async () => {
    await r.fill(130_000);
    send();
    expect(sent().length).toBe(1);
  });

  test('LHCNP-5.7-e: A9: when the queue is deeper after it, level and action are strictly stricter', async () => {
    await afterRate(100);
    send(500);
    expect(sent()).toEqual([]);
    passTime(r, 0.9 * RTT, INTERVAL);
    send(500);
    await r.deepen(131_000);
    passTime(r, 0.1 * RTT, INTERVAL);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[3]!), reason: 'escalation' }]);
    expect(r.count('egress.escalated')).toBe(1);
  });

  test('LHCNP-5.7-e: a rate that goes on falling does not put off a queue that grows', async () => {
    await afterRate(100);
    send();
    roundTrip(10);
    await r.deepen(160_000);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[4]!), reason: 'escalation' }]);
  });

  test('LHCNP-5.7-d: a rate that goes on falling while the queue does not grow is waited for again', async () => {
    await afterRate(200);
    send();
    roundTrip(50);
    send();
    expect(sent()).toEqual([]);
    roundTrip(500);
    send();
    expect(sent().length).toBe(1);
  });

  test('LHCNP-5.7-c: a fall by exactly the configured part is a reduction, one by less is not', async () => {
    // So few bytes a round trip that the program's rates are 2 and 1, whatever a test takes longer; a fall by half is
    // one.
    const bytes = (rate: number): void => {
      const half = { size: 4 * Math.round((((rate + 0.5) * RTT) / 2 ** 27 - 78) / 4) };
      passTime(r, RTT / 2, INTERVAL);
      send(1, half);
      passTime(r, RTT / 2, INTERVAL);
      send(1, half);
    };
    await r.fill(60_000);
    send();
    bytes(2);
    bytes(1);
    await r.deepen(130_000);
    send();
    expect({ sent: sent(), deferred: r.stats().deferred }).toEqual({ sent: [], deferred: 1n });
    r.clear();
    port({ deferral256: 129 });
    await r.fill(60_000);
    send();
    bytes(2);
    bytes(1);
    await r.deepen(130_000);
    send();
    expect({ sent: sent().length, deferred: r.stats().deferred }).toEqual({ sent: 1, deferred: 0n });
  });

  test('LHCNP-5.7-e: what was waited for and answered is over: later a queue between its two depths is answered by its depth', async () => {
    await afterRate(100);
    send(500);
    passTime(r, 0.9 * RTT, INTERVAL);
    send(500);
    await r.deepen(140_000);
    passTime(r, 0.1 * RTT, INTERVAL);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[3]!), reason: 'escalation' }]);
    roundTrip(2000);
    await r.fill(135_000);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[2]!), reason: 'queue-depth' }]);
  });

  test('is switched off by a share of 0, and is of Long-haul CNPs only', async () => {
    port({ deferral256: 0 });
    await afterRate(10);
    send();
    expect(sent().length).toBe(1);
    r.clear();
    port();
    r.policies(['::/0', ['fast-cnp']]);
    await afterRate(10);
    send();
    expect(sent().map((s) => s.format)).toEqual(['fast-cnp']);
  });
});

describe('escalation', () => {
  /** A round trip of a flow that does not slow down, after which the queue is that deep; its notifications then. */
  let packets = 1;
  const after = async (depth: number): Promise<SentNotification[]> => {
    roundTrip((packets *= 2));
    await r.deepen(depth);
    send();
    return sent();
  };
  beforeEach(() => {
    packets = 1;
  });

  test('LHCNP-5.7-e: goes on a row at a time while our own notifications do not help, and ends at the strictest', async () => {
    await r.fill(110_000);
    send();
    expect(sent()).toMatchObject([instructionOf(INSTRUCTIONS[1]!)]);
    expect(await after(111_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[2]!), reason: 'escalation' }]);
    expect(await after(112_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[3]!), reason: 'escalation' }]);
    expect(await after(113_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[4]!), reason: 'escalation' }]);
    expect(await after(114_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[5]!), reason: 'escalation' }]);
    expect(await after(115_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[5]!), reason: 'queue-depth' }]);
  });

  test('LHCNP-5.7-e: ends at the strictest row that there is, though a stricter one was sent before a reload took it', async () => {
    await r.fill(110_000);
    send();
    for (const depth of [111_000, 112_000, 113_000, 114_000]) await after(depth);
    port({ instructions: INSTRUCTIONS.slice(0, 5) });
    expect(await after(115_000)).toMatchObject([instructionOf(INSTRUCTIONS[4]!)]);
  });

  test('LHCNP-5.5-d: a queue that does not get deeper is answered by its depth', async () => {
    await r.fill(160_000);
    send();
    expect(sent()).toMatchObject([instructionOf(INSTRUCTIONS[3]!)]);
    expect(await after(160_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[3]!), reason: 'queue-depth' }]);
    await r.fill(110_000);
    expect(await after(110_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[1]!), reason: 'queue-depth' }]);
  });

  test('LHCNP-5.7-e: a queue at its limit, where it cannot get deeper, is answered more and more strictly, and then stays answered so', async () => {
    port({ levelBytes: [0, 1, 2, 3, 4, 5, 6, 7].map((n) => KMAX + n * 7_000) });
    await r.fill(155_000);
    send();
    expect(sent()).toMatchObject([instructionOf(INSTRUCTIONS[3]!)]);
    expect(await after(155_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[4]!), reason: 'escalation' }]);
    await r.fill(152_000);
    expect(await after(152_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[5]!), reason: 'escalation' }]);
    await r.fill(151_000);
    expect(await after(151_000)).toMatchObject([instructionOf(INSTRUCTIONS[5]!)]);
    await r.fill(140_000);
    expect(await after(140_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[2]!), reason: 'queue-depth' }]);
  });

  test('LHCNP-5.7-e: starts from the row of the depth where that is the stricter one', async () => {
    await r.fill(110_000);
    send();
    sent();
    expect(await after(200_000)).toMatchObject([{ ...instructionOf(INSTRUCTIONS[4]!), reason: 'escalation' }]);
  });

  test.each([
    [0.8, 'escalation', 2],
    [1.2, 'queue-depth', 1],
  ] as const)(
    'LHCNP-5.7-e: is forgotten after a round-trip time without congestion: after %d of one the reason is %s',
    async (trips, reason, row) => {
      r.configure({ flowAgeingNs: 100 * RTT });
      await r.fill(110_000);
      send();
      sent();
      passTime(r, trips * RTT, INTERVAL);
      await r.deepen(111_000);
      send();
      // Before a round-trip time nothing is sent about the flow anyway: then this is the packet that shows what is
      // remembered.
      passTime(r, RTT / 2, INTERVAL);
      await r.deepen(112_000);
      send();
      expect(sent().at(-1)).toMatchObject({ ...instructionOf(INSTRUCTIONS[row]!), reason });
    },
  );

  test('is forgotten when the queue was at or below K_min for an RTT', async () => {
    await r.fill(110_000);
    send();
    await after(111_000);
    passTime(r, 2 * RTT, INTERVAL);
    await r.deepen(112_000);
    send();
    expect(sent()).toMatchObject([{ ...instructionOf(INSTRUCTIONS[1]!), reason: 'queue-depth' }]);
  });

  test("is each flow's own", async () => {
    const other = 77;
    r.queuePairs(
      [{ sender: H1, receiver: H2, receiverQpn: QPN }, 100],
      [{ sender: H1, receiver: H2, receiverQpn: other }, 101],
    );
    await r.fill(110_000);
    send();
    await after(111_000);
    send(1, { qpn: other });
    expect(sent()).toMatchObject([
      { destinationQpn: other, sourceQpn: 101, ...instructionOf(INSTRUCTIONS[1]!), reason: 'queue-depth' },
    ]);
  });
});
