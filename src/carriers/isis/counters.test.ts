// The table of counters against the sources.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISIS_COUNTERS } from './counters.ts';

/** The link to FRR is shared by the carriers and is told the prefix. */
const SHARED = '../frr-link.edge.ts';
const sources = [
  ...readdirSync(import.meta.dirname).filter(
    (name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$|^counters\.ts$/.test(name),
  ),
  SHARED,
];

/** Names in the sources; what is put in is a `<>`. */
function namesIn(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    .replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
    .replaceAll('${this.opts.prefix}', 'isis');
  const literals = [...text.matchAll(/['`](isis\.[a-z0-9.-]+(?:\$\{[^}]*(?:\}[^`]*)?)?[^'`]*)['`]/g)].map((m) => m[1]!);
  return literals.map((name) => name.replace(/\$\{[^}]*\}/g, '<>'));
}

const table = ISIS_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
// The last part of these comes from a table in the code; the rows spell it out.
const SPELT_OUT: Record<string, RegExp> = {
  'isis.auth.<>.<>': /^isis\.auth\.<>\./,
  'isis.rx.<>': /^isis\.rx\.[cp]snp$/,
};

it('every counter in the sources is in the table', () => {
  const found = new Set(sources.flatMap(namesIn));
  expect(found.size).toBeGreaterThan(40);
  const missing = [...found].filter(
    (name) => !table.includes(name) && !table.some((row) => SPELT_OUT[name]?.test(row)),
  );
  expect(missing).toEqual([]);
});

it('every row of the table is counted somewhere', () => {
  const found = sources.flatMap(namesIn);
  const patterns = found.flatMap((name) => (SPELT_OUT[name] ? [SPELT_OUT[name]] : []));
  expect(table.filter((name) => !found.includes(name) && !patterns.some((p) => p.test(name)))).toEqual([]);
});
