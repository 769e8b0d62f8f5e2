// report.html: one file, no scripts, nothing loaded; opens in any browser, also from an archive. Pure.
import { escapeXml } from './chart.ts';
import { CHECK_STYLE, checkList } from './check-list.ts';
import { drawingSvg } from './drawing.ts';
import { SETTLED_HOLD_MS } from './evaluate.ts';
import { headline, notBetter } from './measures.ts';
import { observations } from './observations.ts';
import { htmlLines, htmlPage } from './page.ts';
import { htmlPlots } from './plots.ts';
import type { DemoReport, DemoRun, NodeNotifications } from './results.ts';
import { modesOf, ofMode } from './spread.ts';
import { type Cell, HEADS, linesOf } from './table.ts';

const STYLE = `
.drawing { margin: .5rem 0 }
.drawing .node { fill: var(--raised); stroke: var(--soft) }
.drawing .role { stroke: #1f88d1; stroke-width: 2 }
.drawing .name { font-size: 16px; font-weight: 600; fill: var(--ink) }
.drawing .note { font-size: 14px }
.drawing .link { stroke: var(--soft); stroke-width: 2 }
.drawing .wan { stroke: var(--soft); stroke-width: 5 }
.runs small { display: block; color: var(--soft); font-size: .8em; font-weight: 400; white-space: nowrap }
.runs td:last-child, .runs th:last-child { font-weight: 600 }
.runs thead th { line-height: 1.25 }
@media (max-width: 600px) {
  .runs { font-size: 12.5px }
  .runs th, .runs td { padding: .3rem .2rem }
  body { padding: 0 .6rem }
  .drawing .name { font-size: 22px }
  .drawing .note { font-size: 20px }
}
details { margin: 1rem 0 }
summary { cursor: pointer }
`;

function runTable(runs: readonly DemoRun[]): string {
  const modes = modesOf(runs);
  const heads = modes.map((mode) => `<th scope="col">${escapeXml(HEADS[mode])}</th>`).join('');
  const cellHtml = ({ value, range }: Cell): string =>
    `<td>${escapeXml(value)}${range && `<small>${escapeXml(range)}</small>`}</td>`;
  const rows = linesOf(runs).map(
    ({ head, cell }) =>
      `<tr><th scope="row">${escapeXml(head)}</th>${modes.map((mode) => cellHtml(cell(ofMode(runs, mode)))).join('')}</tr>`,
  );
  return `<table class="runs"><thead><tr><th></th>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

/** A proxy sends with the receiver's address: no address says who it was, and the configuration of the run does. */
function speaker({ mode }: DemoRun, { node }: NodeNotifications, report: DemoReport): string {
  const name = report.names[node] ?? node;
  return mode === 'cnpd' && report.proxy !== null && name === report.receiver
    ? `${report.proxy}, in ${name}’s name`
    : name;
}

/** Who sent what on the sender's wire. */
function speakers(report: DemoReport): string {
  const several = report.runs.some(({ repetition }) => repetition > 1);
  const line = (run: DemoRun): string[] =>
    run.notifications.nodes.map((sent) => {
      const list = Object.entries(sent.actions)
        .map(([action, n]) => `${n} ${action}`)
        .join(', ');
      const which = `${HEADS[run.mode]}${several ? `, repetition ${run.repetition}` : ''}`;
      return (
        `${which}: ${sent.count} from ${speaker(run, sent, report)}${list && ` (${list})`}, ` +
        `the first ${sent.firstMs.toFixed(1)} ms after the first data packet`
      );
    });
  const items = report.runs.flatMap(line).map((text) => `<li>${escapeXml(text)}</li>`);
  return `<details><summary>Who sent the notifications on the sender’s wire</summary><ul>${items.join('')}</ul></details>`;
}

function reservations(report: DemoReport): string {
  const items = notBetter(report.runs).map((text) => `<li>${escapeXml(text)}</li>`);
  return items.length === 0
    ? ''
    : `<h2>Where cnpd is not better beyond the spread</h2><ul>${items.join('')}</ul>
<p class="small">Within the spread: the repetitions of one reach those of the other.</p>`;
}

const checks = (report: DemoReport): string =>
  report.checks.length === 0
    ? ''
    : `<h2>What was checked</h2>${checkList(report.checks)}
<p class="small">What a busy machine cannot change is checked; of the queue, the best run, since load improves none. Times are reported.</p>`;

function origin({ machine, startedAt, path }: DemoReport): string {
  const [before, after] = machine.load.map((load) => load.toFixed(2));
  return (
    `${machine.kernel}, ${machine.cpus} processors, Node.js ${machine.node}, cnpd ${machine.cnpd}. ` +
    `Load ${before} before the runs and ${after} after them. ${path}. ${startedAt}`
  );
}

const explanation = (report: DemoReport): string => {
  const [first] = report.ports;
  const middle = report.runs.some(({ repetition }) => repetition > 1)
    ? 'Each figure is the middle one of the repetitions; below it, from where to where they reach. '
    : '';
  return (
    `${middle}First feedback: from the moment the queue of ${first!.name} crosses the threshold of its run to the first ` +
    'notification on the sender’s wire. With ≤, no sample shows the crossing, and it is an upper bound. ' +
    'Settled: from the first data packet until the queue is below K_min for ' +
    `${SETTLED_HOLD_MS} ms.`
  );
};

export function htmlReport(report: DemoReport): string {
  const first = headline(report.runs);
  return htmlPage({
    title: report.title,
    style: CHECK_STYLE + STYLE,
    ok: report.ok,
    ...(report.checks.length > 0 && { checks: report.checks.length }),
    lead: first === undefined ? '' : `<p class="headline">${escapeXml(first)}</p>`,
    failures: report.failures,
    body: `${drawingSvg(report)}
<p>The sender sends RoCEv2 at ${report.sendingRateBps / 1e6} Mbit/s. It reacts to CNPs alike in all runs with congestion
control. What differs is who sends them, and how often. ${htmlLines(report.evidence)}</p>
${runTable(report.runs)}
<p class="small">${escapeXml(explanation(report))}</p>
${reservations(report)}
<p>${htmlLines(observations(report.runs, report))}</p>
${checks(report)}
${htmlPlots(report)}
${speakers(report)}
<p class="small">${escapeXml(origin(report))}</p>`,
  });
}
