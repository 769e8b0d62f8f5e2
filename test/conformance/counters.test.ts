import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BGP_COUNTERS } from '../../src/carriers/bgp/counters.ts';
import { OSPF_COUNTERS } from '../../src/carriers/ospf/counters.ts';
import { countedIn, sourcesOf } from '../../src/carriers/counter-names.fixture.ts';
import { COUNTERS } from '../../src/kernel/dataplane/counters.ts';
import { expectGenerated } from './generated.ts';

interface Row {
  readonly name: string;
  readonly meaning: string;
}

/** The text with these rows in place of the last list before the next heading. */
function withList(text: string, heading: string, rows: readonly Row[]): string {
  const next = text.indexOf('\n\n## ', text.indexOf(`## ${heading}`));
  const before = text.lastIndexOf('\n\n- ', next) + 2;
  return text.slice(0, before) + rows.map((row) => `- \`${row.name}\`: ${row.meaning}`).join('\n') + text.slice(next);
}

/** The lists of the programs, of OSPF and of BGP are generated, like docs/conformance.md. */
const LISTS = [
  ['Dataplane', COUNTERS],
  ['OSPF', OSPF_COUNTERS],
  ['BGP', BGP_COUNTERS],
] as const;
const PAGE = 'docs/reference/counters.md';
const document = readFileSync(PAGE, 'utf8');

/** `a.b.…` with its words, `x.one`, `x.two` and families in capitals: what a name may be documented as. */
function documented(name: string): boolean {
  if (document.includes(`\`${name}\``)) return true;
  const parts = name.split('.');
  return parts.some((_, i) => {
    const family = `\`${parts.slice(0, i + 1).join('.')}.…\``;
    const entry = document.split('\n- ').find((one) => one.includes(family));
    return (
      entry !== undefined &&
      (entry.includes(`\`${parts.slice(i + 1).join('.')}\``) ||
        entry.includes('by what is wrong') ||
        entry.includes('malformed'))
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

describe('docs/reference/counters.md', () => {
  test('names every counter of the programs, of OSPF and of BGP, with its meaning (npm run conformance rewrites it)', () =>
    expectGenerated(
      PAGE,
      LISTS.reduce((before, [heading, rows]) => withList(before, heading, rows), document),
    ));

  test('names every counter that the agent counts by a literal name', () => {
    const names = ofIsis.concat(
      sources.flatMap((text) => [...text.matchAll(/\bcount\(\s*'([a-z0-9.-]+)'/g)].map((m) => m[1]!)),
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !documented(name))).toEqual([]);
  });
});
