// Rate limits under a million packets and more, from one CPU and from all at once: never one notice too many, and not
// far too few either.
import { availableParallelism } from 'node:os';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EGRESS_PROGRAMS } from '../../../src/kernel/dataplane/egress.ts';
import { CongestedRouter, PROXY6 } from '../support/congested-router.ts';
import { Hammer } from '../support/hammer.ts';
import { notices } from '../support/received-notices.ts';
import { data, frame } from '../support/packets.ts';
import { moreThan, until } from '../../support/until.ts';

const KMAX = 100_000;
const MILLION = 1_000_000;

let r: CongestedRouter;
let hammer: Hammer;
beforeAll(async () => {
  r = await CongestedRouter.create();
  await r.fill(150_000);
  hammer = new Hammer(r);
});
afterAll(() => {
  hammer.close();
  r.close();
});
beforeEach(() => {
  r.configure({});
  r.senders(['2001:db8:1::/48', PROXY6]);
  r.port({ kMax: KMAX });
  r.clear();
});

/** Every notice that was built has arrived, so that none of them is taken for one of the next test. */
const arrived = (): Promise<unknown> =>
  until(
    'all notices',
    () => {
      const [collected, built] = [r.collected.length, r.count('notice.built')];
      // They are read once all may be there: there are tens of thousands.
      return [collected, built === sent() && collected >= built ? notices(r.collected).length : 0, built] as const;
    },
    ([a, b, c]) => a >= sent() && b === sent() && c === sent(),
  );
afterEach(arrived);

/** Nanoseconds that `run` took, from before its first packet to after its last. */
async function elapsed(run: () => void | Promise<void>): Promise<number> {
  const start = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - start);
}

const sent = (): number => Number(r.stats().notifications);

describe('the interval of a flow', () => {
  test('PNC-6-b: a million packets of one flow: never two notices within the interval', async () => {
    const interval = 1_000_000;
    r.port({ kMax: KMAX, perFlowIntervalNs: interval });
    const ns = await elapsed(() => void r.send(frame(data()), { repeat: MILLION }));
    expect(r.stats()).toMatchObject({ packets: BigInt(MILLION), triggers: BigInt(MILLION) });
    // The packets come without pause, but for what else this machine does: the bound is nearly reached.
    expect(sent()).toBeLessThanOrEqual(Math.floor(ns / interval) + 1);
    expect(sent()).toBeGreaterThan(0.1 * (ns / interval));
    expect(Number(r.stats().suppressedPerFlow)).toBe(MILLION - sent());
  });

  test('PNC-6-b: a million packets of one flow from every CPU at once: one interval for all', async () => {
    const interval = 1_000_000;
    r.port({ kMax: KMAX, perFlowIntervalNs: interval });
    const cpus = Math.max(2, availableParallelism());
    const ns = await elapsed(() =>
      hammer.run(
        Array.from({ length: cpus }, (_, i) => frame(data({ psn: i }))),
        MILLION,
      ),
    );
    expect(r.flows().length).toBe(1);
    expect(r.flows()[0]!.packets).toBe(BigInt(cpus * MILLION));
    expect(r.stats().packets).toBe(BigInt(cpus * MILLION));
    expect(sent()).toBeLessThanOrEqual(Math.floor(ns / interval) + 1);
    expect(sent()).toBeGreaterThan(0);
    expect(Number(r.stats().suppressedPerFlow + r.stats().suppressedPerPort)).toBe(cpus * MILLION - sent());
  });

  test('LHCNP-5.5-g: an hour long: one notice for a million packets from every CPU', async () => {
    r.port({ kMax: KMAX, perFlowIntervalNs: 3600e9 });
    await hammer.run([frame(data()), frame(data())], MILLION);
    expect(sent()).toBe(1);
  });

  test("is each flow's own", async () => {
    r.port({ kMax: KMAX, perFlowIntervalNs: 3600e9 });
    for (let round = 0; round < 3; round++) for (let i = 0; i < 200; i++) r.send(frame(data({ qpn: 100 + i })));
    expect(sent()).toBe(200);
  });

  test('PNC-6-b: is not shortened by making the table forget a flow', async () => {
    r.port({ kMax: KMAX, perFlowIntervalNs: 3600e9 });
    // Twice as many flows as the table holds: every one is evicted before it comes again.
    const flows = 32_768;
    const packets = Array.from({ length: flows }, (_, i) => frame(data({ qpn: 100 + i, size: 4 })));
    for (let i = 0; i < 2 * flows; i++) {
      r.send(packets[i % flows]!);
      if (i % 1000 === 0) await new Promise(setImmediate); // lets the collector read
    }
    expect(r.count('egress.flow.evicted')).toBeGreaterThan(flows);
    const perFlow = new Map<bigint, number>();
    await arrived();
    for (const { notice } of notices(r.collected)) {
      const qpn = BigInt((notice.invoking[53]! << 16) | (notice.invoking[54]! << 8) | notice.invoking[55]!);
      perFlow.set(qpn, (perFlow.get(qpn) ?? 0) + 1);
    }
    expect(Math.max(...perFlow.values())).toBe(1);
  });

  test('PNC-6-b: is not shortened by ageing', async () => {
    r.configure({ flowAgeingNs: 20_000_000 });
    r.port({ kMax: KMAX, perFlowIntervalNs: 3600e9 });
    r.send(frame(data()));
    const first = r.flows()[0]!.firstSeen;
    await until('the flow is 40 ms old', () => process.hrtime.bigint(), moreThan(first + 40_000_000n));
    r.send(frame(data()));
    expect(r.count('egress.flow.aged')).toBe(1);
    await until(
      'the flow is 40 ms old again',
      () => process.hrtime.bigint(),
      (n) => n > r.flows()[0]!.firstSeen + 40_000_000n,
    );
    r.egress.program(EGRESS_PROGRAMS.age).testRun({ data: new Uint8Array(64) });
    expect(r.flows()).toEqual([]);
    r.send(frame(data()));
    expect(sent()).toBe(1);
  });
});

