// The table of counters against the sources.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BGP_COUNTERS } from './counters.ts';

const sources = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$|^counters\.ts$/.test(name),
);

/**
 * What is counted in a source, what is put into the name as `<>`. A reading keeps the names of its counters until it is
 * told of.
 */
function namesIn(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const calls = [...text.matchAll(/(?:count|complain)\(\s*c,\s*'([^']+)'/g)].map((match) => match[1]!);
  const kept =
    file === 'reading.ts'
      ? [...text.matchAll(/(['`])((?:nhc|characteristic|learn)\.[^'`]+)\1/g)].map((match) => match[2]!)
      : [];
  return [...calls, ...kept].map((name) => name.replace(/\$\{[^}]*\}/g, '<>'));
}

const table = BGP_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
const found = new Set(sources.flatMap(namesIn));

it('every counter in the sources is in the table', () => {
  expect(found.size).toBeGreaterThan(15);
  expect([...found].filter((name) => !table.includes(name))).toEqual([]);
});

it('every row of the table is counted somewhere', () => {
  expect(table.filter((name) => !found.has(name))).toEqual([]);
});

it('no row twice', () => {
  expect(new Set(table).size).toBe(table.length);
});
