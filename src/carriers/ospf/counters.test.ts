// The table of counters against the sources.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OSPF_COUNTERS } from './counters.ts';

/** The link to FRR is shared by the carriers and is told the prefix. */
const SHARED = '../frr-link.edge.ts';
const sources = [
  ...readdirSync(import.meta.dirname).filter(
    (name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$|^counters\.ts$/.test(name),
  ),
  SHARED,
];

/** What is counted in a source, what is put into the name as `<>`; the edge writes the carrier's prefix itself. */
function namesIn(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const calls = [
    ...text.matchAll(/(?:count|complain|countContent|complainOf)\(\s*[sc],\s*(['`])([^'`]+)\1/g),
    ...text.matchAll(/refuse\(\s*s,\s*area,\s*(['`])([^'`]+)\1/g),
  ].map((match) => match[2]!);
  const atEdge = [...text.matchAll(/count\(`\$\{this\.(?:name|opts\.prefix)\}\.([^`]+)`/g)].map((match) => match[1]!);
  return [...calls, ...atEdge].map((name) => name.replace(/\$\{[^}]*\}/g, '<>'));
}

const table = OSPF_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
const found = new Set(sources.flatMap(namesIn));

it('every counter in the sources is in the table', () => {
  expect(found.size).toBeGreaterThan(30);
  expect([...found].filter((name) => !table.includes(name))).toEqual([]);
});

it('every row of the table is counted somewhere', () => {
  expect(table.filter((name) => !found.has(name))).toEqual([]);
});

it('no row twice', () => {
  expect(new Set(table).size).toBe(table.length);
});
