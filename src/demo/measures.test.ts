import { expect, test } from 'vitest';
import { compare, firstFeedback, headline, notBetter } from './measures.ts';
import { observations } from './observations.ts';
import type { DemoRun, Mode, PortResult, RunResult } from './results.ts';
import { goodRun, portResult, repeated } from './runs.fixture.ts';
import { proxy } from './scenes/proxy.ts';
import { type Spread, spreadOf, typical } from './spread.ts';

const runOf = (mode: Mode, firstFeedbackMs: number, goodputBps: number): RunResult =>
  goodRun(proxy, mode, 'cnp', { firstFeedbackMs, goodputBps });
const PORTS = { ports: [{ name: 'p1 eth2', rateBps: 4e7, queueLimitBytes: 2e6 }] };
const withPort = (mode: Mode, change: Partial<PortResult>): DemoRun[] =>
  repeated([goodRun(proxy, mode, 'cnp', { ports: [portResult('p1 eth2', change)] })]);
const pairs = (cnpd: readonly [number, number][], other: readonly [number, number][]): DemoRun[] => [
  ...cnpd.flatMap(([ms, bps]) => repeated([runOf('cnpd', ms, bps)])),
  ...other.flatMap(([ms, bps]) => repeated([runOf('receiver', ms, bps)])),
];

test('cnpd is better only where every repetition is; where it is not, the report says so', () => {
  const runs = pairs(
    [
      [1, 26e6],
      [2, 27e6],
    ],
    [
      [30, 28e6],
      [31, 29e6],
    ],
  );
  const sentences = notBetter(runs).join('\n');
  expect(sentences).not.toContain('first feedback');
  expect(sentences).toContain('goodput, against the receiver at 50 µs: worse (cnpd 26.0 Mbit/s to 27.0 Mbit/s');
  expect(sentences).toContain('peak queue, against the receiver at 50 µs: within the spread');
  expect(headline(runs)).toMatch(/1\.5 ms after .* takes 30\.5 ms/);
  expect(headline(runs.slice(0, 1))).toBeUndefined();
  expect(notBetter(pairs([[1, 26e6]], [[1, 26e6]])).join()).toContain('first feedback');
});

test('the headline has of queue and settling what is less, names overlaps, and calls a bound a bound', () => {
  const run = (mode: Mode, peakQueueBytes: number, settledMs: number): DemoRun[] =>
    repeated([
      goodRun(proxy, mode, 'cnp', {
        ports: [portResult('p1 eth2', { peakQueueBytes })],
        settledMs,
        feedbackIsBound: mode === 'cnpd',
      }),
    ]);
  const text = headline([...run('cnpd', 150_000, 80), ...run('receiver', 340_000, 80)]);
  expect(text).toContain('reaches the sender, in the median, at most 1.0 ms after');
  expect(text).toContain('That of the receiver takes 33.0 ms. The queue peaks at 150 kB instead of 340 kB.');
  expect(text).not.toContain('settled');
  const spread = [3, 1, 9].flatMap((firstFeedbackMs) => repeated([runOf('cnpd', firstFeedbackMs, 1)]));
  expect(headline([...spread, ...run('receiver', 340_000, 80)])).toContain('deep (1.0 to 9.0 ms). That of');
  const overlapping = [
    ...[80, 200].flatMap((settledMs) => run('cnpd', 150_000, settledMs)),
    ...[190, 210].flatMap((settledMs) => run('receiver', 340_000, settledMs)),
  ];
  expect(headline(overlapping)).toContain('settled after 140 ms instead of 200 ms, though repetitions overlap.');
});

test('what a busy machine did is reported', () => {
  const said = (runs: readonly DemoRun[]): string => observations(runs, PORTS).join('\n');
  const busy = withPort('cnpd', {}).map((run) => ({ ...run, cpuBusy: 0.97 }));
  expect(said(busy)).toContain('97 % to 97 % busy: that makes times longer');
  expect(said(withPort('cnpd', {}))).not.toContain('makes times longer');
  expect(said(withPort('none', { drops: 0 }))).toContain('did not overflow in 1 of 1 runs');
  expect(said(withPort('cnpd', { peakQueueBytes: 500_000 }))).toContain('reached a fifth of its limit in 1 of 1 runs');
});

test('the repetition in the middle stands for a kind of run; an even number has the mean of two', () => {
  const runs = [30, 7, 9, 8].map((firstFeedbackMs) => repeated([runOf('cnpd', firstFeedbackMs, 1)])[0]!);
  expect(spreadOf(runs, firstFeedback)).toEqual({ median: 8.5, least: 7, most: 30 });
  expect(typical(runs, firstFeedback).firstFeedbackMs).toBe(8);
  expect(
    spreadOf(
      runs.map((run) => ({ ...run, firstFeedbackMs: null })),
      firstFeedback,
    ),
  ).toBeUndefined();
});

test('what is compared is better only beyond the spread', () => {
  const spread = (least: number, most: number): Spread => ({ median: least, least, most });
  expect(compare(spread(1, 2), spread(3, 4), 'less')).toBe('better');
  expect(compare(spread(1, 2), spread(3, 4), 'more')).toBe('worse');
  expect(compare(spread(1, 3), spread(3, 4), 'less')).toBe('within the spread');
});
