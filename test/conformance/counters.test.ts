import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COUNTERS } from '../../src/kernel/dataplane/counters.ts';

/** The programs' table is generated, like docs/conformance.md. */
function withProgramTable(text: string): string {
  const table = ['| counter | counts |', '|---|---|', ...COUNTERS.map((row) => `| \`${row.name}\` | ${row.meaning} |`)].join('\n');
  const [before, after] = [text.indexOf('| counter | counts |'), text.indexOf('\n\n## IS-IS')];
  return text.slice(0, before) + table + text.slice(after);
}
const document = readFileSync('docs/counters.md', 'utf8');

/** `a.b.…` with its words, `x.one`, `x.two` and families in capitals: what a name may be documented as. */
function documented(name: string): boolean {
  if (document.includes(`\`${name}\``)) return true;
  const parts = name.split('.');
  return parts.some((_, i) => {
    const family = `\`${parts.slice(0, i + 1).join('.')}.…\``;
    const line = document.split('\n').find((l) => l.includes(family));
    return line !== undefined && (line.includes(`\`${parts.slice(i + 1).join('.')}\``) || line.includes('by what is wrong') || line.includes('malformed'));
  });
}

const sources = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && e.name.endsWith('.ts') && !e.name.includes('.test.'))
  .map((e) => readFileSync(join(e.parentPath, e.name), 'utf8'));

describe('docs/counters.md', () => {
  it('names every counter of the programs, with its meaning (npm run conformance rewrites it)', () => {
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/counters.md', withProgramTable(document));
    expect(readFileSync('docs/counters.md', 'utf8')).toBe(withProgramTable(document));
  });

  it('names every counter that the agent counts by a literal name', () => {
    const names = sources.flatMap((text) => [...text.matchAll(/\b(?:count|complain)\((?:s, )?'([a-z0-9.-]+)'/g)].map((m) => m[1]!));
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !documented(name))).toEqual([]);
  });
});
