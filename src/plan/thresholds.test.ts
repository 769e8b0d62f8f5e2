import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planCongestedNode } from './congested-node.ts';
import type { Problem } from '../model/problem.ts';
import type { EgressPortPlan } from './desired.ts';
import type { Facts, QdiscFact } from './facts.ts';
import { FACTS, intentOf, learnedTable } from './inputs.fixture.ts';
import { bandwidthDelayBytes } from './thresholds.ts';

const WAN = 5;
const LONG_HAUL = 'notifications: { senders: [{ prefix: 2001:db8:1::/64, order: [long-haul-icmpv6] }] }\n';
const PROBES = 'stamp: { targets: [2001:db8::9] }\n';

interface Circumstances {
  readonly qdisc?: Omit<QdiscFact, 'ifindex'>;
  readonly speed?: number;
  /** null: not measured. */
  readonly rttMs?: number | null;
  readonly rest?: string;
}

function portOf(
  keys: string,
  { qdisc, speed, rttMs, rest = '' }: Circumstances = {},
): { readonly port: EgressPortPlan; readonly problems: readonly Problem[] } {
  const facts: Facts = {
    ...FACTS,
    links: FACTS.links.map((link) =>
      link.ifindex === WAN && speed !== undefined ? { ...link, speedBitPerS: speed } : link,
    ),
    qdiscs: [{ ifindex: WAN, ...(qdisc ?? { rootKind: 'tbf', rateBitPerS: 1e9 }) }],
    ...(rttMs !== null && { rttMs: new Map(rttMs === undefined ? [] : [['wan', rttMs]]) }),
  };
  const { ports, problems } = planCongestedNode(
    intentOf(`ports: [{ interface: wan, ${keys} }]\n${rest}`),
    learnedTable(),
    facts,
  );
  return { port: ports[0]!, problems };
}

test('a declared K_min is explained as configured, even if it equals half of K_max', () => {
  const lineOf = (keys: string): string | undefined =>
    portOf(keys).port.explanation.find((line) => line.startsWith('k-min'));
  expect({ configured: lineOf('k-min: 50kB, k-max: 100kB'), derived: lineOf('k-max: 100kB') }).toEqual({
    configured: 'k-min: 50000 B = configured',
    derived: 'k-min: 50000 B = k-max / 2',
  });
});

