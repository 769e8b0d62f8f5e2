import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { describe, expect, test } from 'vitest';
import { BGP_COUNTERS } from '../../src/carriers/bgp/counters.ts';
import { OSPF_COUNTERS } from '../../src/carriers/ospf/counters.ts';
import { countedIn, sourcesOf } from '../../src/carriers/counter-names.fixture.ts';
import { COUNTERS } from '../../src/kernel/dataplane/counters.ts';

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
const withLists = async (text: string): Promise<string> => {
  const made = LISTS.reduce((before, [heading, rows]) => withList(before, heading, rows), text);
  const { code, errors } = await format('docs/reference/counters.md', made, { printWidth: 100, proseWrap: 'always' });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
};
const document = readFileSync('docs/reference/counters.md', 'utf8');

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
  test('names every counter of the programs, of OSPF and of BGP, with its meaning (npm run conformance rewrites it)', async () => {
    if (process.env['UPDATE_CONFORMANCE']) writeFileSync('docs/reference/counters.md', await withLists(document));
    expect(readFileSync('docs/reference/counters.md', 'utf8')).toBe(await withLists(document));
  });

  test('names every counter that the agent counts by a literal name', () => {
    const names = ofIsis.concat(
      sources.flatMap((text) => [...text.matchAll(/\bcount\(\s*'([a-z0-9.-]+)'/g)].map((m) => m[1]!)),
    );
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !documented(name))).toEqual([]);
  });
});
