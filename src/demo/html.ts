// report.html: one file, no scripts, nothing loaded; opens in any browser, also from an archive. Pure.
import { type Chart, type Curve, chartSvg, escapeXml } from './chart.ts';
import type { Mode } from './modes.ts';
import type { DemoReport, Point, RunResult } from './results.ts';

/** Distinguishable without colour vision (Okabe and Ito). */
const COLORS: Readonly<Record<Mode, string>> = { none: '#999999', receiver: '#e69f00', cnpd: '#0072b2' };
const ZOOM_MS = 400;

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left } th { font-weight: 600 }
.verdict { padding: .5rem .8rem; border-left: 4px solid #2a7d2a; background: #f1f8f1 } .verdict.bad { border-color: #b00020; background: #fdf1f2 }
.legend span { display: inline-block; margin-right: 1.4rem } .legend i { display: inline-block; width: 1.6em; height: .25em; margin-right: .4em; vertical-align: middle }
svg { width: 100%; height: auto } .grid { stroke: #e6e6e6 } .axis { stroke: #555 } .level { stroke: #b00020; stroke-dasharray: 2 3 }
.tick { font-size: 11px; fill: #444 } .label { font-size: 12px; fill: #222 } .note { font-size: 11px; fill: #555 } p.small { color: #555; font-size: .9rem; margin-top: .2rem }
`;

interface Cell {
  readonly head: string;
  readonly of: (r: RunResult) => string;
}

const hex = (value: number | null): string => (value === null ? '–' : `0x${value.toString(16)}`);
const CELLS: readonly Cell[] = [
  { head: 'run', of: (r) => r.title },
  { head: 'first feedback, ms', of: (r) => (r.firstFeedbackMs === null ? '–' : r.firstFeedbackMs.toFixed(1)) },
  { head: 'peak queue, kB', of: (r) => (r.peakQueueBytes / 1000).toFixed(0) },
  { head: 'peak after 1 s, kB', of: (r) => (r.settledPeakQueueBytes / 1000).toFixed(0) },
  { head: 'drops', of: (r) => String(r.drops) },
  { head: 'sent again', of: (r) => String(r.retransmitted) },
  { head: 'goodput, Mbit/s', of: (r) => (r.goodputBps / 1e6).toFixed(1) },
  { head: 'CNPs', of: (r) => String(r.cnp.count) },
  { head: 'for Queue Pair (h1’s)', of: (r) => (r.cnp.count === 0 ? '–' : `${hex(r.cnp.destQpn)} (${hex(r.cnp.expectedQpn)})`) },
  { head: 'ICRC', of: (r) => (r.cnp.count === 0 ? '–' : r.cnp.icrcValid ? 'valid' : 'WRONG') },
];

function runTable(runs: readonly RunResult[]): string {
  const row = (tag: string, cells: readonly string[]): string => `<tr>${cells.map((c) => `<${tag}>${escapeXml(c)}</${tag}>`).join('')}</tr>`;
  return `<table>${row('th', CELLS.map((c) => c.head))}${runs.map((r) => row('td', CELLS.map((c) => c.of(r)))).join('')}</table>`;
}

type SeriesName = keyof RunResult['series'];

function curves(runs: readonly RunResult[], name: SeriesName, change: (points: readonly Point[], run: RunResult) => readonly Point[] = (p) => p): Curve[] {
  return runs.map((r) => ({ name: r.title, color: COLORS[r.mode], points: change(r.series[name], r) }));
}

/** A count jumps: from one value to the next at the moment of the change, and stays to the end of the run. */
function steps(points: readonly Point[], run: RunResult): Point[] {
  const out: Point[] = [[0, 0]];
  for (const [t, v] of points) out.push([t, out.at(-1)![1]], [t, v]);
  return [...out, [run.durationMs, out.at(-1)![1]]];
}

function charts(report: DemoReport): { chart: Chart; text: string }[] {
  const { runs, scene } = report;
  const xMax = Math.max(1000, ...runs.map((r) => r.durationMs));
  const controlled = runs.filter((r) => r.mode !== 'none');
  const queue = { yLabel: 'queue depth, kB', yScale: 1 / 1000 };
  const yTop = 1.3 * Math.max(1000, ...controlled.map((r) => r.peakQueueBytes));
  const full = { xUnit: 's' as const, xMax };
  const marks = controlled.flatMap((r) => (r.firstCnpAfterDataMs === null ? [] : [{ t: r.firstCnpAfterDataMs, label: `first CNP at h1 (${r.mode}): ${r.firstCnpAfterDataMs.toFixed(1)} ms`, color: COLORS[r.mode] }]));
  return [
    {
      chart: { title: 'Queue depth at p1’s WAN port', ...queue, ...full, curves: curves(runs, 'queueBytes'), levels: [{ value: scene.queueLimitBytes, label: 'limit of the queue' }] },
      text: 'Read from the kernel’s own counter of the queue every few milliseconds.',
    },
    {
      chart: { title: `The first ${ZOOM_MS} ms`, ...queue, xUnit: 'ms', xMax: ZOOM_MS, yTop, curves: curves(runs, 'queueBytes'), marks },
      text: 'The same queue as the overload begins; the uncontrolled run leaves the picture at the top. Dashed: when the first CNP arrived on h1’s wire.',
    },
    {
      chart: { title: 'Sending rate of h1', yLabel: 'rate, Mbit/s', yScale: 1e-6, ...full, curves: curves(runs, 'sentBps'), levels: [{ value: scene.wanRateBps, label: 'what the WAN drains' }] },
      text: 'Payload that h1 puts on its wire, repetitions included, each point over 50 ms.',
    },
    {
      chart: { title: 'Congestion notifications', yLabel: 'CNPs on h1’s wire, total', yScale: 1, ...full, curves: curves(controlled, 'cnps', steps) },
      text: 'Captured at h1 and decoded by code that is not the dataplane’s. In the cnpd run the receiver sends none, so that every one is cnpd’s.',
    },
  ];
}

export function htmlReport(report: DemoReport): string {
  const { runs, learned } = report;
  const legend = `<p class="legend">${runs.map((r) => `<span><i style="background:${COLORS[r.mode]}"></i>${escapeXml(r.title)}</span>`).join('')}</p>`;
  const outcome = report.ok ? '<p class="verdict">All checks passed.</p>' : `<p class="verdict bad">${report.failures.map(escapeXml).join('<br>')}</p>`;
  const mapping = learned
    ? `p1 learned over ${escapeXml(learned.carrier)} (${escapeXml(learned.originator)}) that ${escapeXml(learned.proxy)} is the proxy for ${escapeXml(learned.prefix)}.`
    : 'p1 learned no proxy for h1.';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>cnpd demo</title><style>${STYLE}</style></head>
<body>
<h1>cnpd: Fast CNP with Proxy, over IS-IS and unmodified FRR</h1>
<p>h1 – leaf1 – p1 ═ WAN ${report.scene.wanRateBps / 1e6} Mbit/s, ${report.scene.wanDelayMs} ms each way ═ p2 – leaf2 – h2. h1 sends RoCEv2 to h2 at ${report.scene.sendingRateBps / 1e6} Mbit/s. ${mapping}
${escapeXml(report.startedAt)}</p>
${outcome}
${runTable(runs)}
<p class="small">First feedback: from the moment the queue crosses the threshold of its run to the first CNP on h1’s wire.</p>
${charts(report).map(({ chart, text }) => `<h2>${escapeXml(chart.title)}</h2>${legend}<figure style="margin:0">${chartSvg(chart)}</figure><p class="small">${escapeXml(text)}</p>`).join('\n')}
</body></html>
`;
}