describe('A1, LHCNP-5.3.2-a: K_max = max(K_base, alpha × R × RTT / 8)', () => {
  test('100 Gbit/s and 10 ms: 125,000,000 bytes exactly, K_min 62,500,000', () => {
    expect(portOf('k-max: auto, k-base: 64kB, alpha: 1.0, bandwidth: 100Gbit, rtt: 10ms').port).toMatchObject({
      kMax: 125_000_000,
      kMin: 62_500_000,
      rttNs: 10_000_000,
    });
  });

  test('100 Gbit/s and 5 us: the product is 62,500 bytes, less than K_base', () => {
    expect(bandwidthDelayBytes(100e9, 5000, 1)).toBe(62_500);
    expect(portOf('k-max: auto, bandwidth: 100Gbit, rtt: 5us').port).toMatchObject({ kMax: 64_000, kMin: 32_000 });
  });

  test('400 Gbit/s and 40 ms: 2 GB, and 60 ms: 3 GB, both uncapped', () => {
    expect(portOf('k-max: auto, bandwidth: 400Gbit, rtt: 40ms')).toMatchObject({
      port: { kMax: 2e9, kMin: 1e9 },
      problems: [],
    });
    const { port, problems } = portOf('k-max: auto, bandwidth: 400Gbit, rtt: 60ms');
    expect({ kMax: port.kMax, kMin: port.kMin, levelBytes0: port.levelBytes[0], problems }).toEqual({
      kMax: 3e9,
      kMin: 1.5e9,
      levelBytes0: 3e9,
      problems: [],
    });
    // Ascending, and within what the kernel counts: 3 GB × 2 are not.
    expect(port.levelBytes[7]).toBe(Math.floor(3e9 + (7 * (0xffff_ffff - 3e9)) / 8));
  });

  test('800 Gbit/s and 100 ms: 10 GB exceed what the kernel counts of a queue, which is a problem of the port', () => {
    const { port, problems } = portOf('k-max: auto, bandwidth: 800Gbit, rtt: 100ms');
    expect({ kMax: port.kMax, kMin: port.kMin }).toEqual({ kMax: 4e9, kMin: 2e9 });
    expect(port.levelBytes).toEqual([...new Set(port.levelBytes)].sort((a, b) => a - b));
    expect(problems).toEqual([
      {
        code: 'ports.k-max-capped',
        feature: 'ports',
        problem: 'k-max of wan is 4000000000 bytes instead of 10000000000: the kernel counts a queue in 32 bits',
        remedy: 'lower alpha, or set k-max for wan to what its queue may hold, at most 4GB',
      },
    ]);
    // One that drops before is never that deep.
    expect(
      portOf('k-max: auto, bandwidth: 800Gbit, rtt: 100ms', {
        qdisc: { rootKind: 'tbf', limitBytes: 1e9 },
      }).problems.map(({ problem }) => problem),
    ).toEqual([
      'k-max of wan (4000000000 bytes) is never exceeded: its queue drops at 1000000000 bytes',
      'k-min of wan (2000000000 bytes) is never exceeded: its queue drops at 1000000000 bytes',
    ]);
  });

  test.each([
    [400e9, 100_000_000, 0.001, 5_000_000],
    [1e9, 333_333, 1, 41_666],
    [100e9, 10_000_000, 1.1, 137_500_000],
    [8000, 1_000_000, 1, 1],
    [1000, 1000, 0.01, 0],
  ])('R %d bit/s, RTT %d ns, alpha %d: %d bytes', (rate, rtt, alpha, bytes) => {
    expect(bandwidthDelayBytes(rate, rtt, alpha)).toBe(bytes);
  });

  test('LHCNP-5.3.2-f, LHCNP-5.3.2-g: for every path K_base ≤ K_max, K_min is half of K_max, and the kernel can count both', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000_000 }),
        fc.integer({ min: 1, max: 10_000_000 }),
        fc.integer({ min: 10, max: 100_000 }),
        (kbit, us, alpha) => {
          const { port } = portOf(
            `k-max: auto, k-base: 5kB, alpha: ${alpha / 1000}, bandwidth: ${kbit}kbit, rtt: ${us}us`,
          );
          const exact = (BigInt(alpha) * BigInt(kbit) * BigInt(us)) / 8_000_000n;
          expect(port.kMax).toBe(exact > 4_000_000_000n ? 4e9 : Math.max(5000, Number(exact)));
          expect(port.kMin).toBe(Math.floor(port.kMax! / 2));
          expect(port.levelBytes[7]).toBeLessThanOrEqual(0xffff_ffff);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('LHCNP-5.3.2-f: a declared K_min is kept, and is below K_max', () => {
    expect(portOf('k-max: auto, k-min: 10kB, rtt: 10ms').port).toMatchObject({ kMin: 10_000, kMax: 1_250_000 });
  });

  test('without CE marking there is no K_min', () => {
    expect(portOf('k-max: auto, rtt: 10ms, ecn: off').port).toMatchObject({ kMin: null, kMax: 1_250_000 });
  });
});

describe('LHCNP-5.3.2-a: R_port', () => {
  const kMax = (keys: string, circumstances: Circumstances): string =>
    portOf(`k-max: auto, rtt: 10ms${keys}`, circumstances).port.explanation.find((line) => line.startsWith('  R:'))!;

  test.each<readonly [claim: string, keys: string, circumstances: Circumstances, line: string]>([
    ['as configured, before anything else', ', bandwidth: 40Gbit', { speed: 10e9 }, '  R: 40 Gbit/s = configured'],
    ['the rate of a TBF', '', { speed: 10e9 }, '  R: 1 Gbit/s = rate of the TBF'],
    [
      'the classes of an HTB',
      '',
      { qdisc: { rootKind: 'htb', rateBitPerS: 2.5e9 } },
      '  R: 2.5 Gbit/s = sum of the top-level classes of the HTB',
    ],
    [
      'the link, when the shaper is faster',
      '',
      { qdisc: { rootKind: 'tbf', rateBitPerS: 100e9 }, speed: 25e9 },
      '  R: 25 Gbit/s = speed of the link',
    ],
    [
      'the link, when the HTB has no classes',
      '',
      { qdisc: { rootKind: 'htb' }, speed: 25e9 },
      '  R: 25 Gbit/s = speed of the link',
    ],
    ['not known', '', { qdisc: { rootKind: 'htb' } }, '  R: not known'],
  ])('%s', (_claim, keys, circumstances, line) => {
    expect(kMax(keys, circumstances)).toBe(line);
  });
});

