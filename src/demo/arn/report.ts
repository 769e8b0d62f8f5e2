// The table and report.html of the scene `arn`: one file, no scripts, nothing loaded. Pure.
import { type Chart, type Curve, chartSvg, escapeXml } from '../chart.ts';
import { CHECK_STYLE, checkList } from '../check-list.ts';
import { htmlLines, htmlPage } from '../page.ts';
import type { Point } from '../results.ts';
import { textTable } from '../table.ts';
import type { ArnReport, ArnResult, WireResult } from './results.ts';
import { PASSES_BPS, type RunName, SERVICES, type ServiceName, WIRES } from './scene.ts';
import { headline } from './sentences.ts';
import { dropsOf, keptOf, repeatedOf } from './verdict.ts';

/** Distinguishable without color vision (Okabe and Ito). */
const COLORS: Readonly<Record<RunName, string>> = { none: '#999999', priority: '#e69f00', service: '#0072b2' };
/** Of ports and wires, from the congested port to the senders. */
const HOPS = ['#d55e00', '#009e73', '#56b4e9'] as const;

const MORE_STYLE = `
.headline { font-size: 1.2rem; line-height: 1.45 } .scroll { overflow-x: auto } .scroll th { vertical-align: bottom }
pre { font-size: 13px; line-height: 1.3; overflow-x: auto }
`;

const FIGURE = `
A: h1 ──┐        WAN: one link, two SRv6 tunnels         ┌── 10 Mbit/s ── h2
       pe1 ───────────────── p ─────────────────── pe2 ──┤
B: h3 ──┘                                                └─────────────── h4
         ◄── ARN: pause ──── ◄── ARN: pause ─────`;

interface Column {
  readonly head: string;
  readonly cell: (run: ArnResult) => string;
}

const mbit = (bps: number): string => (bps / 1e6).toFixed(2);
const wire = ({ wires }: ArnResult, i: number): WireResult => wires.find((each) => each.wire === WIRES[i]!.name)!;
const arns = (run: ArnResult, i: number): string => `${wire(run, i).asks} + ${wire(run, i).ends}`;

const COLUMNS: readonly Column[] = [
  { head: 'run', cell: (r) => r.name },
  { head: 'A, Mbit/s', cell: (r) => mbit(r.services.A.received.togetherBps) },
  { head: 'B alone', cell: (r) => mbit(r.services.B.received.aloneBps) },
  { head: 'B with A', cell: (r) => mbit(r.services.B.received.togetherBps) },
  { head: 'h3 sent', cell: (r) => mbit(r.services.B.sent.togetherBps) },
  { head: 'B delivered, %', cell: (r) => (100 * keptOf(r.services.B)).toFixed(1) },
  { head: 'drops', cell: (r) => String(dropsOf(r)) },
  { head: 'A repeated, %', cell: (r) => (100 * repeatedOf(r.services.A)).toFixed(1) },
  { head: 'ARNs pe2 – p', cell: (r) => arns(r, 0) },
  { head: 'ARNs p – pe1', cell: (r) => arns(r, 1) },
  { head: 'peak queues, kB', cell: (r) => r.ports.map(({ peakBytes }) => (peakBytes / 1000).toFixed(0)).join(' / ') },
];

export const arnTable = (runs: readonly ArnResult[]): string =>
  textTable([COLUMNS.map((c) => c.head), ...runs.map((run) => COLUMNS.map((c) => c.cell(run)))]);

