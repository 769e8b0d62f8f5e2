// The plots of a report: queues, sending rate, notifications. Pure.
import { type Chart, type Curve, chartSvg, escapeXml } from './chart.ts';
import { firstFeedback } from './measures.ts';
import type { DemoReport, DemoRun, Mode, Point, PortResult } from './results.ts';
import { modesOf, ofMode, typical } from './spread.ts';

/** Distinguishable without color vision (Okabe and Ito; blue a little lighter, for dark pages). */
const COLORS: Readonly<Record<Mode, string>> = {
  none: '#8a8f96',
  receiver: '#e69f00',
  paced: '#009e73',
  cnpd: '#1f88d1',
};
const ZOOM_MS = 400;
/** Below, a queue is as good as empty: a packet of 1 kB. */
const FLOOR_BYTES = 1000;

type Points = (run: DemoRun) => readonly Point[];

/** One run of every kind: the repetition in the middle. */
const typicalRuns = (runs: readonly DemoRun[]): DemoRun[] =>
  modesOf(runs).map((mode) => typical(ofMode(runs, mode), firstFeedback));

const curve = (run: DemoRun, points: Points, faint = false): Curve => ({
  name: run.title,
  color: COLORS[run.mode],
  points: points(run),
  faint,
});

/** A count jumps: from one value to the next at the moment of the change, and stays to the end of the run. */
function steps(points: readonly Point[], run: DemoRun): Point[] {
  const out: Point[] = [[0, 0]];
  for (const [t, v] of points) out.push([t, out.at(-1)![1]], [t, v]);
  return [...out, [run.durationMs, out.at(-1)![1]]];
}

interface Plot {
  readonly chart: Chart;
  readonly text: string;
}

const firstNotification = ({ mode, firstNotificationMs: ms }: DemoRun): NonNullable<Chart['marks']>[number][] =>
  ms === null
    ? []
    : [{ t: ms, label: `first notification at the sender (${mode}): ${ms.toFixed(1)} ms`, color: COLORS[mode] }];

/** The beginning, with all repetitions: there they have to be alike. */
function onset(report: DemoReport, port: DemoReport['ports'][number]): Plot {
  const result = (run: DemoRun): PortResult => run.ports.find((p) => p.port === port.name)!;
  const middle = new Set(typicalRuns(report.runs));
  const controlled = [...middle].filter((run) => run.mode !== 'none');
  const points: Points = (run) => run.series.queueBytes[port.name]!;
  const levels = [...middle].flatMap((run) =>
    result(run).kMax === null ? [] : [{ value: result(run).kMax!, label: `K_max (${run.mode})` }],
  );
  return {
    chart: {
      title: `The first ${ZOOM_MS} ms at ${port.name}`,
      yLabel: 'queue depth, kB',
      yScale: 1 / 1000,
      curves: report.runs
        .toSorted((a, b) => Number(middle.has(a)) - Number(middle.has(b)))
        .map((run) => curve(run, points, !middle.has(run))),
      xUnit: 'ms',
      xMax: ZOOM_MS,
      yTop: 1.3 * Math.max(1000, ...controlled.map((run) => result(run).peakQueueBytes)),
      marks: [...middle].flatMap(firstNotification),
      levels,
    },
    text:
      'The queue as the overload begins, in all repetitions; some runs leave the picture at the top. ' +
      'Dashed: when the first notification arrived on the sender’s wire.',
  };
}

const whole = (runs: readonly DemoRun[], port: DemoReport['ports'][number], xMax: number): Plot => ({
  chart: {
    title: `Queue depth at ${port.name}`,
    yLabel: 'queue depth, kB (logarithmic)',
    yScale: 1 / 1000,
    yFloor: FLOOR_BYTES,
    curves: runs.map((run) => curve(run, (r) => r.series.queueBytes[port.name]!)),
    xUnit: 's',
    xMax,
    levels: [{ value: port.queueLimitBytes, label: 'limit of the queue' }],
  },
  text: 'Read from the kernel’s own counter of the queue every few milliseconds. An empty queue lies on the axis.',
});

function plots(report: DemoReport): Plot[] {
  const runs = typicalRuns(report.runs);
  const xMax = Math.max(1000, ...runs.map((r) => r.durationMs));
  const full = { xUnit: 's' as const, xMax };
  const bottleneck = Math.min(...report.ports.map((port) => port.rateBps));
  return [
    ...report.ports.flatMap((port) => [onset(report, port), whole(runs, port, xMax)]),
    {
      chart: {
        title: 'Sending rate',
        yLabel: 'rate, Mbit/s',
        yScale: 1e-6,
        ...full,
        curves: runs.map((run) => curve(run, (r) => r.series.sentBps)),
        levels: [{ value: bottleneck, label: 'what the path drains' }],
      },
      text: 'Payload that the sender puts on its wire, repetitions included, each point over 50 ms.',
    },
    {
      chart: {
        title: 'Congestion notifications',
        yLabel: 'on the sender’s wire, total',
        yScale: 1,
        ...full,
        curves: runs
          .filter((run) => run.mode !== 'none')
          .map((run) => curve(run, (r) => steps(r.series.notifications, r))),
      },
      text:
        'Captured at the sender and decoded by code that is not the dataplane’s. How many there are is mostly a matter ' +
        'of the interval, 50 µs or 20 ms. In the cnpd run the receiver sends none.',
    },
  ];
}

export function htmlPlots(report: DemoReport): string {
  const entries = typicalRuns(report.runs).map(
    (run) => `<span><i style="background:${COLORS[run.mode]}"></i>${escapeXml(run.title)}</span>`,
  );
  const legend = `<p class="legend">${entries.join('')}</p>`;
  return plots(report)
    .map(
      ({ chart, text }) =>
        `<h2>${escapeXml(chart.title)}</h2>${legend}` +
        `<figure style="margin:0">${chartSvg(chart)}</figure><p class="small">${escapeXml(text)}</p>`,
    )
    .join('\n');
}