describe('LHCNP-5.3.1-d, LHCNP-5.3.1-e: RTT_est', () => {
  test('LHCNP-5.3.2-h, LHCNP-5.8-a: thresholds and the least interval follow the measured RTT', () => {
    const at = (rttMs: number): EgressPortPlan =>
      portOf('k-max: auto, rtt: probe', { rttMs, rest: PROBES + LONG_HAUL }).port;
    expect(at(10)).toMatchObject({ kMax: 1_250_000, kMin: 625_000, rttNs: 10_000_000 });
    expect(at(20)).toMatchObject({ kMax: 2_500_000, kMin: 1_250_000, rttNs: 20_000_000 });
    expect(at(0.0125)).toMatchObject({ kMax: 64_000, rttNs: 12_500 });
    expect(at(20).instructions.map((row) => row.fromBytes)).toEqual([0, 2_500_000, 3_125_000, 3_750_000, null, null]);
  });

  test('a configured RTT is not replaced by a measured one', () => {
    expect(portOf('k-max: auto, rtt: 10ms', { rttMs: 99, rest: PROBES }).port.rttNs).toBe(10_000_000);
  });

  test('until it is measured K_max is K_base, which is a problem', () => {
    const { port, problems } = portOf('k-max: auto, rtt: probe', { rest: PROBES });
    expect(port).toMatchObject({ kMax: 64_000, kMin: 32_000, rttNs: null });
    expect(problems).toEqual([
      {
        code: 'ports.rtt-unknown',
        feature: 'ports',
        problem: 'no round-trip time through wan has been measured yet: k-max is k-base, 64000 bytes',
        remedy: expect.stringMatching(/cnpctl show rtt.*STAMP reflector/),
      },
    ]);
  });

  test.each([0, -1, NaN])('a measurement of %d is ignored', (rttMs) => {
    expect(portOf('k-max: auto, rtt: probe', { rttMs, rest: PROBES }).port).toMatchObject({
      kMax: 64_000,
      rttNs: null,
    });
  });

  test('with a fixed K_max only Long-haul CNPs need it, which are one RTT apart', () => {
    expect(portOf('k-max: 100kB', { rest: PROBES }).problems).toEqual([]);
    expect(portOf('k-max: 100kB', { rest: PROBES + LONG_HAUL }).problems).toEqual([
      {
        code: 'ports.rtt-unknown',
        feature: 'ports',
        problem:
          'no round-trip time through wan has been measured yet: ' +
          'Long-haul CNPs for one flow are 20 ms apart (per-flow-interval)',
        remedy: expect.any(String),
      },
    ]);
  });

  test('without measurements there is no problem: `cnpctl doctor` plans without a daemon', () => {
    expect(portOf('k-max: auto, rtt: probe', { rttMs: null, rest: PROBES }).problems).toEqual([]);
  });
});

describe('problems of thresholds, each with a remedy', () => {
  test.each([
    ['htb', /the rate of wan is not known \(its HTB has no classes\): k-max is k-base, 64000 bytes/],
    ['tbf', /the rate of wan is not known \(neither its qdisc nor its driver reports it\)/],
  ])('no rate with %s', (rootKind, problem) => {
    expect(portOf('k-max: auto, rtt: 10ms', { qdisc: { rootKind } }).problems).toEqual([
      {
        code: 'ports.rate-unknown',
        feature: 'ports',
        problem: expect.stringMatching(problem),
        remedy: 'set `bandwidth:` under ports for wan',
      },
    ]);
  });

  test('a computed K_max that the queue never reaches', () => {
    expect(
      portOf('k-max: auto, rtt: 10ms', { qdisc: { rootKind: 'tbf', rateBitPerS: 1e9, limitBytes: 1_000_000 } })
        .problems,
    ).toEqual([
      {
        code: 'ports.never-exceeded',
        feature: 'ports',
        problem: 'k-max of wan (1250000 bytes) is never exceeded: its queue drops at 1000000 bytes',
        remedy: 'lower alpha, or raise the limit of the qdisc above it',
      },
    ]);
  });
});

