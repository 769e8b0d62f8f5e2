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
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left } th { font-weight: 600 }
.verdict { padding: .5rem .8rem; border-left: 4px solid #2a7d2a; background: #f1f8f1 } .verdict.bad { border-color: #b00020; background: #fdf1f2 }
.legend span { display: inline-block; margin-right: 1.4rem } .legend i { display: inline-block; width: 1.6em; height: .25em; margin-right: .4em; vertical-align: middle }
svg { width: 100%; height: auto } .grid { stroke: #e6e6e6 } .axis { stroke: #555 } .level { stroke: #b00020; stroke-dasharray: 2 3 }
.tick { font-size: 11px; fill: #444 } .label { font-size: 12px; fill: #222 } .note { font-size: 11px; fill: #555 } p.small { color: #555; font-size: .9rem; margin-top: .2rem }
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
