import { expect, test } from 'vitest';
import { chartSvg, ticks } from './chart.ts';
import { htmlReport } from './html.ts';
import { MODES } from './modes.ts';
import { type DemoReport, type Point, common } from './results.ts';
import { evaluate } from './run.ts';
import { firstCrossing, thin } from './series.ts';
import { table } from './table.ts';

const T0 = 1_000_000;
const spec = MODES.find((m) => m.mode === 'cnpd')!;
const at = (ms: number): number => T0 + ms;
const result = evaluate(spec, {
  sender: [
    { event: 'rate', t: at(50), sentBps: 90e6, rateBps: 100e6 },
    { event: 'rate', t: at(100), sentBps: 40e6, rateBps: 50e6 },
    { event: 'summary', t: at(200), qpn: 77, durationMs: 200, goodputBps: 36e6, retransmitted: 3, firstDataAt: T0 },
  ],
  listener: [{ event: 'summary', t: at(210), cnpsSent: 0 }],
  queue: [[at(-5000), 1e9], [at(0), 0], [at(10), 80_000], [at(20), 120_000], [at(1500), 30_000]],
  drops: 2,
  cnps: [{ t: at(17), opcode: 0x81, destQpn: 77, icrcValid: true, source: '::' }, { t: at(40), opcode: 0x81, destQpn: 77, icrcValid: true, source: '::' }],
});

test('feedback counts from the moment the queue crosses the threshold, between two samples, to the first CNP', () => {
  expect(result.firstFeedbackMs).toBe(2); // 100 kB is crossed at 15 ms
  expect(result.firstCnpAfterDataMs).toBe(17);
});

test('a result holds what the wire, the queue and the endpoints said, since the first data packet', () => {
  expect(result).toMatchObject({ peakQueueBytes: 120_000, drops: 2, goodputBps: 36e6, receiverCnps: 0, cnp: { count: 2, opcode: 0x81, destQpn: 77, expectedQpn: 77, icrcValid: true } });
  expect(result.series.cnps).toEqual([[17, 1], [40, 2]]);
});

test('a run without CNPs has no feedback time and no valid ICRC to show', () => {
  const none = evaluate(spec, { sender: [{ event: 'summary', t: at(1), qpn: 1, durationMs: 1, goodputBps: 0, retransmitted: 0, firstDataAt: T0 }], listener: [], queue: [], drops: 0, cnps: [] });
  expect(none).toMatchObject({ firstFeedbackMs: null, cnp: { count: 0, opcode: null, icrcValid: false } });
});

test('a run whose sender never sent is an error, not a result', () => {
  expect(() => evaluate(spec, { sender: [], listener: [], queue: [], drops: 0, cnps: [] })).toThrow('no data');
});

test('values that differ have nothing in common', () => {
  expect([common([1, 1]), common([1, 2]), common([])]).toEqual([1, null, null]);
});

test('thinning keeps the peaks and the order', () => {
  const points: Point[] = [[0, 5], [1, 9], [2, 1], [12, 4]];
  expect(thin(points, 10)).toEqual([[1, 9], [2, 1], [12, 4]]);
});

test('a level that is never reached is never crossed', () => {
  expect(firstCrossing([[0, 1], [1, 2]], 3)).toBeUndefined();
  expect(firstCrossing([[0, 5]], 3)).toBe(0);
});

test.each([[0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]], [2_000, [0, 500, 1000, 1500, 2000]], [0, [0, 1]]])('the axis up to %d has round steps', (max, expected) => {
  expect(ticks(max, 5)).toEqual(expected);
});

const report: DemoReport = {
  version: 1, startedAt: '2026-01-01T00:00:00.000Z', ok: false, failures: ['<script>alert(1)</script>'], learned: null,
  scene: { sendingRateBps: 1e8, wanRateBps: 4e7, wanDelayMs: 10, queueLimitBytes: 2e6 }, runs: [result],
};

test('the report is one file: nothing is loaded, and text is text', () => {
  const html = htmlReport(report);
  expect(html).not.toMatch(/<script|<link|<img|https?:|@import|url\((?!#)/);
  expect(html).toContain('&lt;script&gt;');
  expect(html.match(/<svg/g)).toHaveLength(4);
  for (const label of ['queue depth, kB', 'rate, Mbit/s', 'time since the first data packet, s', 'CNPs from cnpd']) expect(html).toContain(label);
});

test('a chart stays inside its frame and has no impossible number', () => {
  const svg = chartSvg({ title: 't', yLabel: 'y', xUnit: 's', xMax: 100, yScale: 1, curves: [{ name: 'c', color: '#000', points: [[-5, 1], [0, 0], [50, 7], [500, 9]] }] });
  expect(svg).not.toMatch(/NaN|Infinity/);
  const drawn = [...svg.match(/ d="([^"]*)"/)![1]!.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]);
  expect(drawn).toHaveLength(2);
  expect(drawn.every(([x, y]) => x! >= 64 && x! <= 904 && y! >= 14 && y! <= 222)).toBe(true);
});

test('the table has a line for each run', () => {
  expect(table([result]).trim().split('\n')).toHaveLength(2);
  expect(table([result])).toContain('2.0 ms');
});
