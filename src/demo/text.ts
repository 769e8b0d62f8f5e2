// What a demo ends with on the terminal. Pure.
import { headline, notBetter } from './measures.ts';
import { observations } from './observations.ts';
import type { DemoReport } from './results.ts';
import { table } from './table.ts';

export function textReport(report: DemoReport): string {
  const { runs, checks } = report;
  const first = headline(runs);
  const worse = notBetter(runs);
  return [
    first && `${first}\n`,
    table(runs),
    worse.length > 0 && `Where cnpd is not better beyond the spread:\n${worse.map((text) => `  ${text}`).join('\n')}\n`,
    ...observations(runs, report).map((text) => `${text}.`),
    '',
    ...checks.map(({ claim, failures }) => `${failures.length === 0 ? 'ok    ' : 'FAILED'} ${claim}`),
  ]
    .filter((text) => text !== false && text !== undefined)
    .join('\n');
}