describe('every threshold is explained, with its inputs', () => {
  const LEVELS = expect.stringMatching(/^levels 0-7 from/);
  test.each<readonly [keys: string, circumstances: Circumstances, lines: readonly unknown[]]>([
    [
      'k-max: auto, bandwidth: 100Gbit, rtt: 10ms',
      {},
      [
        'k-max: 125000000 B = max(k-base 64000 B, alpha 1 × R × RTT / 8 = 125000000 B)',
        '  R: 100 Gbit/s = configured',
        '  RTT: 10 ms = configured',
        'k-min: 62500000 B = k-max / 2',
        LEVELS,
      ],
    ],
    [
      'k-max: auto, rtt: probe',
      { rttMs: 0.0123456, rest: PROBES },
      [
        'k-max: 64000 B = max(k-base 64000 B, alpha 1 × R × RTT / 8 = 1543 B)',
        '  R: 1 Gbit/s = rate of the TBF',
        '  RTT: 0.012 ms = measured',
        'k-min: 32000 B = k-max / 2',
        LEVELS,
      ],
    ],
    [
      'k-max: auto, rtt: probe',
      { rest: PROBES },
      [
        'k-max: 64000 B = k-base, because RTT is not known',
        '  R: 1 Gbit/s = rate of the TBF',
        '  RTT: not measured yet',
        'k-min: 32000 B = k-max / 2',
        LEVELS,
      ],
    ],
    [
      'k-max: auto, rtt: 1ms',
      { qdisc: { rootKind: 'htb' } },
      [
        'k-max: 64000 B = k-base, because R is not known',
        '  R: not known',
        '  RTT: 1 ms = configured',
        'k-min: 32000 B = k-max / 2',
        LEVELS,
      ],
    ],
    [
      'k-max: auto, bandwidth: 100Tbit, rtt: 1s, ecn: off',
      {},
      [
        'k-max: 4000000000 B = max(k-base 64000 B, alpha 1 × R × RTT / 8 = 12500000000000 B), at most 4000000000 B',
        '  R: 100 Tbit/s = configured',
        '  RTT: 1000 ms = configured',
        'k-min: none, no CE marking',
        LEVELS,
      ],
    ],
    [
      'k-max: 100kB, k-min: 1kB, rtt: 3ms, v-ecn: 12.5%, v-growth: 10MB/s',
      {},
      [
        'k-max: 100000 B = configured',
        'k-min: 1000 B = configured',
        'RTT: 3 ms = configured',
        'v-ecn: 12.5 % of the packets in 10 ms = configured',
        'v-growth: 100000 B in 10 ms = configured 10000000 B/s',
        LEVELS,
      ],
    ],
  ])('%s', (keys, circumstances, lines) => {
    expect(portOf(keys, circumstances).port.explanation).toEqual(lines);
  });

  test('so are the instructions of Long-haul CNPs', () => {
    const { explanation } = portOf('k-max: 100kB, rtt: 10ms', { rest: LONG_HAUL }).port;
    expect(explanation.slice(explanation.indexOf('Long-haul CNP, at most one per flow in one RTT:'))).toEqual([
      'Long-haul CNP, at most one per flow in one RTT:',
      '  level 100, notify below k-max',
      '  level 180, rate-reduce 30 % from 100000 B',
      '  level 205, rate-reduce 40 % from 125000 B',
      '  level 230, rate-reduce 50 % from 150000 B',
      '  level 245, rate-reduce 75 % by escalation',
      '  level 255, pause 10000 us by escalation',
    ]);
    expect(portOf('k-max: 100kB', { rest: LONG_HAUL }).port.explanation).toContain(
      'Long-haul CNP, at most one per flow in 20 ms = per-flow-interval:',
    );
  });
});
