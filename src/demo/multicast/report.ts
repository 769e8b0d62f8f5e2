// The table and report.html of the scene `multicast`: one file, no scripts, nothing loaded. Pure.
import { type Chart, chartSvg, escapeXml } from '../chart.ts';
import { STYLE } from '../html.ts';
import { textTable } from '../table.ts';
import type { MulticastReport, MulticastResult } from './results.ts';
import type { RunName } from './scene.ts';
import { treeSvg } from './tree.ts';

/** Distinguishable without color vision (Okabe and Ito). */
const COLORS: Readonly<Record<RunName, string>> = { unicast: '#999999', group: '#0072b2', 'group-loss': '#e69f00' };

interface Column {
  readonly head: string;
  readonly cell: (run: MulticastResult) => string;
}

const complete = ({ receivers, hash }: MulticastResult): number =>
  receivers.filter((r) => r.complete && r.hash === hash).length;

const COLUMNS: readonly Column[] = [
  { head: 'run', cell: (r) => r.name },
  { head: 'completed in', cell: (r) => (r.completionMs === null ? '–' : `${r.completionMs.toFixed(0)} ms`) },
  { head: 'source’s link, MB', cell: (r) => (r.sourceBytes / 1e6).toFixed(2) },
  { head: 'packets sent', cell: (r) => String(r.sent) },
  { head: 'repeated', cell: (r) => String(r.retransmitted) },
  { head: 'ACKs at the source', cell: (r) => String(r.acks) },
  { head: 'NAKs', cell: (r) => String(r.naks) },
  { head: 'lost', cell: (r) => String(r.receivers.reduce((sum, { lost }) => sum + lost, 0)) },
  { head: 'equal copies', cell: (r) => `${complete(r)} of ${r.receivers.length}` },
];

export const multicastTable = (runs: readonly MulticastResult[]): string =>
  textTable([COLUMNS.map((c) => c.head), ...runs.map((run) => COLUMNS.map((c) => c.cell(run)))]);

function htmlTable(runs: readonly MulticastResult[]): string {
  const row = (tag: string, cells: readonly string[]): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`;
  const heads = row(
    'th',
    COLUMNS.map((c) => c.head),
  );
  const rows = runs.map((run) =>
    row(
      'td',
      COLUMNS.map((c) => c.cell(run)),
    ),
  );
  return `<table>${heads}${rows.join('')}</table>`;
}

function trees(runs: readonly MulticastResult[]): string {
  const most = Math.max(1, ...runs.flatMap(({ links }) => links.map(({ down }) => down)));
  return runs
    .map(
      ({ title, links }) =>
        `<h2>Packets per link: ${escapeXml(title)}</h2>\n` +
        `<figure style="margin:0">${treeSvg(title, links, most)}</figure>`,
    )
    .join('\n');
}

function progressChart(runs: readonly MulticastResult[], bytes: number): Chart {
  const end = Math.max(1000, ...runs.map(({ completionMs }) => completionMs ?? 0));
  return {
    title: 'Confirmed by all receivers together',
    yLabel: 'MB confirmed at the source',
    yScale: 1e-6,
    xUnit: 's',
    xMax: end,
    curves: runs.map(({ name, title, packets, confirmed, receivers }) => {
      // What a group confirms, each of its receivers has; a unicast connection speaks for one.
      const each = (bytes / packets) * (name === 'unicast' ? 1 : receivers.length);
      return { name: title, color: COLORS[name], points: confirmed.map(([t, n]) => [t, n * each] as const) };
    }),
  };
}

export function multicastHtml(report: MulticastReport): string {
  const title = escapeXml(`cnpd: ${report.title}`);
  const outcome = report.ok
    ? '<p class="verdict">All checks passed.</p>'
    : `<p class="verdict bad">${report.failures.map(escapeXml).join('<br>')}</p>`;
  const legend = report.runs.map(
    ({ name, title: text }) => `<span><i style="background:${COLORS[name]}"></i>${escapeXml(text)}</span>`,
  );
  const evidence = report.evidence.map((sentence) => `${escapeXml(sentence)}.`).join('<br>');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head>
<body>
<h1>${title}</h1>
<p>s1 has ${(report.bytes / 1e6).toFixed(0)} MB for five receivers: ${escapeXml(report.path)}. First it sends them to each over a connection of its own, then once, over a connection
to the Proxy Address of a group. The hosts are the same unmodified endpoints each time; the routers make the copies and answer as one receiver.</p>
<p class="small">${evidence} ${escapeXml(report.startedAt)}</p>
${outcome}
${htmlTable(report.runs)}
<p class="small">A copy is equal if its SHA-256 is that of what the source sent, in order and once. Each receiver checks the ICRC of every packet, the address of its peer and its Queue Pair, as a
network card does.</p>
${trees(report.runs)}
<p class="small">Frames by the interfaces’ own counters, those of IS-IS among them. The width of a link is what went down.</p>
<h2>Progress</h2><p class="legend">${legend.join('')}</p>
<figure style="margin:0">${chartSvg(progressChart(report.runs, report.bytes))}</figure>
</body></html>
`;
}
