// The three conditions of LHCNP §5.4 on a real queue, what is measured for them (LHCNP §5.3.1), and whose packets count
// (LHCNP §5.5).
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EGRESS_MAPS, EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { LITTLE_ENDIAN, u32Key, viewOf } from '../../../src/kernel/dataplane/layout.ts';
import { ipv6, udp } from '../../../src/packet/ip/packets.fixture.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { LONG_HAUL, configureFormats } from '../support/notifier-plan.ts';
import { H1, H2, QPN, data, ecnOf, frame } from '../support/packets.ts';
import { passTime } from '../support/detector-time.ts';
import { atLeast, is, moreThan, until } from '../../support/until.ts';

/** Of measurement: so long that no machine is too slow for it. */
const INTERVAL = 10_000_000_000;
/** Of struct egress_measure. */
const MEASURE_GROWTH = 28;

let r: CongestedRouter;
beforeAll(async () => {
  r = await CongestedRouter.create();
});
afterAll(() => r.close());
beforeEach(() => {
  r.senders(['::/0', PROXY6]);
  r.policies(['::/0', ['proxy']]);
  r.configure({});
  r.clear();
});

function send(qpn: number, packets: number, ecn = 2): void {
  if (packets > 0) r.send(frame(data({ qpn, ecn })), { repeat: packets });
}

/** Traffic that is not RoCEv2, as if the port sent it. */
const sendOther = (packets = 1): void =>
  void r.send(frame(ipv6([H1, H2], 17, udp(9, 9, new Uint8Array(1000)))), { repeat: packets });

/** Changes what the program remembers of the port. */
function changeMeasure(edit: (view: DataView) => void): void {
  const [map, key] = [r.egress.map(EGRESS_MAPS.measures), u32Key(r.ports.slot(r.portIfindex)!)];
  const value = map.lookup(key)!;
  edit(viewOf(value));
  map.update(key, value);
}

const reasons = (): string[] => r.records().map((sent) => sent.reason);

describe('the ECN marking rate', () => {
  /** Sends what one interval consists of, and ends it with one more packet, which is not ECT. */
  const interval = (marked: number, notEct: number): void => {
    send(10, marked);
    send(11, notEct, 0);
    passTime(r, INTERVAL, INTERVAL);
    send(11, 1, 0);
  };

  test('LHCNP-5.3.1-b: is the share of packets that left with CE above K_min, over the interval', async () => {
    await r.fill(60_000);
    r.port({ kMin: 50_000, intervalNs: INTERVAL });
    send(11, 1, 0);
    interval(30, 69);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(300_000);
    interval(99, 0);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(990_000);
    interval(0, 50);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(0);
  });

  test('LHCNP-5.3.1-b: counts packets that came with CE, and none below K_min', async () => {
    await r.fill(60_000);
    r.port({ kMin: 50_000, intervalNs: INTERVAL });
    send(11, 1, 0);
    send(10, 40, 3);
    interval(10, 49);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(500_000);
    r.port({ kMin: 60_000, intervalNs: INTERVAL });
    send(10, 99, 3);
    passTime(r, INTERVAL, INTERVAL);
    send(11, 1, 0);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(0);
  });

  test('LHCNP-5.3.1-b: goes on being measured while RoCEv2 packets are rare: other traffic ends intervals too', async () => {
    await r.fill(60_000);
    r.port({ kMin: 50_000, vEcnPpm: 1, intervalNs: INTERVAL });
    sendOther();
    send(10, 99);
    send(11, 1, 0);
    passTime(r, INTERVAL, INTERVAL);
    sendOther(20);
    // A share of the RoCEv2 data packets, whatever else was sent.
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(990_000);
    passTime(r, INTERVAL, INTERVAL);
    sendOther();
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(0);
    send(11, 1, 0);
    expect(r.stats()).toMatchObject({ triggers: 0n, packets: 101n });
  });

  test('LHCNP-5.4-d: above V_ecn triggers, at V_ecn it does not, at any depth', async () => {
    await r.fill(60_000);
    for (const [vEcnPpm, triggers] of [
      [300_000, 0],
      [299_999, 1],
    ] as const) {
      r.clear();
      r.port({ kMin: 50_000, vEcnPpm, intervalNs: INTERVAL });
      send(11, 1, 0);
      interval(30, 69);
      expect(Number(r.stats().triggers)).toBe(triggers);
      expect(r.count('egress.trigger.ecn-marking-rate')).toBe(triggers);
      expect(reasons()).toEqual(Array.from({ length: triggers }, () => 'ecn-marking-rate'));
    }
  });

  test('LHCNP-5.4-d: is no trigger unless it is declared', async () => {
    await r.fill(60_000);
    r.port({ kMin: 50_000, intervalNs: INTERVAL });
    send(10, 100);
    interval(100, 0);
    expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBeGreaterThan(900_000);
    expect(r.stats().triggers).toBe(0n);
  });

  test.each([
    [1, 1],
    [10, 0],
  ])(
    'LHCNP-5.4-d: of an interval whose end is seen %i intervals after its start triggers %i times: what is older is forgotten',
    async (intervals, triggers) => {
      await r.fill(60_000);
      r.port({ kMin: 50_000, vEcnPpm: 500_000, intervalNs: INTERVAL });
      send(11, 1, 0);
      send(10, 100);
      passTime(r, intervals * INTERVAL, INTERVAL);
      send(11, 1, 0);
      expect(r.ports.measure(r.portIfindex)!.ecnMarkingPpm).toBe(triggers ? 990_099 : 0);
      expect(Number(r.stats().triggers)).toBe(triggers);
    },
  );
});

