// report.html: one file, no scripts, nothing loaded; opens in any browser, also from an archive. Pure.
import { type Chart, type Curve, chartSvg, escapeXml } from './chart.ts';
import type { DemoReport, Point, PortResult, RunResult } from './results.ts';
import type { Mode } from './results.ts';
import { COLUMNS, type Column } from './table.ts';

/** Distinguishable without color vision (Okabe and Ito). */
const COLORS: Readonly<Record<Mode, string>> = { none: '#999999', receiver: '#e69f00', cnpd: '#0072b2' };
const ZOOM_MS = 400;

/** Of every report. */
export const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left } th { font-weight: 600 }
.verdict { padding: .5rem .8rem; border-left: 4px solid #2a7d2a; background: #f1f8f1 } .verdict.bad { border-color: #b00020; background: #fdf1f2 }
.legend span { display: inline-block; margin-right: 1.4rem } .legend i { display: inline-block; width: 1.6em; height: .25em; margin-right: .4em; vertical-align: middle }
svg { width: 100%; height: auto } .grid { stroke: #e6e6e6 } .axis { stroke: #555 } .level { stroke: #b00020; stroke-dasharray: 2 3 }
.tick { font-size: 11px; fill: #444 } .label { font-size: 12px; fill: #222 } .note { font-size: 11px; fill: #555 } p.small { color: #555; font-size: .9rem; margin-top: .2rem }
`;

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
  const title = escapeXml(`cnpd: ${report.title}`);
  const entries = runs.map((r) => `<span><i style="background:${COLORS[r.mode]}"></i>${escapeXml(r.title)}</span>`);
  const legend = `<p class="legend">${entries.join('')}</p>`;
  const outcome = report.ok
    ? '<p class="verdict">All checks passed.</p>'
    : `<p class="verdict bad">${report.failures.map(escapeXml).join('<br>')}</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body>
<h1>${title}</h1>
<p>${escapeXml(report.path)}. The sender sends RoCEv2 at ${report.sendingRateBps / 1e6} Mbit/s. ${report.evidence.map((sentence) => `${escapeXml(sentence)}.`).join('<br>')} ${escapeXml(report.startedAt)}</p>
${outcome}
${runTable(runs)}
<p class="small">First feedback: from the moment the queue of ${escapeXml(report.ports[0]!.name)} crosses the threshold of its run to the first notification on the sender’s wire; with ≤ no sample shows the
crossing, and it is an upper bound. Where there are several values, they are those of ${escapeXml(report.ports.map((p) => p.name).join(', '))}.</p>
${speakers(runs)}
${charts(report)
  .map(
    ({ chart, text }) =>
      `<h2>${escapeXml(chart.title)}</h2>${legend}` +
      `<figure style="margin:0">${chartSvg(chart)}</figure><p class="small">${escapeXml(text)}</p>`,
  )
  .join('\n')}
</body></html>
`;
}
