// The frame of every report.html: one file, no scripts, nothing loaded. Pure.
import { escapeXml } from './chart.ts';

interface Page {
  readonly title: string;
  /** Rules besides those of every report. */
  readonly style?: string;
  /** Between the heading and the outcome. HTML, as `body`. */
  readonly lead: string;
  readonly ok: boolean;
  /** What did not go as claimed. */
  readonly failures: readonly string[];
  /** How many checks there were; absent: the report does not list them. */
  readonly checks?: number;
  readonly body: string;
}

const STYLE = `
:root {
  color-scheme: light dark; --ink: #1a1d21; --soft: #59616b; --paper: #fff; --raised: #f5f7f9; --line: #dfe3e8;
  --good: #1f7a34; --good-soft: #eef7f0; --bad: #b3142d; --bad-soft: #fdf0f2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ed; --soft: #9aa4af; --paper: #14171b; --raised: #1c2026; --line: #2d333b; --good: #5cc476;
    --good-soft: #17251b; --bad: #ff7b8a; --bad-soft: #2c181c;
  }
}
body {
  font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem;
}
h1 { font-size: 1.5rem; line-height: 1.25 }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .3rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .5rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top }
th:first-child, td:first-child { text-align: left }
th { font-weight: 600 }
.headline { font-size: 1.2rem; line-height: 1.45 }
.verdict { padding: .5rem .8rem; border-left: 4px solid var(--good); background: var(--good-soft) }
.verdict.bad { border-color: var(--bad); background: var(--bad-soft) }
.legend { margin: .3rem 0 }
.legend span { display: inline-block; margin-right: 1.2rem; font-size: .9rem }
.legend i { display: inline-block; width: 1.6em; height: .25em; margin-right: .4em; vertical-align: middle }
svg { width: 100%; height: auto }
.grid { stroke: var(--line) }
.axis { stroke: var(--soft) }
.level { stroke: var(--bad); stroke-dasharray: 2 3 }
.tick { font-size: 11px; fill: var(--soft) }
.label { font-size: 12px; fill: var(--ink) }
.note { font-size: 11px; fill: var(--soft) }
p.small { color: var(--soft); font-size: .9rem; margin-top: .2rem }
@media (max-width: 600px) {
  .tick, .note { font-size: 17px }
  .label { font-size: 18px }
}
`;

const outcomeOf = ({ ok, failures, checks }: Page): string =>
  ok
    ? `<p class="verdict">All ${checks === undefined ? '' : `${checks} `}checks passed.</p>`
    : `<p class="verdict bad">${failures.map(escapeXml).join('<br>')}</p>`;

export function htmlPage(page: Page): string {
  const title = escapeXml(`cnpd: ${page.title}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}${page.style ?? ''}</style></head>
<body>
<h1>${title}</h1>
${page.lead}
${outcomeOf(page)}
${page.body}
</body></html>
`;
}

/** Sentences, a line each. */
export const htmlLines = (sentences: readonly string[]): string =>
  sentences.map((sentence) => `${escapeXml(sentence)}.`).join('<br>');