describe('how old a marking rate may be', () => {
  /** An interval of so many nanoseconds in which every packet was marked, ended by one that was not. */
  const after = (ns: number, intervalNs: number): number => {
    r.clear();
    r.port({ kMin: 50_000, intervalNs });
    send(11, 1, 0);
    send(10, 99);
    changeMeasure((view) => view.setBigUint64(0, view.getBigUint64(0, LITTLE_ENDIAN) - BigInt(ns), LITTLE_ENDIAN));
    send(11, 1, 0);
    return r.ports.measure(r.portIfindex)!.ecnMarkingPpm;
  };

  test('LHCNP-5.4-d: two intervals; one of longer ago counts as 0', async () => {
    await r.fill(60_000);
    expect(after(1.8 * INTERVAL, INTERVAL)).toBe(990_000);
    expect(after(2.2 * INTERVAL, INTERVAL)).toBe(0);
    expect(after(10 * INTERVAL, INTERVAL)).toBe(0);
  });

  test('LHCNP-5.4-d: of a short interval two ticks of the timer more, at which alone it can end', async () => {
    await r.fill(60_000);
    // Whenever the machine takes less than 17 ms between, and no tick comes among the packets.
    await until('a rate that is 5 ms old counts', () => after(5e6, 1e6), is(990_000));
    expect(after(50e6, 1e6)).toBe(0);
  });
});

