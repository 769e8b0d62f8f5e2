import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BGP_COUNTERS } from '../../src/carriers/bgp/counters.ts';
import { OSPF_COUNTERS } from '../../src/carriers/ospf/counters.ts';
import { COUNTERS } from '../../src/kernel/dataplane/counters.ts';

interface Row {
  readonly name: string;
  readonly meaning: string;
}

/** The text with a table in place of what stands between the heading's introduction and the next heading. */
function withTable(text: string, heading: string, rows: readonly Row[]): string {
  const section = text.indexOf(`## ${heading}`);
  const [before, next] = [text.indexOf('| counter | counts |', section), text.indexOf('\n\n## ', section)];
  const table = [
    '| counter | counts |',
    '|---|---|',
    ...rows.map((row) => `| \`${row.name}\` | ${row.meaning} |`),
  ].join('\n');
  return text.slice(0, before) + table + text.slice(next);
}

/** The tables of the programs, of OSPF and of BGP are generated, like docs/conformance.md. */
const TABLES = [
  ['Dataplane', COUNTERS],
  ['OSPF', OSPF_COUNTERS],
  ['BGP', BGP_COUNTERS],
] as const;
const withTables = (text: string): string =>
  TABLES.reduce((made, [heading, rows]) => withTable(made, heading, rows), text);
const document = readFileSync('docs/counters.md', 'utf8');

/** `a.b.…` with its words, `x.one`, `x.two` and families in capitals: what a name may be documented as. */
function documented(name: string): boolean {
  if (document.includes(`\`${name}\``)) return true;
  const parts = name.split('.');
  return parts.some((_, i) => {
    const family = `\`${parts.slice(0, i + 1).join('.')}.…\``;
    const line = document.split('\n').find((l) => l.includes(family));
    return (
      line !== undefined &&
      (line.includes(`\`${parts.slice(i + 1).join('.')}\``) ||
        line.includes('by what is wrong') ||
        line.includes('malformed'))
    );
  });
}

const sources = readdirSync('src', { recursive: true, withFileTypes: true })
  // src/carriers/ospf/counters.test.ts compares OSPF's table with its sources.
  .filter(
    (e) =>
      !e.parentPath.endsWith('carriers/ospf') && e.isFile() && e.name.endsWith('.ts') && !e.name.includes('.test.'),
  )
  .map((e) => readFileSync(join(e.parentPath, e.name), 'utf8'));

describe('docs/counters.md', () => {
  it('names every counter of the programs, of OSPF and of BGP, with its meaning (npm run conformance rewrites it)', () => {
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/counters.md', withTables(document));
    expect(readFileSync('docs/counters.md', 'utf8')).toBe(withTables(document));
  });

  it('names every counter that the agent counts by a literal name', () => {
    const names = sources.flatMap((text) =>
      [...text.matchAll(/\b(?:count|complain)\(\s*(?:s,\s*)?'([a-z0-9.-]+)'/g)].map((m) => m[1]!),
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !documented(name))).toEqual([]);
  });
});
