// Ten million packets through the limits of Long-haul CNPs: when each one was sent shows whether a limit was ever
// broken (A6).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CongestedRouter } from '../support/congested-router.ts';
import { Hammer } from '../support/hammer.ts';
import { H1, H2, data, frame } from '../support/packets.ts';

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

const sent = (): number => Number(r.stats().notifications);

describe('ten million packets', () => {
  const PACKETS = 10_000_000;
  const RTT = 10_000_000;
  const flows = [0, 1, 2, 3].map((i) => ({ sender: H1, receiver: H2, receiverQpn: 200 + i }));
  beforeEach(() => {
    r.clear();
    r.policies(['::/0', ['long-haul-icmpv6']]);
    r.queuePairs(...flows.map((flow, i) => [flow, 100 + i] as const));
  });

  /** Ascending times of what was sent, by Queue Pair. */
  function timesOfFlows(): Map<number, bigint[]> {
    const times = new Map<number, bigint[]>();
    for (const { destinationQpn, atNs } of r.records())
      times.set(destinationQpn, [...(times.get(destinationQpn) ?? []), atNs]);
    for (const of of times.values()) of.sort((a, b) => (a < b ? -1 : 1));
    return times;
  }
  const closest = (times: readonly bigint[]): bigint =>
    times.slice(1).reduce((least, t, i) => (t - times[i]! < least ? t - times[i]! : least), 1n << 62n);

  /**
   * Pairs between which more was sent than the bucket allows: at most 1 + (time + (burst - 1) / rate) · rate from one
   * to the other.
   */
  function violations(times: readonly bigint[], rate: number, burst: number): number {
    const spacing = 1e9 / rate;
    let found = 0;
    for (let i = 0; i < times.length; i++) {
      for (let j = i + 1; j < times.length; j++)
        if ((j - i) * spacing > Number(times[j]! - times[i]!) + (burst - 1) * spacing) found++;
    }
    return found;
  }

  test('A6: LHCNP-5.5-g: LHCNP-9-d: never two Long-haul CNPs for one flow within an RTT: at most 101 in a second at 10 ms', () => {
    r.port({ kMax: KMAX, rttNs: RTT, perFlowIntervalNs: 1 });
    for (let i = 0; i < PACKETS / MILLION; i++) {
      r.send(frame(data({ qpn: flows[i % 4]!.receiverQpn })), { repeat: MILLION });
      r.records(); // the ring holds some 3000
    }
    expect(r.stats().triggers).toBe(BigInt(PACKETS));
    expect(r.records().length).toBe(sent());
    const times = timesOfFlows();
    expect(times.size).toBe(4);
    for (const of of times.values()) expect(closest(of)).toBeGreaterThanOrEqual(BigInt(RTT));
    expect(sent()).toBeGreaterThan(8);
  });

  test('A6: LHCNP-9-d: nor when they come on every CPU at once', async () => {
    r.port({ kMax: KMAX, rttNs: RTT / 10, perFlowIntervalNs: 1 });
    await hammer.run(
      [0, 1].map((psn) => frame(data({ qpn: flows[0]!.receiverQpn, psn }))),
      PACKETS / 2,
    );
    expect(r.stats().triggers).toBe(BigInt(PACKETS));
    expect(closest(timesOfFlows().get(flows[0]!.receiverQpn)!)).toBeGreaterThanOrEqual(BigInt(RTT / 10));
  });

  test('A6: LHCNP-9-f: and never more from a port than its bucket allows, whatever the flows do', async () => {
    const [rate, burst] = [500, 20];
    r.port({ kMax: KMAX, rttNs: 1, perFlowIntervalNs: 1, noticesPerSecond: rate, burst });
    await hammer.run(
      [0, 1].map((i) => frame(data({ qpn: flows[i]!.receiverQpn }))),
      PACKETS / 2,
    );
    expect(r.stats().triggers).toBe(BigInt(PACKETS));
    const times = r
      .records()
      .map((notification) => notification.atNs)
      .sort((a, b) => (a < b ? -1 : 1));
    expect(times.length).toBe(sent());
    expect(times.length).toBeGreaterThan(burst);
    expect(violations(times, rate, burst)).toBe(0);
    // The check itself would see one too many.
    expect(violations([...times.slice(0, burst), times[burst - 1]!, times[burst - 1]!], rate, burst)).toBeGreaterThan(
      0,
    );
  });
});