describe('the growth of the queue', () => {
  test('LHCNP-5.4-e: above V_growth triggers, at V_growth it does not', async () => {
    await r.fill(30_000);
    for (const [vGrowthBytes, triggers] of [
      [123_456, 0n],
      [123_455, 1n],
    ] as const) {
      r.clear();
      r.port({ vGrowthBytes, intervalNs: INTERVAL });
      send(10, 1);
      // As an interval left it that has ended just now.
      changeMeasure((view) => view.setUint32(MEASURE_GROWTH, 123_456, LITTLE_ENDIAN));
      expect(r.ports.measure(r.portIfindex)!.growthBytes).toBe(123_456);
      send(10, 1);
      expect(r.stats().triggers).toBe(triggers);
    }
  });

  const PLENTY = 1_000_000;
  /** The queue at the end of an interval; a packet looks at it. */
  const grow = async (to: number): Promise<number> => {
    passTime(r, INTERVAL, INTERVAL);
    await r.deepen(to);
    send(10, 1);
    return r.ports.measure(r.portIfindex)!.growthBytes;
  };

  test('LHCNP-5.3.1-c: is what the queue gained in an interval, scaled to it', async () => {
    await r.fill(30_000);
    r.port({ intervalNs: INTERVAL });
    send(10, 1);
    // Preparing the queue takes real time, by which the interval is longer than 10 s.
    const first = await grow(45_000);
    expect(first).toBeLessThanOrEqual(15_000);
    expect(first).toBeGreaterThan(10_000);
    expect(await grow(PLENTY)).toBeGreaterThan(0.5 * (PLENTY - 45_000));
    expect(await grow(PLENTY)).toBe(0);
    await r.fill(20_000);
    expect(await grow(20_000)).toBe(0);
  });

  test('LHCNP-5.3.1-c: is seen by a RoCEv2 packet that comes rarely, when other traffic has filled the queue from 30 kB to 1 MB', async () => {
    await r.fill(30_000);
    r.port({ kMin: 2_000_000, kMax: 3_000_000, vGrowthBytes: 800_000, intervalNs: INTERVAL });
    send(10, 1);
    // Half a minute of other traffic that leaves the queue as it is, then an interval in which it does not.
    for (let n = 0; n < 5; n++) {
      passTime(r, INTERVAL, INTERVAL);
      sendOther(10);
    }
    expect(r.ports.measure(r.portIfindex)).toMatchObject({ growthBytes: 0 });
    await r.deepen(PLENTY);
    sendOther(10);
    passTime(r, INTERVAL, INTERVAL);
    send(10, 1);
    expect(r.ports.measure(r.portIfindex)!.growthBytes).toBeGreaterThan(800_000);
    expect(reasons()).toEqual(['queue-growth']);
  });

  test.each([
    ['RoCEv2', () => send(10, 1)],
    ['other traffic', () => sendOther()],
  ])('LHCNP-5.3.1-c: is measured from an empty queue on, which %s found', async (_, pass) => {
    await r.fill(0);
    r.port({ kMin: 2_000_000, kMax: 3_000_000, vGrowthBytes: 800_000, intervalNs: INTERVAL });
    pass();
    await r.fill(PLENTY);
    passTime(r, INTERVAL, INTERVAL);
    send(10, 1);
    expect(reasons()).toEqual(['queue-growth']);
  });

  test('LHCNP-5.3.1-c: where no packet at all ends an interval, it is what the queue gained since, scaled to the interval', async () => {
    await r.fill(100_000);
    r.port({ intervalNs: INTERVAL });
    send(10, 1);
    await r.deepen(PLENTY + 100_000);
    passTime(r, 10 * INTERVAL, INTERVAL);
    send(10, 1);
    const { growthBytes } = r.ports.measure(r.portIfindex)!;
    expect(growthBytes).toBeLessThanOrEqual(100_000);
    expect(growthBytes).toBeGreaterThan(50_000); // preparing the queue takes real time
  });

  test('LHCNP-5.4-e: of real traffic that has no RoCEv2 in it is seen by the first RoCEv2 packet', async () => {
    await r.fill(30_000);
    r.port({ vGrowthBytes: 1, intervalNs: 1_000_000 });
    const link = r.attach(EGRESS_PROGRAMS.egress, r.portIfindex, 'egress');
    try {
      await until(
        'other traffic has filled the queue',
        () => {
          for (let i = 0; i < 20; i++) r.other(5000);
          return r.depth();
        },
        moreThan(PLENTY),
      );
      expect(r.stats().packets).toBe(0n);
      r.forward(data());
      await until('the RoCEv2 packet is at the port', () => r.stats().packets, is(1n));
      expect(r.count('egress.trigger.queue-growth')).toBe(1);
    } finally {
      link.close();
    }
  });

  test('LHCNP-5.4-e: above V_growth triggers below every other threshold, and no longer than the growth lasts', async () => {
    await r.fill(30_000);
    r.port({ kMin: 2_000_000, kMax: 3_000_000, vGrowthBytes: 100_000, intervalNs: INTERVAL });
    send(10, 1);
    await grow(100_000);
    expect(r.stats().triggers).toBe(0n);
    await grow(PLENTY);
    expect(r.stats().triggers).toBe(1n);
    expect(r.count('egress.trigger.queue-growth')).toBe(1);
    send(12, 5);
    expect(r.stats().triggers).toBe(6n);
    expect(reasons()).toEqual(Array.from({ length: 6 }, () => 'queue-growth'));
    await grow(PLENTY);
    expect(r.stats().triggers).toBe(6n);
  });

  test('LHCNP-5.4-e: an interval shorter than the timer tick is measured as well', async () => {
    await r.fill(30_000);
    r.port({ vGrowthBytes: 1, intervalNs: 1_000_000 });
    let depth = 30_000;
    await until(
      'the growth is seen',
      async () => {
        send(10, 1);
        await r.deepen((depth += 1000));
        send(10, 1);
        return r.count('egress.trigger.queue-growth');
      },
      moreThan(0),
      30_000,
    );
  });
});

