import { expect, test } from 'vitest';
import type { IoamNode } from '../packet/ip/ioam-nodes.ts';
import { World } from './holds.fixture.ts';
import { Hpcc, type HpccOptions, defaultHpcc } from './hpcc.ts';

const B = 8e9;
const RTT = 10;
/** Bytes on a link in a base RTT. */
const BDP = 10e6;
const node = (more: Partial<IoamNode> = {}): IoamNode => ({ nodeId: 1, egress: 2, ...more });
const reduced = (nodes: readonly IoamNode[], opts: Partial<HpccOptions> = {}, hpcc = new Hpcc()): number | undefined =>
  hpcc.onTrace(nodes, RTT, { ...defaultHpcc(B), ...opts });

test('FCNP-4-t: a queue of one BDP in front of a busy link means U = 2, and the rate becomes η / U of itself', () => {
  expect(reduced([node({ queueDepth: BDP })])).toBeCloseTo(100 * (1 - 0.95 / 2), 9);
  expect(reduced([node({ queueDepth: BDP })], { target: 0.5 })).toBeCloseTo(75, 9);
});

test('FCNP-4-t: the hop with the greatest utilization counts', () => {
  const hops = [1e6, BDP, 0].map((queueDepth, nodeId) => node({ queueDepth, nodeId }));
  expect(reduced(hops)).toBeCloseTo(52.5, 9);
  expect(reduced(hops, { capacity: ({ nodeId }) => (nodeId === 0 ? B / 100 : B) })).toBeCloseTo(
    100 * (1 - 0.95 / 11),
    9,
  );
});

test('the unit of queue depth is the node’s', () => {
  expect(reduced([node({ queueDepth: BDP / 80 })], { queueUnit: 80 })).toBeCloseTo(52.5, 9);
});

test('a trace without queues, or of nodes that do not know theirs, does not show the congestion', () => {
  expect([reduced([]), reduced([node()]), reduced([node({ queueDepth: 0 })])]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['namespaceData', 'posix', 20_000, 2 ** 32 - 5_000_000, (n: number) => n],
  ['namespaceDataWide', 'ptp', 20_000_000, 2 ** 52, BigInt],
  ['namespaceDataWide', 'ntp', 0.02 * 2 ** 32, 2 ** 52, BigInt],
] as const)(
  'with transmitted bytes in %s and %s times, txRate comes from two samples, also when the counter goes round',
  (txBytes, timestamp, fraction, first, as) => {
    const hpcc = new Hpcc();
    const opts = { txBytes, timestamp };
    const at = (f: number, bytes: number): IoamNode =>
      node({ queueDepth: BDP / 2, seconds: 7, fraction: Math.floor(f), [txBytes]: as(bytes) });
    expect(reduced([at(0, first)], opts, hpcc)).toBeCloseTo(100 * (1 - 0.95 / 1.5), 6);
    // 20 ms at 8 Gbit/s are 20 MB; 15 of them were sent.
    const second = txBytes === 'namespaceData' ? (first + 15e6) % 2 ** 32 : first + 15e6;
    expect(reduced([at(fraction, second)], opts, hpcc)).toBeCloseTo(100 * (1 - 0.95 / 1.25), 4);
  },
);

test('a sample of another hop, of long ago, of no time at all, or one in which the counter may have gone round, is none', () => {
  const opts = { txBytes: 'namespaceData' } as const;
  const second = (before: Partial<IoamNode>, capacity = B): number | undefined => {
    const hpcc = new Hpcc();
    reduced([node({ seconds: 7, fraction: 0, namespaceData: 0, queueDepth: 1, ...before })], opts, hpcc);
    const after = node({ seconds: 7, fraction: 500_000, namespaceData: 1, queueDepth: BDP });
    return reduced([after], { ...opts, capacity: () => capacity }, hpcc);
  };
  expect(second({})).toBeLessThan(10);
  for (const before of [{ egress: 3 }, { nodeId: 2 }, { seconds: 6, fraction: 499_999 }, { fraction: 500_000 }])
    expect(second(before), JSON.stringify(before)).toBeCloseTo(52.5, 6);
  expect(second({ seconds: 6, fraction: 1_200_000 }), 'no fraction').toBeCloseTo(52.5, 6);
  expect(second({ fraction: 500_000, namespaceData: 1 }), 'the same').toBeCloseTo(52.5, 6);
  expect(second({ seconds: 8 })).toBeCloseTo(52.5, 6);
  expect(second({ fraction: 1_000_000 })).toBeCloseTo(52.5, 6);
  expect(second({}, 80e9)).toBeCloseTo(100 * (1 - 0.95 / 1.1), 6);
});

test('what is kept of a flow is its last trace, and of that no more hops than a Fast CNP can have', () => {
  const hpcc = new Hpcc();
  const opts = { txBytes: 'namespaceData' } as const;
  const at = (fraction: number): IoamNode => node({ seconds: 7, fraction, namespaceData: 0, queueDepth: BDP });
  reduced([at(0)], opts, hpcc);
  reduced([], opts, hpcc);
  expect(reduced([at(20_000)], opts, hpcc)).toBeCloseTo(52.5, 6);
  const path = Array.from({ length: 58 }, (_, nodeId) => node({ nodeId, queueDepth: nodeId === 57 ? BDP : 0 }));
  expect([reduced(path), reduced(path.slice(1))]).toEqual([undefined, expect.closeTo(52.5, 6)]);
});

test('a hop without identity is not compared with another', () => {
  const hpcc = new Hpcc();
  const anonymous = (fraction: number): IoamNode => ({ seconds: 1, fraction, namespaceData: 0, queueDepth: BDP });
  for (const fraction of [0, 20_000])
    expect(reduced([anonymous(fraction)], { txBytes: 'namespaceData' }, hpcc)).toBeCloseTo(52.5, 6);
});

test('FCNP-4-t: the trace of a Fast CNP decides by how much a flow is slowed down, where that is asked for and the trace shows it', () => {
  const hpcc = defaultHpcc(B);
  const held = (more: object, trace?: readonly IoamNode[]) => {
    const w = new World(more);
    w.notify({ trace });
    return [w.rate(), w.counts];
  };
  const deep = [node({ queueDepth: BDP })];
  expect(held({ hpcc }, deep)).toEqual([0.475, expect.objectContaining({ 'source.hold.trace-used': 1 })]);
  expect(held({ hpcc }, [])).toEqual([0.5, expect.objectContaining({ 'source.hold.trace-without-congestion': 1 })]);
  expect(held({}, deep)[0]).toBe(0.5);
  expect(held({ hpcc })[0]).toBe(0.5);
});
