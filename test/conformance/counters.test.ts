import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BGP_COUNTERS } from '../../src/carriers/bgp/counters.ts';
import { OSPF_COUNTERS } from '../../src/carriers/ospf/counters.ts';
import { countedIn, sourcesOf } from '../../src/carriers/counter-names.fixture.ts';
import { COUNTERS } from '../../src/kernel/dataplane/counters.ts';

interface Row {
  readonly name: string;
  readonly meaning: string;
}

/** The text with a table in place of what is between the heading's introduction and the next heading. */
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

/** The carriers' machines name their counters without the carrier's prefix, and not as the first argument. */
const sources = sourcesOf('src').map(({ text }) => text);

/** OSPF's and BGP's own tests compare their tables, from which the document is made, with their sources. */
const ofIsis = sourcesOf('src/carriers/isis')
  .flatMap(({ text }) => countedIn(text))
  .filter((name) => !name.includes('<>'))
  .map((name) => `isis.${name}`);

describe('docs/counters.md', () => {
  test('names every counter of the programs, of OSPF and of BGP, with its meaning (npm run conformance rewrites it)', () => {
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/counters.md', withTables(document));
    expect(readFileSync('docs/counters.md', 'utf8')).toBe(withTables(document));
  });

  test('names every counter that the agent counts by a literal name', () => {
    const names = ofIsis.concat(
      sources.flatMap((text) => [...text.matchAll(/\bcount\(\s*'([a-z0-9.-]+)'/g)].map((m) => m[1]!)),
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !documented(name))).toEqual([]);
  });
});