describe('the depth of the queue', () => {
  test('LHCNP-5.4-c: outranks the other conditions as the reason', async () => {
    await r.fill(110_000);
    r.port({ kMin: 50_000, kMax: 100_000, vEcnPpm: 0, vGrowthBytes: 0, intervalNs: INTERVAL });
    send(10, 10);
    passTime(r, INTERVAL, INTERVAL);
    send(10, 1);
    expect(new Set(reasons())).toEqual(new Set(['queue-depth']));
  });

  /**
   * A queue of as many megabytes: every frame of 1000 bytes counts as a million, as a link layer with large cells would
   * make it.
   */
  async function megabytes(count: number): Promise<void> {
    const tc = (line: string): void => {
      const result = r.router.run(() => spawnSync('tc', line.split(' '), { encoding: 'utf8' }));
      if (result.status !== 0) throw new Error(`tc ${line}: ${result.stderr}`);
    };
    for (let attempt = 0; attempt < 5; attempt++) {
      tc('qdisc replace dev t-bpf-port root pfifo limit 10');
      tc('qdisc replace dev t-bpf-port root stab overhead 999000 tbf rate 8bit burst 2100000 limit 4200000000');
      for (let i = 0; i < count + 2; i++) r.other(1000);
      await until('frames are queued', () => r.depth(), atLeast(count * 1_000_000));
      if ((await r.depth()) === count * 1_000_000) return;
    }
    throw new Error('another program sends on the port');
  }

  test('A2: LHCNP-5.4-b: 70 MB in front of K_max = 125 MB: marked, and nothing is sent; at 130 MB one CNP has level 180, Reduce 30, QP 100, 130000 kB', async () => {
    r.policies(['::/0', ['long-haul-icmpv6']]);
    r.queuePairs([{ sender: H1, receiver: H2, receiverQpn: QPN }, 100]);
    r.configure({ disclose: true });
    configureFormats(r.egress, { longHaul: LONG_HAUL });
    r.port({
      kMin: 62_500_000,
      kMax: 125_000_000,
      perFlowIntervalNs: 20e6,
      rttNs: 3600e9,
      instructions: [
        { fromBytes: null, level: 100, action: 'notify', parameter: 0 },
        { fromBytes: 125_000_000, level: 180, action: 'rate-reduce', parameter: 30 },
      ],
    });
    await megabytes(70);
    expect(ecnOf(r.send(frame(data()), { repeat: 100 }).data)).toBe(3);
    expect(r.stats()).toMatchObject({ triggers: 0n, notifications: 0n });
    // A test run repeats with one packet, which has been marked from the second time on.
    expect({ marked: r.count('egress.ecn.marked'), alreadyCe: r.count('egress.ecn.already-ce') }).toEqual({
      marked: 1,
      alreadyCe: 99,
    });

    await megabytes(130);
    r.clear();
    expect(ecnOf(r.send(frame(data()), { repeat: 1000 }).data)).toBe(3);
    expect(r.stats()).toMatchObject({ triggers: 1000n, notifications: 1n });
    expect(r.records()).toMatchObject([
      {
        level: 180,
        action: 'rate-reduce',
        parameter: 30,
        sourceQpn: 100,
        queueBytes: 130_000_000,
        reason: 'queue-depth',
      },
    ]);
    const body = 'b480001e000000640101fbd0';
    await until(
      'the CNP',
      () => r.collected,
      (all) => all.some((f) => f[12] === 0x86 && f[20] === 58 && f[54] === 200),
    );
    const cnps = r.collected.filter((f) => f[20] === 58 && f[54] === 200);
    expect(cnps.map((f) => Buffer.from(f.subarray(58, 70)).toString('hex'))).toEqual([body]);
  });

  test('LHCNP-5.3.2-a, LHCNP-5.4-c: a queue of 3 GB, as 400 Gbit/s over 60 ms fill one, is not above a K_max of 3 GB, and one of 3.1 GB is', async () => {
    r.port({
      kMin: 1_500_000_000,
      kMax: 3_000_000_000,
      levelBytes: [0, 1, 2, 3, 4, 5, 6, 7].map((n) => 3_000_000_000 + n * 150_000_000),
    });
    await megabytes(3000);
    send(10, 1);
    expect(r.stats()).toMatchObject({ ceMarked: 1n, triggers: 0n });
    await megabytes(3200);
    send(10, 1);
    expect(r.records()).toMatchObject([{ reason: 'queue-depth', level: 1, queueBytes: 3_200_000_000 }]);
  });
});

