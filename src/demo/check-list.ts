// What a report claims, claim by claim, and whether it holds. Pure.
import { escapeXml } from './chart.ts';
import type { Check } from './check.ts';

/** A report that is a list of checks over some runs. */
export interface CheckedReport<Scene extends string, Run> {
  readonly version: 1;
  readonly scene: Scene;
  readonly title: string;
  readonly path: string;
  readonly startedAt: string;
  readonly ok: boolean;
  readonly failures: readonly string[];
  readonly checks: readonly Check[];
  readonly evidence: readonly string[];
  readonly runs: readonly Run[];
}

export const CHECK_STYLE = `
.checks { list-style: none; padding: 0 }
.checks li { padding-left: 1.6em; text-indent: -1.6em; margin: .2rem 0 }
.checks b { display: inline-block; width: 1.6em; text-indent: 0; color: var(--good) }
.checks .bad b, .checks .bad span { color: var(--bad) }
`;

export function checkList(checks: readonly Check[]): string {
  const items = checks.map(({ claim, failures }) => {
    const [mark, kind] = failures.length === 0 ? ['✓', ''] : ['✗', ' class="bad"'];
    const why = failures.map((text) => `<br><span>${escapeXml(text)}</span>`).join('');
    return `<li${kind}><b>${mark}</b>${escapeXml(claim)}${why}</li>`;
  });
  return `<ul class="checks">${items.join('\n')}</ul>`;
}
