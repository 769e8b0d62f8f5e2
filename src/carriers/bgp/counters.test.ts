// The table of counters against the sources.
import { expect, test } from 'vitest';
import { countedIn, sourcesOf } from '../counter-names.fixture.ts';
import { BGP_COUNTERS } from './counters.ts';

/** A reading keeps the names of its counters until it is reported. */
const KEPT = /(['`])((?:nhc|characteristic|learn)\.[^'`]+)\1/g;
const kept = (text: string): string[] =>
  [...text.matchAll(KEPT)].map((match) => match[2]!.replace(/\$\{[^}]*\}/g, '<>'));

const table = BGP_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
// Those of the connection to gobgpd are named in the prose of docs/reference/counters.md.
const found = new Set(
  sourcesOf(import.meta.dirname)
    .filter(({ file }) => !file.startsWith('gobgp/'))
    .flatMap(({ file, text }) => [...countedIn(text), ...(file === 'learning/reading.ts' ? kept(text) : [])]),
);

test('every counter in the sources is in the table', () => {
  expect(found.size).toBeGreaterThan(15);
  expect([...found].filter((name) => !table.includes(name))).toEqual([]);
});

test('every row of the table is counted somewhere', () => {
  expect(table.filter((name) => !found.has(name))).toEqual([]);
});

test('no row twice', () => {
  expect(new Set(table).size).toBe(table.length);
});