describe('contribution to the queue', () => {
  beforeEach(async () => {
    await r.fill(150_000);
    r.port({ kMin: 50_000, kMax: 100_000, contribution256: 128, intervalNs: INTERVAL, perFlowIntervalNs: 3600e9 });
  });
  const notified = (): number[] => r.records().map((sent) => sent.destinationQpn);

  test('LHCNP-5.5-b: a flow with half of the largest share is notified, one with less is not', () => {
    send(10, 100);
    send(11, 49);
    expect(notified()).toEqual([10]);
    expect(r.count('egress.suppressed.contribution')).toBe(49);
    send(11, 1);
    expect(notified()).toEqual([10, 11]);
  });

  test('LHCNP-5.5-b: what a flow sent in the window before counts, and what it sent before that does not', () => {
    send(10, 100);
    passTime(r, INTERVAL, INTERVAL);
    send(11, 20);
    expect(notified()).toEqual([10]);
    send(10, 10);
    send(11, 30);
    expect(notified()).toEqual([10]);
    // The large flow has ended: now the small one is the largest.
    passTime(r, INTERVAL, INTERVAL);
    send(11, 1);
    expect(notified()).toEqual([10, 11]);
  });

  test('LHCNP-5.5-b: what was sent while the queue was short is no contribution', async () => {
    await r.fill(40_000);
    send(11, 1000);
    expect(r.flows()[0]!.congestedBytes).toBe(0n);
    await r.deepen(150_000);
    send(10, 100);
    send(11, 10);
    expect(notified()).toEqual([10]);
  });

  test('LHCNP-5.5-a: with no share demanded all flows are notified', () => {
    r.port({ kMin: 50_000, kMax: 100_000, contribution256: 0, intervalNs: INTERVAL, perFlowIntervalNs: 3600e9 });
    send(10, 100);
    send(11, 1);
    expect(notified()).toEqual([10, 11]);
  });
});
