import { expect, test } from 'vitest';
import { address } from '../model/address.ts';
import { LONGEST_ROCE_FRAME } from '../model/roce.ts';
import { defaultHoldOptions } from './hold.ts';
import { classRate, drainMs, leastRate, silenceUs } from './class-rate.ts';
import { Holds } from './holds.ts';

test.each([
  [1e6, 335_840],
  [10e6, 335_840],
  [400e3, 200_000],
  [100e9, 335_840],
])('at %d bit/s the least rate is %d bit/s: the longest frame takes 100 ms, or two of the line’s', (line, least) => {
  expect(leastRate(line)).toBe(least);
  expect(Number(classRate(least).rate) * 8).toBe(least);
});

test.each([
  // A full queue of 4 MB takes 32 s at 1 Mbit/s, 320 ms at 100 Mbit/s.
  [1e6, 4e6, 60_000],
  [1e6, 100_000, 2 * (100 + 867)],
  [100e6, 4e6, 1000],
  [10e6, 4e6, 2 * (100 + 3207)],
  [100e9, 4e6, 1000],
])('at %d bit/s, with %d bytes queued, a class may take %d ms to be empty', (line, buffer, ms) => {
  expect(Math.round(drainMs(line, buffer) / 2)).toBe(Math.round(ms / 2));
});

test.each([10e6, 30e6, 100e6])(
  'at %d bit/s what leaves during a pause is 11 percent of the line at most, with 1,500-byte packets 4 percent',
  (line) => {
    const leak = (bytes: number): number => (bytes * 8) / (silenceUs(line) / 1e6) / line;
    expect(leak(LONGEST_ROCE_FRAME)).toBeCloseTo(0.11, 3);
    expect(leak(1518)).toBeLessThan(0.04);
  },
);

test.each([
  [1e6, 65_535],
  [100e9, 1000],
])(
  'at %d bit/s a silence has %d µs: what an instruction can ask for at most, and no less than a millisecond',
  (line, us) => expect(silenceUs(line)).toBe(us),
);

const FLOW = { sender: address('::1'), receiver: address('::2'), receiverQpn: 1, tenant: 0 };
const slow = (): Holds =>
  new Holds({ ...defaultHoldOptions(1e6), drainMs: drainMs(1e6, 100_000) }, { count: () => {} });
const notify = (holds: Holds, parameter: number): readonly { kind: string; rate?: number }[] =>
  holds.onNotification(
    {
      ...{ flow: FLOW, senderQpn: 2, node: address('::3'), format: 'long-haul-roce' },
      instruction: { level: 1, action: 'rate-reduce', parameter },
    },
    0,
  );

test.each([99, 100])(
  'at 1 Mbit/s no rate of a flow that was reduced by %d percent is one at which a frame takes long',
  (percent) => {
    const holds = slow();
    const effects = [...notify(holds, percent)];
    while (holds.nextAt !== undefined) effects.push(...(holds.advance(holds.nextAt) as typeof effects));
    const rates = effects.flatMap(({ kind, rate }) => (rate !== undefined && kind !== 'leave' ? [rate] : []));
    expect(rates.length).toBeGreaterThan(5);
    expect(rates.filter((rate) => rate > 0 && rate < 335_840)).toEqual([]);
  },
);

test('a flow whose class is never seen empty is let go when it should have been', () => {
  const holds = slow();
  notify(holds, 50);
  let left = Infinity;
  for (let at = holds.nextAt; at !== undefined; at = holds.nextAt) {
    const kinds = holds.advance(at).map(({ kind }) => kind);
    if (kinds.includes('leave')) left = at;
    if (kinds.includes('free')) expect(at - left).toBeCloseTo(2 * (100 + 867), -1);
  }
  expect([holds.size, left < 1000]).toEqual([0, true]);
});
