// report.html: one file, no scripts, nothing loaded; opens in any browser, also from an archive. Pure.
import { type Chart, type Curve, chartSvg, escapeXml } from './chart.ts';
import { htmlLines, htmlPage } from './page.ts';
import type { DemoReport, Point, PortResult, RunResult } from './results.ts';
import type { Mode } from './results.ts';
import { COLUMNS, type Column } from './table.ts';

/** Distinguishable without color vision (Okabe and Ito). */
const COLORS: Readonly<Record<Mode, string>> = { none: '#999999', receiver: '#e69f00', cnpd: '#0072b2' };
const ZOOM_MS = 400;

const hex = (value: number | null): string => (value === null ? '–' : `0x${value.toString(16)}`);
const orDash = (r: RunResult, text: string): string => (r.notifications.count === 0 ? '–' : text);

/** What the closing table leaves out. */
const MORE: readonly Column[] = [
  {
    head: 'for Queue Pair (the connection’s)',
    cell: (r) => orDash(r, `${hex(r.notifications.queuePair)} (${hex(r.notifications.expectedQueuePair)})`),
  },
  { head: 'ICRC or checksum', cell: (r) => orDash(r, r.notifications.valid ? 'valid' : 'WRONG') },
  { head: 'held back', cell: (r) => r.ports.map((p) => String(p.counted.deferred)).join(' / ') },
];

function runTable(runs: readonly RunResult[]): string {
  const row = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((c) => `<${tag}>${escapeXml(c)}</${tag}>`).join('')}</tr>`;
  const columns = [...COLUMNS, ...MORE];
  return `<table>${row(
    'th',
    columns.map((c) => c.head),
  )}${runs
    .map((r) =>
      row(
        'td',
        columns.map((c) => c.cell(r)),
      ),
    )
    .join('')}</table>`;
}

/** Who sent what on the sender's wire. */
function speakers(runs: readonly RunResult[]): string {
  const line = (run: RunResult): string[] =>
    run.notifications.nodes.map(({ node, count, firstMs, actions }) => {
      const list = Object.entries(actions)
        .map(([action, n]) => `${n} ${action}`)
        .join(', ');
      return `${run.mode}: ${node} sent ${count}${list && ` (${list})`}, the first at ${firstMs.toFixed(1)} ms`;
    });
  return `<ul>${runs
    .flatMap(line)
    .map((text) => `<li>${escapeXml(text)}</li>`)
    .join('')}</ul>`;
}

type Points = (run: RunResult) => readonly Point[];

function curves(runs: readonly RunResult[], points: Points): Curve[] {
  return runs.map((r) => ({ name: r.title, color: COLORS[r.mode], points: points(r) }));
}

/** A count jumps: from one value to the next at the moment of the change, and stays to the end of the run. */
function steps(points: readonly Point[], run: RunResult): Point[] {
  const out: Point[] = [[0, 0]];
  for (const [t, v] of points) out.push([t, out.at(-1)![1]], [t, v]);
  return [...out, [run.durationMs, out.at(-1)![1]]];
}

interface Plot {
  readonly chart: Chart;
  readonly text: string;
}

const firstNotification = ({ mode, firstNotificationMs: ms }: RunResult): NonNullable<Chart['marks']>[number][] =>
  ms === null
    ? []
    : [{ t: ms, label: `first notification at the sender (${mode}): ${ms.toFixed(1)} ms`, color: COLORS[mode] }];

/** The queue of one port: the whole of it, and its beginning. */
function queueCharts(report: DemoReport, port: DemoReport['ports'][number], xMax: number): Plot[] {
  const { runs } = report;
  const controlled = runs.filter((r) => r.mode !== 'none');
  const result = (r: RunResult): PortResult => r.ports.find((p) => p.port === port.name)!;
  const queue = {
    yLabel: 'queue depth, kB',
    yScale: 1 / 1000,
    curves: curves(runs, (r) => r.series.queueBytes[port.name]!),
  };
  const yTop = 1.3 * Math.max(1000, ...controlled.map((r) => result(r).peakQueueBytes));
  const marks = controlled.flatMap(firstNotification);
  const levels = controlled.flatMap((r) =>
    result(r).kMax === null ? [] : [{ value: result(r).kMax!, label: `K_max (${r.mode})` }],
  );
  return [
    {
      chart: {
        title: `Queue depth at ${port.name}`,
        ...queue,
        xUnit: 's',
        xMax,
        levels: [{ value: port.queueLimitBytes, label: 'limit of the queue' }],
      },
      text: 'Read from the kernel’s own counter of the queue every few milliseconds.',
    },
    {
      chart: {
        title: `The first ${ZOOM_MS} ms at ${port.name}`,
        ...queue,
        xUnit: 'ms',
        xMax: ZOOM_MS,
        yTop,
        marks,
        levels,
      },
      text:
        'The same queue as the overload begins; the uncontrolled run leaves the picture at the top. Dashed: ' +
        'when the first notification arrived on the sender’s wire.',
    },
  ];
}

function charts(report: DemoReport): Plot[] {
  const { runs } = report;
  const xMax = Math.max(1000, ...runs.map((r) => r.durationMs));
  const full = { xUnit: 's' as const, xMax };
  const bottleneck = Math.min(...report.ports.map((port) => port.rateBps));
  return [
    ...report.ports.flatMap((port) => queueCharts(report, port, xMax)),
    {
      chart: {
        title: 'Sending rate',
        yLabel: 'rate, Mbit/s',
        yScale: 1e-6,
        ...full,
        curves: curves(runs, (r) => r.series.sentBps),
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
        curves: curves(
          runs.filter((r) => r.mode !== 'none'),
          (r) => steps(r.series.notifications, r),
        ),
      },
      text:
        'Captured at the sender and decoded by code that is not the dataplane’s. ' +
        'In the cnpd run the receiver sends none, so that every one is cnpd’s.',
    },
  ];
}

export function htmlReport(report: DemoReport): string {
  const { runs } = report;
  const entries = runs.map((r) => `<span><i style="background:${COLORS[r.mode]}"></i>${escapeXml(r.title)}</span>`);
  const legend = `<p class="legend">${entries.join('')}</p>`;
  return htmlPage({
    title: report.title,
    ok: report.ok,
    lead:
      `<p>${escapeXml(report.path)}. The sender sends RoCEv2 at ${report.sendingRateBps / 1e6} Mbit/s. ` +
      `${htmlLines(report.evidence)} ${escapeXml(report.startedAt)}</p>`,
    failures: report.failures,
    body: `${runTable(runs)}
<p class="small">First feedback: from the moment the queue of ${escapeXml(report.ports[0]!.name)} crosses the threshold of its run to the first notification on the sender’s wire; with ≤ no sample shows the
crossing, and it is an upper bound. Where there are several values, they are those of ${escapeXml(report.ports.map((p) => p.name).join(', '))}.</p>
${speakers(runs)}
${charts(report)
  .map(
    ({ chart, text }) =>
      `<h2>${escapeXml(chart.title)}</h2>${legend}` +
      `<figure style="margin:0">${chartSvg(chart)}</figure><p class="small">${escapeXml(text)}</p>`,
  )
  .join('\n')}`,
  });
}