describe('the token bucket of a port', () => {
  test('PNC-6-b: LHCNP-9-f: a million packets: never more than burst plus rate times time', async () => {
    const [rate, burst] = [2000, 50];
    r.port({ kMax: KMAX, noticesPerSecond: rate, burst });
    const ns = await elapsed(() => void r.send(frame(data()), { repeat: MILLION }));
    expect(sent()).toBeLessThanOrEqual(burst + Math.floor((ns / 1e9) * rate) + 1);
    expect(sent()).toBeGreaterThan(burst + 0.1 * (ns / 1e9) * rate);
    expect(Number(r.stats().suppressedPerPort)).toBe(MILLION - sent());
  });

  test('PNC-6-b: LHCNP-9-f: holds for all flows and all CPUs together', async () => {
    const [rate, burst] = [2000, 50];
    r.port({ kMax: KMAX, noticesPerSecond: rate, burst });
    const cpus = Math.max(2, availableParallelism());
    const ns = await elapsed(() =>
      hammer.run(
        Array.from({ length: cpus }, (_, i) => frame(data({ qpn: 100 + i }))),
        MILLION,
      ),
    );
    expect(sent()).toBeLessThanOrEqual(burst + Math.floor((ns / 1e9) * rate) + 1);
    expect(sent()).toBeGreaterThan(burst);
    expect(Number(r.stats().suppressedPerPort) + sent()).toBe(cpus * MILLION);
  });

  test('lets a burst out at once and no more', () => {
    r.port({ kMax: KMAX, noticesPerSecond: 0.001, burst: 7 });
    r.send(frame(data()), { repeat: 10_000 });
    expect(sent()).toBe(7);
  });

  test('is not spent on senders without a proxy', () => {
    r.port({ kMax: KMAX, noticesPerSecond: 0.001, burst: 1 });
    r.senders();
    r.send(frame(data({ qpn: 1000 })), { repeat: 100 });
    r.senders(['2001:db8:1::/48', PROXY6]);
    r.send(frame(data({ qpn: 1001 })));
    expect(sent()).toBe(1);
  });
});

describe('the flow table on several CPUs', () => {
  test('LHCNP-5.2-b: a flow that starts on all CPUs at the same time has one entry, and no packet is lost from it', async () => {
    r.port();
    const cpus = Math.max(2, availableParallelism());
    for (let round = 0; round < 20; round++)
      await hammer.run(
        Array.from({ length: cpus }, () => frame(data({ qpn: 5000 + round }))),
        1000,
      );
    const flows = r.flows();
    expect(flows.length).toBe(20);
    expect(flows.filter((f) => f.packets !== BigInt(cpus * 1000))).toEqual([]);
  });
});
