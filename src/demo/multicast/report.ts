// The table and report.html of the scene `multicast`: one file, no scripts, nothing loaded. Pure.
import { type Chart, chartSvg, escapeXml } from '../chart.ts';
import { CHECK_STYLE, checkList } from '../check-list.ts';
import { htmlLines, htmlPage } from '../page.ts';
import { textTable } from '../table.ts';
import type { MulticastReport, MulticastResult } from './results.ts';
import { RECEIVERS, type RunName, SOURCE_LINK_BPS } from './scene.ts';
import { headline, recovery } from './sentences.ts';
import { treeSvg } from './tree.ts';

/** Distinguishable without color vision (Okabe and Ito). */
const COLORS: Readonly<Record<RunName, string>> = { unicast: '#999999', group: '#0072b2', 'group-loss': '#e69f00' };

/** Besides that of every report: trees side by side where there is room; what is too wide scrolls by itself. */
const MORE_STYLE = `
.headline { font-size: 1.2rem; line-height: 1.45 } .trees { display: grid; gap: 1rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)) }
.trees figure { margin: 0 } .trees figcaption { font-weight: 600 } .scroll { overflow-x: auto } .scroll svg { min-width: 40rem } .scroll th { vertical-align: bottom }
`;

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
  const cells = (run: MulticastResult): string[] => COLUMNS.map((c, i) => (i === 0 ? run.title : c.cell(run)));
  const heads = row(
    'th',
    COLUMNS.map((c) => c.head),
  );
  return `<div class="scroll"><table>${heads}${runs.map((run) => row('td', cells(run))).join('')}</table></div>`;
}

function trees(runs: readonly MulticastResult[]): string {
  const most = Math.max(1, ...runs.flatMap(({ links }) => links.map(({ down }) => down)));
  const figures = runs.map(
    ({ title, links }) => `<figure><figcaption>${escapeXml(title)}</figcaption>${treeSvg(title, links, most)}</figure>`,
  );
  return `<div class="trees">${figures.join('\n')}</div>`;
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

const paragraph = (text: string): string => (text === '' ? '' : `<p>${escapeXml(text)}</p>`);

export function multicastHtml(report: MulticastReport): string {
  const { runs, bytes } = report;
  const legend = runs.map(
    ({ name, title: text }) => `<span><i style="background:${COLORS[name]}"></i>${escapeXml(text)}</span>`,
  );
  return htmlPage({
    title: report.title,
    ok: report.ok,
    style: CHECK_STYLE + MORE_STYLE,
    lead: `<p class="headline">${escapeXml(headline(runs, bytes))}</p>`,
    failures: report.failures,
    checks: report.checks.length,
    body: `<p>RDMA connects two hosts, so a host with ${RECEIVERS.length} receivers sends everything ${RECEIVERS.length} times. Here s1 sends once, over one
connection, to one address for all receivers. The routers make the copies where paths part, each with its receiver’s address, Queue Pair and a valid
checksum (ICRC), and give s1 one answer for all. The hosts’ software is the same in every run, and knows nothing of groups.</p>
${htmlTable(runs)}
<p class="small">A copy is equal if its SHA-256 is that of what the source sent, in order and once. Each receiver checks the ICRC of every packet, the address of its
peer and its Queue Pair, as a network card does. Times are of a shared machine and of a link of ${SOURCE_LINK_BPS / 1e6} Mbit/s; no check depends on them.</p>
<h2>Packets on each link</h2>
${trees(runs)}
<p class="small">↓ from the source, ↑ answers. The width of a link is what went down. s1 is the source; n1 to n6 are routers with cnpd and FRR, of which n6 is the root and
n1, n2 and n3 make the receivers’ copies; r1 to r5 are the receivers. Frames by the interfaces’ own counters, those of IS-IS among them.</p>
<h2>Loss, and recovery</h2>
${paragraph(recovery(runs))}
<h2>Progress</h2><p class="legend">${legend.join('')}</p>
<div class="scroll">${chartSvg(progressChart(runs, bytes))}</div>
<p class="small">What all receivers together have confirmed to the source.</p>
<h2>What was checked</h2>
${checkList(report.checks)}
<p class="small">${htmlLines(report.evidence)}<br>${escapeXml(report.startedAt)}</p>`,
  });
}