function htmlTable(runs: readonly ArnResult[]): string {
  const row = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`;
  const heads = row(
    'th',
    COLUMNS.map((c) => c.head),
  );
  const cells = (run: ArnResult): string[] => COLUMNS.map((c, i) => (i === 0 ? run.title : c.cell(run)));
  return `<div class="scroll"><table>${heads}${runs.map((run) => row('td', cells(run))).join('')}</table></div>`;
}

interface Plot {
  readonly chart: Chart;
  readonly text: string;
}

/** A count jumps, and stays to the end of the run. */
function steps(points: readonly Point[], end: number): Point[] {
  const out: Point[] = [[0, 0]];
  for (const [t, v] of points) out.push([t, out.at(-1)![1]], [t, v]);
  return [...out, [end, out.at(-1)![1]]];
}

function receivedPlot(runs: readonly ArnResult[], name: ServiceName, xMax: number): Plot {
  const { receiver, sendingRateBps } = SERVICES[name];
  const curves = runs.map((r): Curve => ({
    name: r.title,
    color: COLORS[r.name],
    points: r.services[name].receivedBps,
  }));
  const level = { A: { value: PASSES_BPS, label: 'what the port to h2 passes' }, B: undefined }[name];
  return {
    chart: {
      title: `Service ${name} at ${receiver.node}`,
      ...{ yLabel: 'received in order, Mbit/s', yScale: 1e-6, xUnit: 's', xMax, curves },
      yTop: Math.min(sendingRateBps, PASSES_BPS) * 1.6,
      levels: level ? [level] : [],
      marks: runs.slice(-1).map((r) => ({ t: r.aStartsMs, label: 'service A begins', color: '#555' })),
    },
    text: `Payload, each point over 50 ms or more. What waited during a pause comes at once when it ends.`,
  };
}

function queuePlot(run: ArnResult, xMax: number): Plot {
  const curves = run.ports.map(({ port, bytes }, i): Curve => ({ name: port, color: HOPS[i]!, points: bytes }));
  return {
    chart: {
      title: `Where packets wait: ${run.title}`,
      yLabel: 'bytes in the port’s queue, kB',
      yScale: 1e-3,
      xUnit: 's',
      xMax,
      curves,
    },
    text: run.ports.map(({ port, peakBytes }) => `${port}: up to ${(peakBytes / 1000).toFixed(0)} kB`).join('; ') + '.',
  };
}

function wirePlot(run: ArnResult, xMax: number): Plot {
  const curves = WIRES.flatMap(({ name, asked }, i): Curve[] =>
    asked ? [{ name, color: HOPS[i]!, points: steps(wire(run, i).count, xMax) }] : [],
  );
  return {
    chart: { title: `ARNs: ${run.title}`, yLabel: 'on the wire, total', yScale: 1, xUnit: 's', xMax, curves },
    text: 'Captured where they arrive, and decoded by code that is not the dataplane’s.',
  };
}

const legendOf = (curves: readonly Pick<Curve, 'name' | 'color'>[]): string =>
  `<p class="legend">${curves
    .map(({ name, color }) => `<span><i style="background:${color}"></i>${escapeXml(name)}</span>`)
    .join('')}</p>`;

function plots(runs: readonly ArnResult[]): string {
  const xMax = Math.max(1000, ...runs.map(({ durationMs }) => durationMs));
  const paused = runs.filter(({ name }) => name === 'service');
  const all = [
    receivedPlot(runs, 'B', xMax),
    receivedPlot(runs, 'A', xMax),
    ...paused.flatMap((run) => [queuePlot(run, xMax), wirePlot(run, xMax)]),
  ];
  return all
    .map(
      ({ chart, text }) =>
        `<h2>${escapeXml(chart.title)}</h2>${legendOf(chart.curves)}` +
        `<figure style="margin:0">${chartSvg(chart)}</figure><p class="small">${escapeXml(text)}</p>`,
    )
    .join('\n');
}

export function arnHtml(report: ArnReport): string {
  const { runs, checks } = report;
  const [a, b] = [SERVICES.A, SERVICES.B].map(({ sendingRateBps }) => `${sendingRateBps / 1e6} Mbit/s`);
  const ports = runs[0]?.ports.map(({ port }) => escapeXml(port)).join(', ') ?? 'no port';
  return htmlPage({
    title: report.title,
    ok: report.ok,
    style: CHECK_STYLE + MORE_STYLE,
    lead: `<p class="headline">${escapeXml(headline(runs))}</p>`,
    failures: report.failures,
    checks: checks.length,
    body: `<pre>${escapeXml(FIGURE.trim())}</pre>
<p>h1 sends ${a}, h3 ${b}, over one WAN and in one priority. Neither host has any congestion control: after a gap
each repeats everything from there on, as network cards do that have no selective repeat. pe2 asks its upstream
neighbor p to pause what fills its port to h2, by an ARN (FCN §4.1). p holds that traffic, and asks pe1 when too much
of it waits. The hosts are the same in every run.</p>
${htmlTable(runs)}
<p class="small">Rates are of payload, received in order, while both services send. B delivered: in parts of what its
host has sent in that time, which on a busy machine is less than it was told to. Drops and queues are those of
${ports}: other ports on the way keep no queue. ARNs: those that ask for a pause + those that end one early.</p>
<h2>What was checked</h2>
${checkList(checks)}
${plots(runs)}
<p class="small">${htmlLines(report.evidence)} ${escapeXml(report.path)}. ${escapeXml(report.startedAt)}</p>`,
  });
}
