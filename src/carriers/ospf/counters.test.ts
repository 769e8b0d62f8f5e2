// The table of counters against the sources.
import { expect, test } from 'vitest';
import { countedIn, linkSource, sourcesOf } from '../counter-names.fixture.ts';
import { OSPF_COUNTERS } from './counters.ts';

const table = OSPF_COUNTERS.map(({ name }) => name.replace(/<[^>]*>/g, '<>'));
const found = new Set(
  [linkSource(), ...sourcesOf(import.meta.dirname).map(({ text }) => text)].flatMap((text) =>
    countedIn(text, ['refuse\\(\\s*s,\\s*area,\\s*']),
  ),
);

test('every counter in the sources is in the table', () => {
  expect(found.size).toBeGreaterThan(30);
  expect([...found].filter((name) => !table.includes(name))).toEqual([]);
});

test('every row of the table is counted somewhere', () => {
  expect(table.filter((name) => !found.has(name))).toEqual([]);
});

test('no row twice', () => {
  expect(new Set(table).size).toBe(table.length);
});
