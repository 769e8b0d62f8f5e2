// Endpoint reports, queues and ARNs of the scene `arn` for the tests of its verdict and report: what each run looks
// like when all is well. Rates and counts are those of a real run; in between everything is even.
import type { EndpointEvent } from '../endpoints.ts';
import type { Point } from '../results.ts';
import { type ArnObservations, type EndsSeen, evaluateArn } from './evaluate.ts';
import type { ArnResult, ArnSeen, RouterCounts } from './results.ts';
import { type ArnRun, PAYLOAD_BYTES, PORTS, RUNS, type RunName, WIRES } from './scene.ts';
import { ARN_SOUND } from './wire.ts';

const T0 = 1_000_000;
const A_STARTS = T0 + 2284;
const END = A_STARTS + 5300;
const INTERVAL_MS = 50;

interface ServiceRates {
  readonly sentBps: number;
  readonly receivedBps: number;
  readonly retransmitted?: number;
  readonly outOfOrder?: number;
}

interface Recorded {
  readonly a: ServiceRates;
  readonly b: ServiceRates;
  readonly peaks: readonly number[];
  readonly drops: number;
  /** By wire: ARNs that ask, and that end. */
  readonly arns: readonly (readonly [asks: number, ends: number])[];
  readonly traffic: string;
}

const RECORDED: Readonly<Record<RunName, Recorded>> = {
  none: {
    a: { sentBps: 18_776_363, receivedBps: 4_460_976, retransmitted: 12_606, outOfOrder: 7670 },
    b: { sentBps: 7_508_637, receivedBps: 7_509_185 },
    peaks: [1_499_822, 0, 0],
    drops: 7644,
    arns: [],
    traffic: '',
  },
  priority: {
    a: { sentBps: 17_977_117, receivedBps: 9_296_187 },
    b: { sentBps: 7_164_725, receivedBps: 3_694_149 },
    peaks: [149_872, 570_174, 8_169_018],
    drops: 0,
    arns: [
      [95, 80],
      [393, 96],
    ],
    traffic: 'priority 0',
  },
  service: {
    a: { sentBps: 18_419_903, receivedBps: 9_297_028 },
    b: { sentBps: 7_366_545, receivedBps: 7_366_163 },
    peaks: [136_648, 274_010, 6_310_392],
    drops: 0,
    arns: [
      [112, 62],
      [463, 112],
    ],
    traffic: 'service 2001:db8:ffff::1 to 2001:db8:c2::a',
  },
};

function ends(from: number, rates: ServiceRates): EndsSeen {
  const { sentBps, receivedBps, retransmitted = 0, outOfOrder = 0 } = rates;
  const packets = Math.round((sentBps * (END - from)) / 8000 / PAYLOAD_BYTES);
  const times = Array.from({ length: Math.floor((END - from) / INTERVAL_MS) }, (_, i) => from + (i + 1) * INTERVAL_MS);
  return {
    sender: [
      { event: 'connected', t: from },
      ...times.map((t): EndpointEvent => ({ event: 'rate', t, sentBps })),
      { event: 'summary', t: END, firstDataAt: from, sent: packets, retransmitted },
    ],
    receiver: [
      { event: 'accepted', t: from },
      ...times.map((t): EndpointEvent => ({ event: 'received', t, goodputBps: receivedBps })),
      { event: 'summary', t: END, outOfOrder },
      { event: 'port', t: END, receiveDrops: 0 },
    ],
  };
}

/** First all that ask, at even distances, each wire a little after the one before it; then all that end. */
const arnsOf = ({ arns, traffic }: Recorded): ArnSeen[] =>
  arns.flatMap(([asks, stops], wire) =>
    Array.from({ length: asks + stops }, (_, i): ArnSeen => {
      const type = i < asks ? 'congestion' : 'congestion-eliminated';
      return { t: A_STARTS + 100 + 46 * wire + 8 * i, wire: WIRES[wire]!.name, ...ARN_SOUND, type, traffic };
    }),
  );

/** pe2 asks, p pauses and asks, pe1 pauses. */
const countsOf = ({ arns: [first, second] }: Recorded): RouterCounts[] => [
  { node: 'pe2', asked: first?.[0] ?? 0, paused: 0, extended: 0 },
  { node: 'p', asked: second?.[0] ?? 0, paused: first ? 90 : 0, extended: first ? first[0] - 90 : 0 },
  { node: 'pe1', asked: 0, paused: second ? 115 : 0, extended: second ? second[0] - 115 : 0 },
];

export function arnObservations({ name }: ArnRun): ArnObservations {
  const recorded = RECORDED[name];
  const samples = (peak: number): Point[] => [
    [T0, 0],
    [A_STARTS + 1000, peak],
    [END, 0],
  ];
  return {
    services: { A: ends(A_STARTS, recorded.a), B: ends(T0, recorded.b) },
    ports: PORTS.map((_, i) => ({ samples: samples(recorded.peaks[i]!), drops: i === 0 ? recorded.drops : 0 })),
    arns: arnsOf(recorded),
    routers: countsOf(recorded),
  };
}

export const goodArnResults = (): ArnResult[] => RUNS.map((run) => evaluateArn(run, arnObservations(run)));
